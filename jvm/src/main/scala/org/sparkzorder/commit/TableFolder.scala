package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Locale, UUID}

import scala.util.matching.Regex

import org.apache.hadoop.fs.Path

/** How far an operation is; the suffix of its record's name says it. */
sealed abstract class RecordState(val suffix: String) {

  /** Whether it is part of the history. */
  def isPublished: Boolean = this == RecordState.Done || this == RecordState.Vacuumed
}
object RecordState {

  /** Outputs are complete, nobody's rows are touched. */
  case object Pending extends RecordState("pending")

  /** Past the commit point: files are being exchanged. */
  case object Publishing extends RecordState("publishing")

  /** Part of the history. */
  case object Done extends RecordState("json")

  /** Part of the history; the retired files are deleted. */
  case object Vacuumed extends RecordState("vacuumed")

  /** Files are back where they were before the commit point; what is left of the operation is being removed. */
  case object Undoing extends RecordState("undoing")

  /** All is as if the operation had not been, but for listings that were made while it exchanged files. */
  case object Undone extends RecordState("undone")

  val all: Seq[RecordState] = Seq(Pending, Publishing, Done, Vacuumed, Undoing, Undone)
}

/**
 * A record as a listing of the side folder shows it.
 *
 * @param note what stands in the name behind the version
 */
final case class RecordFile(version: Long, note: Option[String], state: RecordState, meta: FileMeta) {

  /** How long files were being exchanged; None before the end. */
  def publishMillis: Option[Long] = note.collect { case TableFolder.PublishTime(millis) => millis.toLong }
}

/** A file of statistics as a listing of the side folder shows it. */
final case class NumberedIndexFile(number: Long, meta: FileMeta)

/**
 * A checkpoint as a listing of the side folder shows it.
 *
 * @param version the newest that is in it
 * @param number counts up with each checkpoint of the table
 */
final case class CheckpointFile(version: Long, number: Long, meta: FileMeta)

/**
 * How many files of a folder are moved between two looks at it.
 *
 * @param retired to the trash, if that is no less than a quarter of all: so long another's file may be there that has replaced one of ours in this moment
 * @param published into the folder: so many may come after somebody has overwritten it
 * @param alone outputs that come one by one, in the order of the record, before others come in any order
 */
final case class Batches(retired: Int = 512, published: Int = 64, alone: Int = 8) {

  /** Of so many in all. A look may list the whole folder, so a large one is looked at a few times only. */
  def ofRetired(inputs: Int): Int = math.max(retired, inputs / 4)

  /**
   * Outputs come in waves: each wave after the one before, those of one in any order. A recovery that finds a wave half
   * published must count them as its dead owner did.
   *
   * @param output its number among those of its folder, from 0
   */
  private[commit] def wave(output: Int): Int = if (output < alone) output else alone + (output - alone) / published
}

/**
 * A table's root and the names of all that we put below it.
 *
 * @param threads in how many folders files are looked at or moved at the same time; in one, if it is alone
 */
