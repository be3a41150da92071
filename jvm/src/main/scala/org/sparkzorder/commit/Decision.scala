package org.sparkzorder.commit

import java.io.IOException

/** What was decided about an operation in one place. The marker of the place says it. */
private[commit] sealed abstract class Decision(val name: String)

private[commit] object Decision {

  /** Nothing: the inputs are the rows of the place. */
  case object Staged extends Decision("staged")

  /** The outputs are the rows of the place, and the inputs go. */
  case object Exchanged extends Decision("exchanged")

  /** The inputs stay, and the outputs go. */
  case object RolledBack extends Decision("rolled-back")

  val all: Seq[Decision] = Seq(Staged, Exchanged, RolledBack)
}

/** The files that count, by a person's word, where nothing else tells whose files are the rows. */
sealed trait Keep

object Keep {
  case object Old extends Keep
  case object New extends Keep
}

/** A folder in which an operation exchanged files, and of which only a person can say how that ends. */
sealed trait UnclearFolder {

  def sentence: String
}

/**
 * A folder that is gone, or its marker. It may have been moved, or its disk may be away.
 *
 * @param folder relative to the table's root
 * @param rows of the files
 * @param isGone whether the folder is gone, and not its marker alone
 */
final case class AwayFolder(folder: String, rows: Long, isGone: Boolean) extends UnclearFolder {
  override def sentence: String =
    if (isGone)
      s"The folder `$folder` is gone, in which files of $rows rows were being exchanged. If it was moved, or its disk is " +
        "away, bring it back."
    else
      s"In the folder `$folder` files of $rows rows were being exchanged. All new files are there, not all old ones, " +
        "and the file `_zorder/_exchange` is gone that says which of them count."
}

object AwayFolder {
  private[commit] def of(work: FolderWork, isGone: Boolean): AwayFolder =
    AwayFolder(work.folder, work.inputs.map(_.rows).sum, isGone)
}

/**
 * A folder that has files of both sides of an exchange. Both have the same rows.
 *
 * @param why a sentence without its end
 * @param old files that are in the folder, or can come back from its trash
 * @param come new files that are in the folder
 */
final case class FolderSides(folder: String, why: String, old: Int, ofOld: Int, come: Int, ofNew: Int)
    extends UnclearFolder {

  override def sentence: String =
    s"$why: the folder `${if (folder.isEmpty) "." else folder}` has $old of $ofOld old files and $come of $ofNew new ones."

  /**
   * What a person's word makes of the folder. A folder of which one side is whole keeps that side.
   *
   * @param hasNew whether the new files are whole
   * @return None if it has none of the files, since it was overwritten or deleted
   * @throws java.io.IOException when neither side is whole
   */
  def decision(keep: Keep, hasNew: Boolean): Option[Decision] = {
    val hasOld = old == ofOld
    if (ofOld > 0 && old + come == 0) None
    else if (!hasOld && !hasNew)
      throw new IOException(s"both sides of an exchange lack files. $sentence Copy the table again")
    else Some(if (hasNew && (keep == Keep.New || !hasOld)) Decision.Exchanged else Decision.RolledBack)
  }
}

object FolderSides {
  private[commit] val OldGone = "Old files were deleted, or a backup was put back"
}
