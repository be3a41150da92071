package org.sparkzorder.commit

/**
 * Where the files of a record are in one folder.
 *
 * @param traces whether the operation's staging and its trash are there
 * @param exists whether the folder itself is there
 * @param inPlace what has the names of the record's files among the data, by relative name
 * @param retired what is in the trash of the record's operation, by the relative name that it had
 * @param staged what waits in staging, by its final relative name
 * @param others the data files that are no files of the record
 * @param bystanders those that were there before the operation, as the record lists them
 * @param left whether somebody chose that what is visible there is right
 * @param timed whether time stamps tell files apart; they do not in a copy of a table
 * @param batches by which outputs come
 */
private[commit] final case class FolderLocations(
    work: FolderWork,
    traces: Boolean,
    exists: Boolean,
    inPlace: Map[String, FileMeta],
    retired: Map[String, FileMeta],
    staged: Map[String, FileMeta],
    others: Seq[FileMeta],
    bystanders: Seq[Bystander],
    timed: Boolean = true,
    left: Boolean = false,
    batches: Batches = Batches()
) {

  /** Whether the input is in its place, unchanged. A file that only has its name is a stranger. */
  def stays(input: InputFile): Boolean = inPlace.get(input.path).exists(isInput(input, _))

  private def isRetired(input: InputFile): Boolean = retired.get(input.path).exists(isInput(input, _))

  // Older builds moved links, which lead somewhere else from the trash.
  private def isInput(input: InputFile, meta: FileMeta): Boolean = meta.isLink || input.isThis(meta, timed)

  private val hasLinks: Boolean = (inPlace.values ++ retired.values).exists(_.isLink)

  /** Whether the output is among the data. */
  def isOut(output: OutputFile): Boolean = inPlace.get(output.path).exists(output.isThis(_, timed))

  private def isStaged(output: OutputFile): Boolean = staged.get(output.path).exists(_.length == output.length)

  /** Names of the record's files that a reader sees. */
  val visible: Seq[String] = work.inputs.filter(stays).map(_.path) ++ work.outputs.filter(isOut).map(_.path)

  /** Somebody deleted the folder: or it was moved away, and comes back as it was. */
  val absent: Boolean = !left && !exists && !traces

  /**
   * Somebody deleted all that was in the folder, and may have written it anew, or it was given up: nothing is put there or
   * back. Where files of ours are visible, only empty folders were removed.
   */
  val overwritten: Boolean = left || !traces && !absent && visible.isEmpty

  private val staging: Boolean = !overwritten && !absent

  private val missingInputs: Seq[InputFile] = work.inputs.filterNot(i => stays(i) || isRetired(i))

  private val missingOutputs: Seq[OutputFile] = work.outputs.filterNot(o => isOut(o) || isStaged(o))

  /** Files of the record that are nowhere: somebody deleted or replaced them. */
  val missing: Seq[String] = missingInputs.map(_.path) ++ missingOutputs.map(_.path)

  /** Data files that nobody knows, also those that have a name that we know. */
  val strangers: Seq[String] =
    (others.filterNot(m => bystanders.exists(_.isThis(m, timed))).map(m => path(m.name)) ++
      inPlace.keySet.diff(visible.toSet)).sorted

  /** Whether a file has the name and the length of one of the record, and another time: it was touched, or written anew. */
  val hasTouched: Boolean =
    work.inputs.exists(i => !stays(i) && inPlace.get(i.path).exists(_.length == i.length)) ||
      work.outputs.exists(o => !isOut(o) && inPlace.get(o.path).exists(_.length == o.length))

  private def path(name: String): String = if (work.folder.isEmpty) name else s"${work.folder}/$name"

  /** Inputs in the trash whose names somebody has taken. */
  private val displaced: Boolean = work.inputs.exists(i => retired.contains(i.path) && inPlace.contains(i.path))

  private val isTaken: Boolean = work.outputs.exists(o => staged.contains(o.path) && inPlace.contains(o.path))

  /** Whether each file is in exactly one of its places, so that the exchange can go on. */
  val isWhole: Boolean = missing.isEmpty && !displaced && !isTaken && !hasLinks

  /** Whether going back changes nothing in this folder. */
  val isUntouched: Boolean = retired.isEmpty && !work.outputs.exists(isOut)

  /** Whether those that are missing were published before somebody deleted them: one of a later wave is out. */
  private val wasPublished: Boolean = missingOutputs.isEmpty || {
    val waves = work.outputs.zipWithIndex.map { case (output, i) => output -> batches.wave(i) }
    val newest = waves.collect { case (output, wave) if isOut(output) => wave }.maxOption
    val lost = missingOutputs.toSet
    waves.forall { case (output, wave) => !lost(output) || newest.exists(_ > wave) }
  }

  /**
   * Whether the exchange has come to its end here, and somebody has changed the new files since, as he might on any other
   * day. Such a folder is left alone on both ways.
   */
  val isOver: Boolean =
    !isWhole && staging && staged.isEmpty && work.inputs.forall(isRetired) && !hasLinks && wasPublished &&
      (missing.isEmpty || strangers.isEmpty)

  /** Whether the way back would bring rows back that somebody deleted. */
  val onlyForward: Boolean = staging && !isOver && timed && missingInputs.isEmpty && missingOutputs.nonEmpty &&
    wasPublished && strangers.isEmpty && !displaced && !isTaken

  /**
   * Whether all that others did was to write inputs anew that were still visible, each under its own name. That is a change
   * of these files, as long as something is there that an overwrite would have deleted: the others come back beside it.
   */
  private def isRewrite: Boolean = {
    val rewritten = missingInputs.map(_.path).filter(inPlace.contains).toSet
    rewritten.nonEmpty && missing.forall(rewritten) && strangers.forall(rewritten) && timed && keeps
  }

  /** Whether anything is there that an overwrite would have deleted. */
  private def keeps: Boolean = work.inputs.exists(stays) || others.exists(m => bystanders.exists(_.isThis(m, timed)))

  /**
   * Whether inputs are gone from the trash: before an output comes, all inputs but the first are retired. Then the outputs
   * may be the only copy of their rows.
   */
  def hasLostRetired: Boolean =
    work.outputs.exists(isOut) && missingInputs.exists(i => !work.inputs.headOption.contains(i))

  /**
   * Whether nobody can tell what is right: files move, or rows wait in the trash, and others have deleted or written files.
   * Somebody may have repaired the folder by hand, or emptied it; then no row may come back by itself.
   */
  val isUnclear: Boolean =
    absent || staging && !isOver && !onlyForward && !isUntouched && (displaced || missing.nonEmpty && !isRewrite && (
      !timed || missingOutputs.nonEmpty || strangers.nonEmpty || hasLostRetired || !keeps
    ))

  def canFinish: Boolean = isWhole || isOver || onlyForward

  /** Whether files of this folder may be moved at all. */
  def isOurs: Boolean = staging && !isOver && !isUnclear

  /** Whether there is anything here to go on with. */
  def isThere: Boolean = staging

  def inputsComplete: Boolean = work.inputs.forall(i => inPlace.contains(i.path) || retired.contains(i.path))

  def outputsComplete: Boolean = work.outputs.forall(o => staged.contains(o.path) || isOut(o))

  /** For somebody who has to choose. */
  def describe: UnclearFolder = UnclearFolder(
    work.folder,
    missing,
    strangers,
    visible,
    if (hasLostRetired && outputsComplete) work.outputs.filterNot(isOut).map(_.rows).sum
    else work.inputs.filter(i => absent || retired.contains(i.path)).map(_.rows).sum,
    absent
  )
}