final case class TableFolder(
    root: Path,
    ops: FileOps,
    threads: Int = TableFolder.Threads,
    batches: Batches = Batches()
) {
  import TableFolder._

  val side: Path = new Path(root, Side)

  def newLock(): Path = new Path(side, s"$LockPrefix${UUID.randomUUID()}")

  /** A name for a file that is renamed once it is complete. Only who holds the lock writes such. */
  def newTemporary(): Path = new Path(side, s"$TemporaryPrefix${UUID.randomUUID()}")

  /** A name for an empty file whose time stamp tells the file system's clock. */
  def newProbe(): Path = new Path(side, s"$ProbePrefix${UUID.randomUUID()}")

  def record(record: Record, state: RecordState): Path = new Path(side, s"${recordName(record)}.${state.suffix}")

  /**
   * The record of an operation that is published.
   *
   * @param publishMillis for how long files were being exchanged. It stands in the name, since it is known only when
   *                      the record has long been written, and one rename is to make the record part of the history
   */
  def published(record: Record, publishMillis: Long): Path =
    new Path(side, s"${recordName(record)}-${publishMillis}ms.${RecordState.Done.suffix}")

  /** The record of an operation that was undone. The next one gets its version, so its own id tells it from others. */
  def undone(record: Record): Path =
    new Path(side, s"${recordName(record)}-${record.operationId}.${RecordState.Undone.suffix}")

  /** Why an operation was undone, or finished by another; see [[Outcome]]. */
  def outcome(record: Record): Path =
    new Path(side, s"${recordName(record)}-${record.operationId}$OutcomeSuffix")

  /** See [[Checkpoint]]. */
  def checkpoint(version: Long, number: Long): Path =
    new Path(side, s"$Hidden${versionName(version)}-$number$CheckpointSuffix")

  /** Something in the side folder, by its name. */
  private[commit] def inSide(name: String): Path = child(side, name)

  /** The name of a published record once its retired files are being deleted. */
  def vacuumed(published: RecordFile): Path =
    new Path(side, published.meta.name.stripSuffix(RecordState.Done.suffix) + RecordState.Vacuumed.suffix)

  /** A file that names a table over a folder below this table's root. */
  def innerRoot(root: String): Path = {
    val digest = java.security.MessageDigest.getInstance("SHA-256").digest(root.getBytes(UTF_8))
    new Path(
      side,
      s"${Hidden}inner-" + digest.take(8).map(b => String.format(Locale.ROOT, "%02x", Byte.box(b))).mkString
    )
  }

  def index(number: Long): Path =
    new Path(side, Hidden + String.format(Locale.ROOT, "index-%010d.zidx", Long.box(number)))

  /** The file that names the folders in which an operation makes staging. */
  def manifest(operationId: String): Path = new Path(side, Hidden + Manifest.name(operationId))

  /** The same, and what it was called before names in the side folder were hidden. */
  private[commit] def manifests(operationId: String): Seq[Path] =
    Seq(manifest(operationId), new Path(side, Manifest.name(operationId)))

  /** The path of a file or folder named relative to the root, "" being the root. */
  def resolve(relative: String): Path =
    if (relative.isEmpty) root
    else new Path(root.toUri.getScheme, root.toUri.getAuthority, s"${root.toUri.getPath.stripSuffix("/")}/$relative")

  /** The name relative to the root of a path below it. */
  def relative(path: Path): Option[String] = {
    val prefix = root.toUri.getPath.stripSuffix("/") + "/"
    val sameStore = path.toUri.getScheme == null || root.toUri.getScheme == null ||
      (path.toUri.getScheme == root.toUri.getScheme && path.toUri.getAuthority == root.toUri.getAuthority)
    val own = path.toUri.getPath
    if (sameStore && own.startsWith(prefix) && own.length > prefix.length) Some(own.substring(prefix.length)) else None
  }

  def sideOf(folder: String): Path = new Path(resolve(folder), Side)

  def stagingsOf(folder: String): Path = new Path(sideOf(folder), Staging)

  def stagingOf(folder: String, operationId: String): Path = child(stagingsOf(folder), s"$Hidden$operationId")

  def stagingOf(folder: String, record: Record): Path = child(stagingsOf(folder), stagingName(record))

  /** Where an operation of which there is no record may have staging, by any layout. */
  private[commit] def possibleStagingsOf(folder: String, operationId: String): Seq[Path] =
    Seq(stagingOf(folder, operationId), child(stagingsOf(folder), operationId))

  def trashesOf(folder: String): Path = new Path(sideOf(folder), Trash)

  /** The trash of one operation in one folder. Its name carries the operation's id, as two tables may share a folder. */
  def trashOf(folder: String, record: Record): Path = new Path(trashesOf(folder), trashName(record))

  /** Where an output waits until it is published. */
  def staged(file: String, record: Record): Path = stagedIn(stagingOf(TableFolder.parent(file), record), file)

  /** The same before there is a record. */
  def staged(file: String, operationId: String): Path =
    stagedIn(stagingOf(TableFolder.parent(file), operationId), file)

  private def stagedIn(staging: Path, file: String): Path =
    child(staging, LongNames.fit(TableFolder.name(file), StagedSuffix))

  /** Where an input lies once it is retired. */
  def retired(file: String, record: Record): Path = retiredIn(trashOf(TableFolder.parent(file), record), file)

  /** The same in a trash that is known: for many files. */
  private[commit] def retiredIn(trash: Path, file: String): Path = child(trash, retiredName(file))

  /** Where an input stays that could not come back from the trash, since somebody has taken its name. */
  def replaced(file: String, record: Record): Path =
    child(
      trashOf(TableFolder.parent(file), record),
      LongNames.fit(TableFolder.name(file), s".${record.operationId}$RetiredSuffix")
    )

  // Not `new Path(parent, name)`, which takes what stands before a colon for a scheme.
  private def child(folder: Path, name: String): Path =
    new Path(folder.toUri.getScheme, folder.toUri.getAuthority, s"${folder.toUri.getPath}/$name")
}

object TableFolder {
  private[commit] val Threads = 8

  val Side = "_zorder"
  val Staging = "staging"
  val Trash = "trash"

  /**
   * Begins the names of all files in a side folder, and of the folders that files of data are in. A reader that is given a
   * side folder by a pattern of paths finds nothing to read there. Side folders of before are read as well.
   */
  val Hidden = "_"

  /** The first format of records whose names, and those of whose staging, are hidden. */
  private val HiddenSince = 4

  val LockPrefix = s"${Hidden}lock-"
  val TemporaryPrefix = s"${Hidden}tmp-"
  val ProbePrefix = s"${Hidden}probe-"
  val StagedSuffix = ".staged"
  val RetiredSuffix = ".retired"
  val OutcomeSuffix = ".outcome"
  val CheckpointSuffix = ".checkpoint"

  /** A page for people, in the root's side folder. */
  val Readme = s"${Hidden}README.txt"

  /** What a file in a side folder would have been called before names there were hidden. */
  private[commit] def plain(name: String): String = name.stripPrefix(Hidden)

