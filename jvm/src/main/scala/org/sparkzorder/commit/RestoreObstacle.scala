package org.sparkzorder.commit

/** Why a table cannot go back to a version. */
sealed trait RestoreObstacle
object RestoreObstacle {

  /** Files that RESTORE would move to the trash were changed. The changes would be lost. */
  case object Changed extends RestoreObstacle

  /** Files that RESTORE would move to the trash are gone, and these came to their folders since. */
  case object Beside extends RestoreObstacle

  /** Files that RESTORE would move to the trash are gone, and nothing else is in the way. */
  case object Lost extends RestoreObstacle

  /** Retired files are not kept any more. */
  case object Gone extends RestoreObstacle

  /** Records of versions on the way are not kept any more. */
  case object Forgotten extends RestoreObstacle

  /** Files that would come back are not what they were. */
  case object Damaged extends RestoreObstacle
}
