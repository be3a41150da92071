package org.sparkzorder.commit

/** What to do with folders in which nobody can tell what is right. */
sealed trait Choice
object Choice {

  /** Refuses, and says what is there. */
  case object Ask extends Choice

  /** The visible files are right. The files in the trash stay there until VACUUM. */
  case object KeepVisible extends Choice

  /** The files of before the operation come back beside the visible ones. */
  case object BringBack extends Choice
}
