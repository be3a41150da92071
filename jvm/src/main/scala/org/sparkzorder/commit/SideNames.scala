package org.sparkzorder.commit

import java.util.Locale

import scala.util.matching.Regex

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

  /** A page for people, in the root's side folder. */
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