  /** Whether a name begins so, also in a side folder of before. */
  private[commit] def hasPrefix(name: String, prefix: String): Boolean = plain(name).startsWith(plain(prefix))

  /** A number of more digits would not be found again in a name. */
  private[commit] val MaxVersion: Long = 999999999999999998L

  private val RecordName: Regex = """_?v(\d{10,18})(?:-(.+))?\.([a-z]+)""".r
  private val CheckpointName: Regex = """_?v(\d{10,18})-(\d{1,18})\.checkpoint""".r
  private val IndexName: Regex = """_?index-(\d{10,18})\.zidx""".r
  private val InnerName: Regex = """_?inner-[0-9a-f]{16}""".r
  private val TrashName: Regex = """_?v(\d{10,18})(?:-(.+))?""".r

  private[commit] val PublishTime: Regex = """(\d{1,18})ms""".r

  def versionName(version: Long): String = String.format(Locale.ROOT, "v%010d", Long.box(version))

  private def recordName(record: Record): String =
    if (record.format < HiddenSince) versionName(record.version) else s"$Hidden${versionName(record.version)}"

  /** What the staging of a record's operation is called. */
  private[commit] def stagingName(record: Record): String =
    if (record.format < HiddenSince) record.operationId else s"$Hidden${record.operationId}"

  /** The folder part of a relative name, "" for a file in the root. */
  def parent(file: String): String = file.lastIndexOf('/') match {
    case -1 => ""
    case i  => file.substring(0, i)
  }

  def name(file: String): String = file.substring(file.lastIndexOf('/') + 1)

  /** Another name for a file whose own is taken. */
  def otherName(file: String, operationId: String): String = {
    val (dir, own) = file.splitAt(file.lastIndexOf('/') + 1)
    val dot = own.indexOf('.', 1)
    if (dot < 0) s"$dir$own-$operationId" else s"$dir${own.take(dot)}-$operationId${own.drop(dot)}"
  }

  /** Whether readers see a file of this name. */
  def isData(name: String): Boolean = !name.startsWith("_") && !name.startsWith(".")

  /** What a data file is called in the trash. */
  def retiredName(file: String): String = LongNames.fit(name(file), RetiredSuffix)

  /** The records in a listing of a side folder, newest first. */
  def records(statuses: Seq[FileMeta]): Seq[RecordFile] =
    statuses.flatMap { meta =>
      meta.name match {
        case RecordName(digits, note, suffix) if !meta.isDirectory =>
          // Only a record that has come to its end has a note. Another by such a name would never come to one, since it is
          // not by this name that its end is written.
          RecordState.all.find(_.suffix == suffix)
            .filter(s => note == null || s.isPublished || s == RecordState.Undone)
            .map(RecordFile(digits.toLong, Option(note), _, meta))
        case _ => None
      }
    }.sortBy(-_.version)

  /** The checkpoints in a listing of a side folder, newest first. */
  def checkpoints(statuses: Seq[FileMeta]): Seq[CheckpointFile] =
    statuses.flatMap { meta =>
      meta.name match {
        case CheckpointName(version, number) if !meta.isDirectory =>
          Some(CheckpointFile(version.toLong, number.toLong, meta))
        case _ => None
      }
    }.sortBy(c => (-c.version, -c.number))

  /** The newest published version that a listing of a side folder shows; 0 for none. */
  def newestPublished(statuses: Seq[FileMeta]): Long =
    (records(statuses).filter(_.state.isPublished).map(_.version) ++ checkpoints(statuses).map(_.version))
      .maxOption.getOrElse(0L)

  /** The files of statistics in a listing of a side folder, newest first. */
  def indexes(statuses: Seq[FileMeta]): Seq[NumberedIndexFile] =
    statuses.flatMap { meta =>
      meta.name match {
        case IndexName(digits) if !meta.isDirectory => Some(NumberedIndexFile(digits.toLong, meta))
        case _                                      => None
      }
    }.sortBy(-_.number)

  /** Files that name tables below this one, see [[NestedRoots]]. */
  def innerRoots(statuses: Seq[FileMeta]): Seq[FileMeta] =
    statuses.filter(meta => !meta.isDirectory && InnerName.matches(meta.name))

  def locks(statuses: Seq[FileMeta]): Seq[FileMeta] =
    statuses.filter(meta => !meta.isDirectory && hasPrefix(meta.name, LockPrefix))

  /**
   * The name of a record's trash. Records of the first format do not say their operation there. Since the third one it is hidden: a
   * reader that is given a side folder, by a pattern of paths, does not read retired files.
   */
  def trashName(record: Record): String = {
    val name =
      if (record.format < 2) versionName(record.version) else s"${versionName(record.version)}-${record.operationId}"
    if (record.format < 3) name else s"_$name"
  }

  /** The version whose trash a folder of this name is, by whichever format of record. */
  def trashVersion(name: String): Option[Long] = name match {
    case TrashName(digits, _) => Some(digits.toLong)
    case _                    => None
  }
}
