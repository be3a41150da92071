package org.sparkzorder.commit.place

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.StagingDirectories
import org.sparkzorder.commit.side.SideFolders
import org.sparkzorder.compat._

/**
 * Folders on a disk or HDFS. They may be moved or copied with their markers.
 *
 * @param holds whether this process has the table's lock
 * @param keep as for [[StoragePlaces]]
 */
private[commit] final class FolderPlaces(
    folder: TableFolder,
    threads: Int,
    holds: () => Boolean = () => false,
    keep: Option[Keep] = None
) extends Places {
  import FolderPlaces._

  override type P = FolderPlace

  private val ops = folder.ops

  /** Whether files were moved before: then a file that is nowhere may be one that was moved. */
  private var hasBegun = false

  override def of(record: Record, isRecovery: Boolean): Seq[Located[FolderPlace]] = {
    val here = record.folders.map(work => located(record, work, work.folder, isRecovery))
    hasBegun = true
    val isFollowed = isRecovery || here.exists(_.place.decision().isEmpty)
    if (!isFollowed) here
    else {
      val there = elsewhere(record, here.map(_.work.folder).toSet)
      // Another folder has its name now.
      val taken = there.map(_.work.folder).toSet
      here.filterNot(l => taken(l.work.folder) && l.place.decision().isEmpty) ++ there
    }
  }

  override def moved(record: Record, except: Set[String]): Seq[Located[FolderPlace]] = elsewhere(record, except)

  override def away(record: Record, known: Seq[Located[FolderPlace]]): Seq[AwayFolder] = {
    val marked = known.filter(_.place.decision().isDefined)
    val origins = marked.map(_.origin).toSet
    record.folders.filterNot(w => origins(w.folder)).filter { work =>
      marked.exists(_.work.folder == work.folder) || !ops.exists(folder.resolve(work.folder))
    }.map(AwayFolder.of(_, isGone = true))
  }

  /** Places whose markers are in other folders of the table. */
  private def elsewhere(record: Record, known: Set[String]): Seq[Located[FolderPlace]] = {
    val origins = record.folders.map(work => LongNames.hash(work.folder) -> work).toMap
    for {
      side <- SideFolders.below(folder)
      dir <- side.folder.toSeq
      hash <- side.statuses.flatMap(m => FolderMark.origin(m.name, record.operationId)).distinct
      work <- origins.get(hash)
      if dir != work.folder || !known(dir)
    } yield located(record, work, dir, isRecovery = true)
  }

  private def located(record: Record, work: FolderWork, dir: String, isRecovery: Boolean): Located[FolderPlace] = {
    val isOwn = !isRecovery && !hasBegun
    val inFolder = if (record.folders.size > 1) 1 else threads
    val here = relocated(work, dir)
    def place(timed: Boolean) = new FolderPlace(folder, record, here, work.folder, timed, isOwn, holds, inFolder)
    val recorded = place(timed = true)
    val isCopied = isRecovery && recorded.decision().isDefined && recorded.isCopied
    val found = if (isCopied) place(timed = false) else recorded
    val why = folder.otherRoot(record) match {
      case Some(root) => Some(s"The table was copied or moved from $root")
      case None       => Option.when(isCopied)("Files were copied")
    }
    keep.filter(_ => why.isDefined || found.isTorn).foreach(found.keep)
    Located(work.folder, here, found, why.filter(_ => keep.isEmpty).map(found.sides))
  }

  override def rollBack(operationId: String, dirs: Seq[String]): Boolean = {
    // A folder may have been moved since.
    val marked = SideFolders.below(folder)
      .filter(_.statuses.exists(m => FolderMark.origin(m.name, operationId).isDefined)).flatMap(_.folder)
    val all = (StagingDirectories.read(folder, operationId) ++ dirs ++ marked).distinct
    val marks = all.flatMap(dir => FolderMark.all(folder, dir, operationId))
    // What was decided before has a record, which is settled. So is one that its owner has just written.
    marks.foreach(_.decide(Decision.Staged, Decision.RolledBack))
    val hasRecord = isUnderWay(operationId)
    if (!hasRecord) {
      marks.foreach(_.remove())
      all.foreach { dir =>
        val trashes = folder.trashesOf(dir)
        // A listing may be late, and lack it.
        FolderPlace.emptied(ops, trashes, looks = 2) {
          ops.list(trashes).filter(_.name.endsWith(s"-$operationId")).foreach(t => ops.deleteEmpty(t.path))
        }
      }
      Cleanup.job(folder, operationId)
    }
    !hasRecord
  }

  private def isUnderWay(operationId: String): Boolean =
    SideListing.records(folder.ops.list(folder.side))
      .exists(f => f.state == RecordState.Publishing && f.note.contains(operationId))

  // Mostly it was renamed when it became part of the history.
  override def removeRecord(record: Record): Unit = ops.delete(folder.record(record, RecordState.Publishing))

  override def discard(record: Record): Unit = {
    Cleanup.done(folder, record)
    Cleanup.job(folder, record.operationId)
  }
}

private[commit] object FolderPlaces {

  private def relocated(work: FolderWork, dir: String): FolderWork = if (work.folder == dir) work
  else {
    def here(path: String): String =
      FileNames.in(dir, if (work.folder.isEmpty) path else path.stripPrefix(s"${work.folder}/"))
    FolderWork(
      dir,
      work.inputs.map(i => i.copy(path = here(i.path))),
      work.outputs.map(o => o.copy(path = here(o.path), source = o.source.map(here))),
      work.lost.map(i => i.copy(path = here(i.path)))
    )
  }
}
