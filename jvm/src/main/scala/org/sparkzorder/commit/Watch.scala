package org.sparkzorder.commit

import scala.collection.mutable

/** What a look at a folder says about what was known to be visible in it. */
private[commit] sealed trait Seen
private[commit] object Seen {

  /** All of it is there. */
  case object Same extends Seen

  /** Somebody deleted all that was visible, or all that an older listing showed, and wrote anew: the folder is his. */
  case object Theirs extends Seen

  /** Some of it is gone. */
  final case class Changed(missing: Seq[String]) extends Seen
}

/**
 * Knows what must be visible in a folder while we move files in it, and so whether the folder was overwritten by
 * somebody who leaves `_zorder` alone.
 *
 * What has come since the last look proves nothing: it may have come after the overwrite.
 *
 * @param bystanders names of data files that are no files of the record and were there at the beginning
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

  def knows(paths: Seq[String]): Unit = known ++= paths

  /** We are making it visible. Told before, since a rename that fails may have taken effect. */
  def adds(path: String): Unit = added += path

  /** We take it away ourselves. */
  def forget(path: String): Unit = { known -= path; added -= path; () }

  /** What has become visible through us since the last look. */
  def newcomers: Seq[String] = added.toSeq

  private def isThis(path: String, meta: FileMeta): Boolean =
    inputs.get(path).fold(outputs(path).isThis(meta, timed))(_.isThis(meta, timed))

  private def isThere(path: String): Boolean = folder.ops.status(folder.resolve(path)).exists(isThis(path, _))

  /** Whether one file that has been visible for long still is. It costs one call. */
  def holds(): Boolean = known.headOption.orElse(added.headOption).forall { path =>
    val there = isThere(path)
    if (there) { added -= path; known += path }
    there
  }

  /** Looks at the whole folder. After [[Seen.Same]] and [[Seen.Changed]] what is there is known. */
  def look(): Seen = {
    val listed = data()
    val watched = (known ++ added).toSeq
    // A listing may be late.
    val missing = watched.filterNot(p => listed.get(TableFolder.name(p)).exists(isThis(p, _)) || isThere(p))
    def settle(seen: Seen): Seen = {
      known ++= added
      known --= missing
      added.clear()
      seen
    }
    if (missing.isEmpty) settle(Seen.Same)
    else {
      val left = known.toSet -- missing
      val (lostInputs, keptInputs) = known.toSeq.filter(inputs.contains).partition(missing.contains)
      val someone = bystanders.exists(listed.contains)
      if (!folder.ops.exists(folder.stagingOf(work.folder, record.operationId))) Seen.Theirs
      else if (someone) settle(Seen.Changed(missing))
      else if (left.isEmpty && known.nonEmpty) {
        // One file that was there from the beginning may have been chosen before, and by itself.
        val lone = known.size == 1 && lostInputs.nonEmpty && work.inputs.size > 1
        if (lone && !hasNews()) settle(Seen.Changed(missing)) else Seen.Theirs
      } else if (keptInputs.isEmpty && hasNews()) Seen.Theirs
      else settle(Seen.Changed(missing))
    }
  }

  private def data(): Map[String, FileMeta] =
    folder.ops.list(folder.resolve(work.folder)).filter(m => !m.isDirectory && TableFolder.isData(m.name))
      .map(m => m.name -> m).toMap

  /** Whether there are files that nobody knew; who overwrites deletes first and needs a moment to write. */
  private def hasNews(): Boolean = {
    val own = (inputs.keySet ++ outputs.keySet).map(TableFolder.name)
    def news: Boolean = data().keys.exists(n => !own(n) && !bystanders(n))
    (1 to Watch.Looks).exists { n =>
      if (n > 1) sleep(Watch.PauseMillis)
      news
    }
  }
}

private object Watch {
  private val Looks = 6
  private val PauseMillis = 200L
}
