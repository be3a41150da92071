package org.sparkzorder.commit.upkeep

import org.sparkzorder.commit._
import org.sparkzorder.commit.catalog.StaleAppends
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{PublishedRecord, PublishedRecords, RecordJson}
import org.sparkzorder.commit.storage.ObjectFileOps

/**
 * Finds the files that RESTORE has to exchange. [[Committer]] exchanges them, as for any operation.
 */
object Restore {
  import NotRestorableException.refuse
  import RestoreObstacle._

  /**
   * Plans a RESTORE, and looks at every file that it would move. Needs the lock.
   *
   * If the name of a file is taken, the file comes back by another name.
   *
   * @param version to go back to; 0 is the table before its first operation
   * @param restoresLost whether to go back also where others have deleted files that would move
   * @throws VersionNotFoundException when there is no such version
   * @throws NotRestorableException when files or records are gone or changed
   * @throws UnreadableRecordException when a record since is damaged
   */
  def plan(folder: TableFolder, lock: Lock, version: Long, restoresLost: Boolean): RestorePlan = {
    val since = published(folder, lock, version)
    val whole = RestorePlan.of(folder, since.map(_.record))
    val changed = this.changed(folder, whole)
    val lost = changed.filterNot(i => folder.ops.exists(folder.resolve(i.path)))
    val plan = whole.copy(inputs = whole.inputs.diff(lost), lost = lost)
    val vacuumed = since.filter(_.file.state == RecordState.Vacuumed).map(p => TableFolder.trashName(p.record)).toSet
    val gone = this.gone(folder, plan, vacuumed)
    // The option is named only where it helps.
    if (lost != changed || !restoresLost && gone.nonEmpty) refuse(version, Changed, changed.map(_.path))
    refuse(version, Gone, gone)
    refuse(version, Beside, beside(folder, whole, lost))
    if (!restoresLost) refuse(version, Lost, lost.map(_.path))
    refuse(version, Changed, whole.twice)
    if (whole.inputs.map(_.rows).sum != plan.outputs.map(_.rows).sum)
      throw new UnreadableRecordException(since.head.file.meta.path, "its rows are not those of the records before it")
    // On an object store no name is given twice, see docs/design/commit.md.
    val isTaken: String => Boolean = if (isOnStore(folder)) _ => true else taken(folder, plan) ++ lost.map(_.path)
    RestorePlan.renaming(plan, lock.operationId, isTaken)
  }

  /**
   * The records of all operations since a version, newest first. Needs the lock.
   *
   * @throws VersionNotFoundException when there is no such version
   * @throws NotRestorableException when one of them is gone
   * @throws UnreadableRecordException when one of them is damaged
   */
  def recordsSince(folder: TableFolder, lock: Lock, version: Long): Seq[Record] =
    published(folder, lock, version).map(_.record)

  private def published(folder: TableFolder, lock: Lock, version: Long): Seq[PublishedRecord] = {
    val listing = lock.listing()
    val current = SideListing.newestPublished(listing)
    if (version < 0 || version > current) throw new VersionNotFoundException(version, current)
    val since =
      new PublishedRecords(folder, () => lock.listing()).newestFirst.takeWhile(_.file.version > version).toVector
    val gaps = missing(folder, listing, version, current, since)
    refuse(version, Forgotten, gaps.map(v => s"version $v"))
    since
  }

  private def isOnStore(folder: TableFolder): Boolean = ObjectFileOps.storeOf(folder).isDefined

  /** The versions since that one that have no record. */
  private def missing(
      folder: TableFolder,
      listing: Seq[FileMeta],
      version: Long,
      current: Long,
      since: Seq[PublishedRecord]
  ): Seq[Long] = {
    // On an object store no number is given twice, so an operation that was undone leaves a gap.
    val undone = if (isOnStore(folder)) SideListing.records(listing).filter(_.state == RecordState.Undone) else Nil
    val read = since.map(_.file.version).toSet
    val known = read ++ undone.map(_.version).filter(v => v > version && v <= current)
    // A record that is there but was left out is damaged. Reading it throws the exception that says
    // so.
    SideListing.records(listing)
      .filter(f => f.state.isPublished && f.version > version && !read(f.version))
      .foreach(RecordJson.read(folder, _))
    if (known.size.toLong == current - version) Nil
    else Iterator.iterate(current)(_ - 1).takeWhile(_ > version).filterNot(known).take(MostNamed).toVector
  }

  private val MostNamed = 100

  private def changed(folder: TableFolder, plan: RestorePlan): Seq[InputFile] =
    plan.inputs.groupBy(_.folder).toSeq.flatMap { case (dir, inputs) =>
      val there = listed(folder, dir)
      TiedNames.refuse(there.values.toVector, inputs.map(i => FileNames.name(i.path)).toSet, TiedFileException.Moves)
      inputs.filterNot(i => there.get(FileNames.name(i.path)).exists(i.isSame))
    }.sortBy(_.path)

  /** Files of others, as young as a lost file of the same folder. It may have been renamed or rewritten to them. */
  private def beside(folder: TableFolder, plan: RestorePlan, lost: Seq[InputFile]): Seq[String] =
    lost.groupBy(_.folder).toSeq.flatMap { case (dir, gone) =>
      val (own, since) = (plan.inputs.map(_.path).toSet, gone.map(_.modificationTime).min)
      listed(folder, dir).values.filter(m => StaleAppends.isVisible(m) && m.modificationTime >= since)
        .map(m => FileNames.in(dir, m.name)).filterNot(own)
    }.sorted

  private def gone(folder: TableFolder, plan: RestorePlan, vacuumed: Set[String]): Seq[String] =
    plan.outputs.groupBy(o => FileNames.parent(o.source.get)).toSeq.flatMap { case (trash, outputs) =>
      val there = if (vacuumed(FileNames.name(trash))) Map.empty[String, FileMeta] else listed(folder, trash)
      // A copy on an object store has a time of its own.
      val timed = !isOnStore(folder)
      outputs.filterNot(o => there.get(FileNames.name(o.source.get)).exists(o.isThis(_, timed))).map(_.path)
    }.sorted

  /**
   * Names that are taken. The listing may be late and show a file that is in the trash by
   * now.
   */
  private def taken(folder: TableFolder, plan: RestorePlan): Set[String] =
    plan.outputs.groupBy(_.folder).toSeq.flatMap { case (dir, outputs) =>
      val there = listed(folder, dir)
      outputs.map(_.path).filter(p => there.contains(FileNames.name(p)) && folder.ops.exists(folder.resolve(p)))
    }.toSet

  private def listed(folder: TableFolder, dir: String): Map[String, FileMeta] =
    folder.ops.list(folder.resolve(dir)).map(m => m.name -> m).toMap
}
