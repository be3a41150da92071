package org.sparkzorder.commit

import scala.annotation.tailrec
import scala.collection.mutable

/** What a look at a folder says about what was known to be visible in it. */
private[commit] sealed trait Seen
private[commit] object Seen {

  /** All of it is there. */
  case object Same extends Seen

  /** Somebody deleted all that he saw, and what has come since comes from us: the folder is his. */
  case object Theirs extends Seen

  /** Some of it is gone, which was no overwrite. */
  final case class Changed(missing: Seq[String]) extends Seen

  /** It may have been an overwrite, or the delete of the one file that was visible at that moment. */
  case object Unclear extends Seen
}

/**
 * Knows what must be visible in a folder while we move files in it, and so whether the folder was overwritten by
 * somebody who leaves `_zorder` alone.
 *
 * Our outputs come in waves, see [[Batches]]. So whoever overwrites saw, and deletes, all bystanders, the inputs that were
 * there, all outputs of the first waves, and any of the next one. What has come since the last look proves nothing: it may
 * have come after him.
 *
 * @param bystanders names of data files that were there at the beginning and are no files of the record
 */
private[commit] final class Watch(
    folder: TableFolder,
    record: Record,
    work: FolderWork,
    bystanders: Set[String],
    timed: Boolean,
    sleep: Long => Unit
) {
  private val known = mutable.LinkedHashSet.empty[String]
  private val added = mutable.LinkedHashSet.empty[String]
  private val inputs = work.inputs.map(i => i.path -> i).toMap
  private val outputs = work.outputs.map(o => o.path -> o).toMap

  /** Outputs that were published when a look last found the folder ours. */
  private var standing = Set.empty[String]

  private val waves = work.outputs.map(_.path).zipWithIndex.map { case (p, i) => p -> folder.batches.wave(i) }.toMap

  private lazy val ownNames = (inputs.keysIterator ++ outputs.keysIterator).map(FileNames.name).toSet

  def knows(paths: Seq[String]): Unit = {
    known ++= paths
    stands()
  }

  private def stands(): Unit = standing = published.toSet

  private def published: Seq[String] = work.outputs.map(_.path).filter(p => known(p) || added(p))

  def has(path: String): Boolean = known(path)

  /** We are making it visible. Told before, since a rename that fails may have taken effect. */
  def adds(path: String): Unit = added += path

  /** We take it away ourselves. */
  def forget(path: String): Unit = { known -= path; added -= path; () }

  private def isThis(path: String, meta: FileMeta): Boolean =
    inputs.get(path).fold(outputs(path).isThis(meta, timed))(meta.isLink || _.isThis(meta, timed))

  def isThere(path: String): Boolean = folder.ops.status(folder.resolve(path)).exists(isThis(path, _))

  /** Whether one file that has been visible for long still is. It costs one call. */
  def holds(): Boolean = known.headOption.orElse(added.headOption).forall { path =>
    val there = isThere(path)
    if (there) { added -= path; known += path; stands() }
    there
  }

  /** Looks at the whole folder. After [[Seen.Same]] and [[Seen.Changed]] what is there is known. */
  def look(): Seen = {
    val (listed, missing) = settled(lookOnce(), Watch.Looks)
    val seen = judge(listed, missing)
    if (seen != Seen.Theirs) {
      known ++= added
      known --= missing
      added.clear()
      stands()
    }
    seen
  }

  /** Who overwrites may be in the middle of his deletes, and has yet to write: two looks must agree. */
  @tailrec private def settled(before: (Set[String], Seq[String]), left: Int): (Set[String], Seq[String]) =
    if (before._2.isEmpty || left == 0) before
    else {
      sleep(Watch.PauseMillis)
      val now = lookOnce()
      if (now == before) now else settled(now, left - 1)
    }

  /** The names of all data files, and what is missing of ours. A listing may be late, so that is asked for by name. */
  private def lookOnce(): (Set[String], Seq[String]) = {
    val listed = folder.ops.list(folder.resolve(work.folder)).filter(m => !m.isDirectory && FileNames.isData(m.name))
      .map(m => m.name -> m).toMap
    val missing = (known ++ added).toSeq
      .filterNot(p => listed.get(FileNames.name(p)).exists(isThis(p, _)) || isThere(p))
    (listed.keySet, missing)
  }

  private def judge(listed: Set[String], missing: Seq[String]): Seen = {
    // Also under a name of ours that we have taken away, or not given yet.
    val news = (listed -- (known ++ added).map(FileNames.name) -- bystanders).nonEmpty
    val noneLeft = !bystanders.exists(listed)
    val keepsInputs = known.exists(p => inputs.contains(p) && !missing.contains(p))
    val (lostInputs, lostOutputs) = missing.partition(inputs.contains)
    // Nothing of ours is gone: the rest is others' business, as long as it cannot have been an overwrite.
    lazy val others = listed.exists(n => !ownNames(n) && !bystanders(n))
    if (missing.isEmpty)
      if (bystanders.nonEmpty && noneLeft && others && !keepsInputs && published.nonEmpty) Seen.Unclear else Seen.Same
    else if (!FileLocations.hasTraces(folder, work.folder, record)) Seen.Theirs
    else if (!noneLeft || keepsInputs) Seen.Changed(missing)
    else if (lostOutputs.nonEmpty) {
      val last = lostOutputs.map(waves).max
      val first = published.filter(waves(_) < last).forall(lostOutputs.toSet)
      val replaced = lostOutputs.exists(p => listed(FileNames.name(p)))
      // He may have yet to write, and the rest of a wave may have come since. One file alone was rather deleted.
      val emptied = lostOutputs.size == published.size || standing.size > 1 && standing.forall(lostOutputs.contains)
      if (first && !replaced && (news || emptied)) Seen.Theirs
      // One that stands alone may have been rewritten, or be the first of all that come anew.
      else if (lostInputs.isEmpty && !(first && replaced && known.forall(missing.contains))) Seen.Changed(missing)
      else Seen.Unclear
    } else if (news || bystanders.nonEmpty) Seen.Theirs
    else if (inputs.keySet.forall(p => known(p) || added(p))) Seen.Changed(missing)
    else Seen.Unclear
  }
}

private object Watch {
  private val Looks = 30
  private val PauseMillis = 1000L
}
