package org.sparkzorder.commit

/**
 * Where the files of a record are in one folder.
 *
 * @param staging whether the folder's staging is there
 * @param inPlace what has the names of the record's files among the data, by relative name
 * @param retired what is in the trash of the record's operation, by the relative name that it had
 * @param staged what waits in staging, by its final relative name
 * @param others names of the data files that are no files of the record
 * @param bystanders those of them that were there before the operation
 * @param timed whether time stamps tell files apart; they do not in a copy of a table
 */
private[commit] final case class FolderSurvey(
    work: FolderWork,
    staging: Boolean,
    inPlace: Map[String, FileMeta],
    retired: Map[String, FileMeta],
    staged: Map[String, FileMeta],
    others: Set[String],
    bystanders: Set[String],
    timed: Boolean = true
) {

  /** Somebody deleted the folder (and may have made it anew), so nothing of the record is put there or back. */
  def overwritten: Boolean = !staging && retired.isEmpty

  /** Whether the input is in its place, unchanged. */
  def stays(input: InputFile): Boolean = inPlace.get(input.path).exists(input.isThis(_, timed))

  private def isRetired(input: InputFile): Boolean = retired.get(input.path).exists(input.isThis(_, timed))

  /** Whether the output is among the data. */
  def isOut(output: OutputFile): Boolean = inPlace.get(output.path).exists(output.isThis(_, timed))

  private def isStaged(output: OutputFile): Boolean = staged.get(output.path).exists(_.length == output.length)

  /** Names of the record's files that a reader sees. */
  val visible: Seq[String] = work.inputs.filter(stays).map(_.path) ++ work.outputs.filter(isOut).map(_.path)

  /** Files of the record that are nowhere: somebody deleted or replaced them. */
  val missing: Seq[String] = work.inputs.filterNot(i => stays(i) || isRetired(i)).map(_.path) ++
    work.outputs.filterNot(o => isOut(o) || isStaged(o)).map(_.path)

  /** Files among the data that the record does not know, those that have taken one of its names among them. */
  val strangers: Seq[String] =
    ((others -- bystanders).map(n => if (work.folder.isEmpty) n else s"${work.folder}/$n") ++
      inPlace.keySet -- visible).toSeq.sorted

  /** Whether each file is in exactly one of its places, so that the exchange can go on. */
  private val isWhole: Boolean = missing.isEmpty &&
    work.inputs.forall(i => inPlace.contains(i.path) != retired.contains(i.path)) &&
    work.outputs.forall(o => inPlace.contains(o.path) != staged.contains(o.path))

  /** Whether going back changes nothing in this folder. */
  val isUntouched: Boolean = retired.isEmpty && !work.outputs.exists(isOut)

  /**
   * Whether the exchange has come to its end here and somebody has changed the new files since, as he might on any other
   * day. Such a folder is left alone on both ways.
   */
  val isOver: Boolean = !isWhole && staging && staged.isEmpty && work.inputs.forall(isRetired) &&
    work.outputs.nonEmpty && (visible.nonEmpty || strangers.nonEmpty)

  /**
   * Whether nobody can tell what is right: rows wait in the trash or stand in new files, and files that were visible are
   * gone. Somebody may have repaired the folder by hand, or emptied it; then no row may come back by itself.
   */
  val isUnclear: Boolean = !overwritten && !isOver && !isUntouched &&
    (!staging || missing.nonEmpty && (strangers.nonEmpty || visible.isEmpty))

  def canFinish: Boolean = isWhole || isOver

  /** Whether files of this folder are to be moved at all. */
  def isOurs: Boolean = !overwritten && !isOver && !isUnclear

  /** Rows that wait in the trash. */
  def rowsWaiting: Long = work.inputs.filter(i => retired.contains(i.path)).map(_.rows).sum
}
