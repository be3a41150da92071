package org.sparkzorder.commit

/**
 * Where the files of a record are in one folder.
 *
 * @param hasOwnFolders whether the operation's staging and its trash are there
 * @param exists whether the folder itself is there
 * @param inPlace files among the data that have names of the record's files, by relative name
 * @param retired files in the trash of the record's operation, by the relative name that they had
 * @param staged files that wait in staging, by their final relative name
 * @param others the data files that are no files of the record
 * @param bystanders data files that were there before the operation, as the record lists them
 * @param timed whether time stamps tell files apart; they do not in a copy of a table
 * @param left whether somebody has chosen that the visible files are right
 * @param batches the waves in which outputs are published
 * @param origin the folder whose files the operation has here, if somebody renamed folders so that
 *               it is another one of the record, see [[FolderOrigins]]
 */
private[commit] final case class FolderLocations(
    work: FolderWork,
    hasOwnFolders: Boolean,
    exists: Boolean,
    inPlace: Map[String, FileMeta],
    retired: Map[String, FileMeta],
    staged: Map[String, FileMeta],
    others: Seq[FileMeta],
    bystanders: Seq[Bystander],
    timed: Boolean = true,
    left: Boolean = false,
    batches: Batches = Batches(),
    origin: Option[String] = None
) {
  private val isForeign: Boolean = origin.isDefined && !left

  /**
   * Whether the input is in its place, unchanged. A file that only has its name is not the input.
   */
  def stays(input: InputFile): Boolean = inPlace.get(input.path).exists(isInput(input, _))

  private def isRetired(input: InputFile): Boolean = retired.get(input.path).exists(isInput(input, _))

  private def isInput(input: InputFile, meta: FileMeta): Boolean = meta.isLink || input.isThis(meta, timed)

  private val hasLinks: Boolean = (inPlace.values ++ retired.values).exists(_.isLink)

  /** Whether the output is published and unchanged. */
  def isOut(output: OutputFile): Boolean = inPlace.get(output.path).exists(output.isThis(_, timed))

  private def isStaged(output: OutputFile): Boolean = staged.get(output.path).exists(_.length == output.length)

  /** Names of the record's files that a reader sees. */
  val visible: Seq[String] = work.inputs.filter(stays).map(_.path) ++ work.outputs.filter(isOut).map(_.path)

  /** The folder is gone. Somebody deleted it, or moved it away and may bring it back. */
  val absent: Boolean = !left && !exists && !hasOwnFolders

  /** Whether the operation's files of this folder are not here: somebody moved or deleted them. */
  def isElsewhere: Boolean = absent || isForeign

  /**
   * The same, or the operation's own folders are gone: then another folder may have been given its
   * name.
   */
  def isLost: Boolean = isElsewhere || overwritten || !hasOwnFolders

  /**
   * Somebody overwrote the folder, or we gave it up. Then no file is moved into it or back. While
   * files of ours are visible, it is not overwritten: somebody has only removed our empty folders.
   */
  val overwritten: Boolean = left || !isForeign && !hasOwnFolders && !absent && visible.isEmpty

  private val staging: Boolean = !overwritten && !absent && !isForeign

  private val missingInputs: Seq[InputFile] = work.inputs.filterNot(i => stays(i) || isRetired(i))

  private val missingOutputs: Seq[OutputFile] = work.outputs.filterNot(o => isOut(o) || isStaged(o))

  /** Files of the record that are in none of their places: somebody deleted or replaced them. */
  val missing: Seq[String] = missingInputs.map(_.path) ++ missingOutputs.map(_.path)

  /**
   * Data files that neither the record nor its bystanders account for. They may have names of the
   * record's files.
   */
  val strangers: Seq[String] =
    (others.filterNot(m => bystanders.exists(_.isThis(m, timed))).map(m => FileNames.in(work.folder, m.name)) ++
      inPlace.keySet.diff(visible.toSet)).sorted

  /**
   * Whether a file has the name and the length of one of the record, but another time: it was
   * touched, or rewritten.
   */
  val hasTouched: Boolean =
    work.inputs.exists(i => !stays(i) && inPlace.get(i.path).exists(_.length == i.length)) ||
      work.outputs.exists(o => !isOut(o) && inPlace.get(o.path).exists(_.length == o.length))

  /** Whether somebody has taken the name of an input that is in the trash. */
  private val displaced: Boolean = work.inputs.exists(i => retired.contains(i.path) && inPlace.contains(i.path))

  /** Whether somebody has taken the name of an output that is in staging. */
  private val isTaken: Boolean = work.outputs.exists(o => staged.contains(o.path) && inPlace.contains(o.path))

  /** Whether each file is in exactly one of its places. Then the exchange can go on. */
  val isWhole: Boolean = missing.isEmpty && !displaced && !isTaken && !hasLinks

  /** Whether going back changes nothing in this folder. */
  val isUntouched: Boolean = retired.isEmpty && !work.outputs.exists(isOut)

  /**
   * Whether the missing outputs were published before somebody deleted them: an output of a later
   * wave is published.
   */
  private val wasPublished: Boolean = missingOutputs.isEmpty || {
    val waves = work.outputs.zipWithIndex.map { case (output, i) => output -> batches.wave(i) }
    val newest = waves.collect { case (output, wave) if isOut(output) => wave }.maxOption
    val lost = missingOutputs.toSet
    waves.forall { case (output, wave) => !lost(output) || newest.exists(_ > wave) }
  }

  /**
   * Whether the exchange is complete here, and somebody has changed the new files since, as on any
   * other day. Such a folder is left alone, forward and back.
   */
  val isOver: Boolean =
    !isWhole && staging && staged.isEmpty && work.inputs.forall(isRetired) && !hasLinks && wasPublished &&
      (missing.isEmpty || strangers.isEmpty)

  /** Whether an undo would bring back rows that somebody has deleted. */
  val onlyForward: Boolean = staging && !isOver && timed && missingInputs.isEmpty && missingOutputs.nonEmpty &&
    wasPublished && strangers.isEmpty && !displaced && !isTaken

  /**
   * Whether others have only rewritten visible inputs under their own names. That is a change of
   * these files, and no overwrite, as long as a file is there that an overwrite would have deleted.
   * Then the other inputs come back beside them.
   */
  private def isRewrite: Boolean = {
    val rewritten = missingInputs.map(_.path).filter(inPlace.contains).toSet
    rewritten.nonEmpty && missing.forall(rewritten) && strangers.forall(rewritten) && timed && keeps
  }

  /** Whether a file is there that an overwrite would have deleted. */
  private def keeps: Boolean = work.inputs.exists(stays) || others.exists(m => bystanders.exists(_.isThis(m, timed)))

  /**
   * Whether an input is gone from the trash. All inputs but the first are retired before the first
   * output is published. So if an output is visible, any other missing input was in the trash, and
   * the outputs may be the only copy of its rows.
   */
  def hasLostRetired: Boolean =
    work.outputs.exists(isOut) && missingInputs.exists(i => !work.inputs.headOption.contains(i))

  /**
   * Whether nobody can tell what is right: the exchange has begun, and others have deleted or
   * written files. Somebody may have repaired the folder by hand, or emptied it. Then no row may
   * come back by itself.
   */
  val isUnclear: Boolean =
    absent || isForeign || staging && !isOver && !onlyForward && !isUntouched && (displaced || missing.nonEmpty && !isRewrite && (
      !timed || missingOutputs.nonEmpty || strangers.nonEmpty || hasLostRetired || !keeps
    ))

  def canFinish: Boolean = !isForeign && (isWhole || isOver || onlyForward)

  /** Whether files of this folder may be moved at all. */
  def isOurs: Boolean = staging && !isOver && !isUnclear

  /**
   * Whether the operation can still go on here: the folder is there and nobody has overwritten it.
   */
  def isThere: Boolean = staging

  def inputsComplete: Boolean = work.inputs.forall(i => inPlace.contains(i.path) || retired.contains(i.path))

  def outputsComplete: Boolean = work.outputs.forall(o => staged.contains(o.path) || isOut(o))

  /** The folder as it is shown to somebody who has to choose. */
  def describe: UnclearFolder = UnclearFolder(
    work.folder,
    missing,
    strangers,
    visible,
    if (hasLostRetired && outputsComplete) work.outputs.filterNot(isOut).map(_.rows).sum
    else work.inputs.filter(i => isElsewhere || retired.contains(i.path)).map(_.rows).sum,
    absent,
    origin
  )
}
