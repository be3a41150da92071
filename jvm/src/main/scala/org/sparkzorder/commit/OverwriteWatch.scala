package org.sparkzorder.commit

import scala.annotation.tailrec
import scala.collection.mutable

/** What a look at a folder tells about our files that were visible in it. */
private[commit] sealed trait WatchResult
private[commit] object WatchResult {

  /** All of them are there. */
  case object Unchanged extends WatchResult

  /**
   * Somebody overwrote the folder: he deleted all files that he saw. Files that came since are ours
   * or his.
   */
  case object Overwritten extends WatchResult

  /**
   * The operation's own folders are not here: somebody moved, deleted or replaced the whole folder.
   */
  case object Moved extends WatchResult

  /** Some of them are gone, and it was no overwrite. */
  final case class Missing(paths: Seq[String]) extends WatchResult

  /**
   * It may have been an overwrite, or the delete of the one file that was visible at that moment.
   */
  case object Unclear extends WatchResult
}

/**
 * Knows which files must be visible in a folder while we move files in it. So it finds out when
 * somebody overwrites the folder and leaves `_zorder` alone.
 *
 * Our outputs come in waves, see [[Batches]]. Somebody who overwrites the folder deletes all files
 * that he sees: all bystanders, the inputs that are still there, all outputs of the first waves,
 * and any of the next wave. Files that have come since the last look prove nothing, as they may
 * have come after him.
 *
 * @param bystanders names of data files that were there at the beginning and are no files of the
 *                   record
 * @param timed whether time stamps tell files apart; they do not in a copy of a table
 */
