package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.Locale

import scala.util.matching.Regex

import org.apache.hadoop.fs.Path

/**
 * The names of data files, relative to a table's root with '/' between their parts, and the names
 * that they get in a side folder.
 */
private[sparkzorder] object FileNames {

  val StagedSuffix = ".staged"
  val RetiredSuffix = ".retired"

  /** The folder part of a relative name, "" for a file in the root. */
  def parent(file: String): String = file.lastIndexOf('/') match {
    case -1 => ""
    case i  => file.substring(0, i)
  }

  def name(file: String): String = file.substring(file.lastIndexOf('/') + 1)

  /** The relative name of a file or folder in a folder, which is "" for the root. */
  def in(folder: String, name: String): String = if (folder.isEmpty) name else s"$folder/$name"

  /** Whether readers see a file of this name. */
  def isData(name: String): Boolean = !name.startsWith("_") && !name.startsWith(".")

  def stagedName(file: String): String = LongNames.fit(name(file), StagedSuffix)

  def retiredName(file: String): String = LongNames.fit(name(file), RetiredSuffix)

  /** Another name for a file whose own is taken. */
  def otherName(file: String, operationId: String): String = {
    val (dir, own) = file.splitAt(file.lastIndexOf('/') + 1)
    dir + LongNames.marked(own, s"-$operationId")
  }

  /**
   * The path of a name in a folder. `new Path(folder, name)` would take what a name has before a colon for a scheme.
   */
  def child(folder: Path, name: String): Path =
    new Path(folder.toUri.getScheme, folder.toUri.getAuthority, s"${folder.toUri.getPath.stripSuffix("/")}/$name")
}

/** Adds our suffixes to names, which must not become longer than file systems allow. */
private[commit] object LongNames {

  /** The most bytes that a name may have in UTF-8, on local disks and in HDFS. */
  private val MostBytes = 255

  private val KeptBytes = 180

  def isPossible(name: String): Boolean = name.getBytes(UTF_8).length <= MostBytes

  /**
   * The name with the suffix. If that is too long, the beginning of the name with a hash of the
   * whole name, as in `abc..-0123456789abcdef.retired`. It depends on the name alone.
   */
  def fit(name: String, suffix: String): String =
    if (isPossible(name + suffix)) name + suffix else s"${beginning(name)}-${hash(name)}$suffix"

  /**
   * The name with a mark before its endings, as in `part-0-mark.c000.parquet`: patterns that find the one find the other.
   * If that is too long, the beginning of the name with a hash of the whole name, the mark, and the last ending.
   *
   * @param mark of at most 60 bytes
   */
  def marked(name: String, mark: String): String = {
    def from(dot: Int) = if (dot < 1) "" else name.substring(dot)
    val endings = from(name.indexOf('.', 1))
    val whole = name.stripSuffix(endings) + mark + endings
    val last = Some(from(name.lastIndexOf('.'))).filter(_.getBytes(UTF_8).length <= 50)
    if (isPossible(whole)) whole else s"${beginning(name, 120)}-${hash(name)}$mark${last.getOrElse("")}"
  }

  /** As many whole characters as fit. */
  private def beginning(name: String, most: Int = KeptBytes): String = {
    var bytes = 0
    val kept = name.codePoints.toArray.takeWhile { c =>
      bytes += new String(Character.toChars(c)).getBytes(UTF_8).length
      bytes <= most
    }
    new String(kept, 0, kept.length)
  }

  def hash(name: String): String =
    MessageDigest.getInstance("SHA-256").digest(name.getBytes(UTF_8)).take(8).map(b => f"${b & 0xff}%02x").mkString
}

/** The names of what is in a side folder. [[SideListing]] reads them from a listing. */
private[sparkzorder] object SideNames {

  val Side = "_zorder"
  val StagingName = "staging"
  val TrashName = "trash"

  /**
   * Begins the name of each file in a side folder, and of each folder below `staging` and `trash`.
   * So a reader that is given a side folder by a pattern of paths finds nothing to read there.
   */
  val Hidden = "_"

  val LockPrefix = s"${Hidden}lock-"
  val TemporaryPrefix = s"${Hidden}tmp-"
  val ProbePrefix = s"${Hidden}probe-"
  val OutcomeSuffix = ".outcome"
  val Readme = s"${Hidden}README.txt"

  /** Versions have at most 18 digits: [[SideListing]] would not recognize a name with more. */
  val MaxVersion: Long = 999999999999999998L

  /** What a published record has in its name after the version. */
  val PublishTime: Regex = """(\d{1,18})ms""".r

  private val TrashPattern: Regex = """_v(\d{10,18})-(.+)""".r

  /** Whether the file was not complete yet when its writer died, or will have another name in a moment. */
  def isTemporary(name: String): Boolean = name.startsWith(TemporaryPrefix) || name.startsWith(ProbePrefix)

  def versionName(version: Long): String = String.format(Locale.ROOT, "v%010d", Long.box(version))

  def trashVersion(name: String): Option[Long] = name match {
    case TrashPattern(digits, _) => Some(digits.toLong)
    case _                       => None
  }
}