private[commit] final class OverwriteWatch(
    folder: TableFolder,
    record: Record,
    work: FolderWork,
    bystanders: Set[String],
    timed: Boolean,
    sleep: Long => Unit
) {
  import OverwriteWatch._

  /** Files that were visible at the last look. */
  private val known = mutable.LinkedHashSet.empty[String]

  /** Files that we have made visible since, or tried to. */
  private val added = mutable.LinkedHashSet.empty[String]

  private val inputs = work.inputs.map(i => i.path -> i).toMap
  private val outputs = work.outputs.map(o => o.path -> o).toMap

  /** Outputs that were published when a look last found the folder ours. */
  private var lastPublished = Set.empty[String]

  private val waves = work.outputs.map(_.path).zipWithIndex.map { case (p, i) => p -> folder.batches.wave(i) }.toMap

  private lazy val ownNames = (inputs.keysIterator ++ outputs.keysIterator).map(FileNames.name).toSet

  /** These files are visible. */
  def knows(paths: Seq[String]): Unit = {
    known ++= paths
    notePublished()
  }

  private def notePublished(): Unit = lastPublished = published.toSet

  private def published: Seq[String] = work.outputs.map(_.path).filter(p => known(p) || added(p))

  def has(path: String): Boolean = known(path)

  /**
   * We are about to make this file visible. Called before the rename, which may take effect
   * although it fails.
   */
  def adds(path: String): Unit = added += path

  /** We have taken this file away ourselves. */
  def forget(path: String): Unit = { known -= path; added -= path; () }

  private def isThis(path: String, meta: FileMeta): Boolean =
    inputs.get(path).fold(outputs(path).isThis(meta, timed))(meta.isLink || _.isThis(meta, timed))

  def isThere(path: String): Boolean = folder.ops.status(folder.resolve(path)).exists(isThis(path, _))

  /** Whether the file that has been visible for longest still is. It costs one call. */
  def holds(): Boolean = known.headOption.orElse(added.headOption).forall { path =>
    val there = isThere(path)
    if (there) { added -= path; known += path; notePublished() }
    there
  }

  /**
   * Looks at the whole folder. Unless the result is `Overwritten` or `Moved`, the visible files are
   * known afterwards.
   */
  def look(): WatchResult = {
    val (seen, result) = judged(settled(lookOnce(), Looks), Looks)
    if (result != WatchResult.Overwritten && result != WatchResult.Moved) {
      known ++= added
      known --= seen.missing
      added.clear()
      notePublished()
    }
    result
  }

  /**
   * The folder may have been away when it was listed, and be back when we look for our own folders in
   * it. So before we say that it was overwritten, we list it once more.
   */
  @tailrec private def judged(seen: Look, left: Int): (Look, WatchResult) = {
    val result = judge(seen.listed, seen.missing)
    if (result != WatchResult.Overwritten || left == 0) (seen, result)
    else {
      val now = lookOnce()
      if (now == seen) (seen, result) else judged(settled(now, left), left - 1)
    }
  }

  /**
   * Two looks must agree: an overwrite may be in the middle of its deletes, and has yet to write.
   */
  @tailrec private def settled(before: Look, left: Int): Look =
    if (before.missing.isEmpty || left == 0) before
    else {
      sleep(PauseMillis)
      val now = lookOnce()
      if (now == before) now else settled(now, left - 1)
    }

  /** A listing may be late, so a file that it lacks is looked up by name. */
  private def lookOnce(): Look = {
    val listed = folder.ops.list(folder.resolve(work.folder)).filter(m => !m.isDirectory && FileNames.isData(m.name))
      .map(m => m.name -> m).toMap
    val missing = (known ++ added).toSeq
      .filterNot(p => listed.get(FileNames.name(p)).exists(isThis(p, _)) || isThere(p))
    Look(listed.keySet, missing)
  }

  private def judge(listed: Set[String], missing: Seq[String]): WatchResult = {
    // New files may also have a name of ours that we have taken away, or not given yet.
    val hasNewFiles = (listed -- (known ++ added).map(FileNames.name) -- bystanders).nonEmpty
    val keepsBystander = bystanders.exists(listed)
    val keepsInput = known.exists(p => inputs.contains(p) && !missing.contains(p))
    if (missing.isEmpty) judgeBystanders(listed, keepsBystander || keepsInput)
    else if (!FileLocations.hasOwnFolders(folder, work.folder, record)) WatchResult.Moved
    else if (new FolderOrigins(folder, record).isForeign(work.folder)) WatchResult.Moved
    // An overwrite would have deleted these.
    else if (keepsBystander || keepsInput) WatchResult.Missing(missing)
    else if (missing.exists(outputs.contains)) judgeOutputs(listed, missing, hasNewFiles)
    else if (hasNewFiles || bystanders.nonEmpty) WatchResult.Overwritten
    // Nothing has been retired yet, so no row is in the trash alone.
    else if (inputs.keySet.forall(p => known(p) || added(p))) WatchResult.Missing(missing)
    else WatchResult.Unclear
  }

  /**
   * None of our files is gone. Other changes are not ours to judge, unless they look like an
   * overwrite.
   */
  private def judgeBystanders(listed: Set[String], keepsAny: Boolean): WatchResult = {
    def hasOthers = listed.exists(n => !ownNames(n) && !bystanders(n))
    if (bystanders.nonEmpty && !keepsAny && hasOthers && published.nonEmpty) WatchResult.Unclear
    else WatchResult.Unchanged
  }

  /**
   * Outputs are gone, and nothing of before is left: by their waves an overwrite is told from a
   * delete.
   */
  private def judgeOutputs(listed: Set[String], missing: Seq[String], hasNewFiles: Boolean): WatchResult = {
    val (lostInputs, lostOutputs) = missing.partition(inputs.contains)
    val lastWave = lostOutputs.map(waves).max
    val lostEarlierWaves = published.filter(waves(_) < lastWave).forall(lostOutputs.toSet)
    val isReplaced = lostOutputs.exists(p => listed(FileNames.name(p)))
    // He may have yet to write, and the rest of a wave may have come since. If only one file was
    // there, he rather deleted it.
    val isEmptied =
      lostOutputs.size == published.size || lastPublished.size > 1 && lastPublished.forall(lostOutputs.contains)
    if (lostEarlierWaves && !isReplaced && (hasNewFiles || isEmptied)) WatchResult.Overwritten
    // The only visible file may have been rewritten, or it is the first of a new set of files.
    else if (lostInputs.isEmpty && !(lostEarlierWaves && isReplaced && known.forall(missing.contains)))
      WatchResult.Missing(missing)
    else WatchResult.Unclear
  }
}

private object OverwriteWatch {
  private val Looks = 30
  private val PauseMillis = 1000L

  /**
   * @param listed the names of all data files
   * @param missing files of ours that should be visible and are not
   */
  private final case class Look(listed: Set[String], missing: Seq[String])
}
