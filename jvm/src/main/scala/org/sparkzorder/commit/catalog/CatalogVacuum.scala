package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{History, HistoryEntry, HistorySettings}

/**
 * An earlier folder whose files VACUUM deletes.
 *
 * @param left how the table left it
 */
private[sparkzorder] final case class ExpiredFolder(left: LeftFolder, files: Seq[FileMeta]) {
  def folder: Path = new Path(left.folder)
  def bytes: Long = files.map(_.length).sum
}

private[sparkzorder] object CatalogVacuum {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * What may be deleted: files of folders that the table has left whose rows are known to be in the folder that the
   * catalog names.
   *
   * @param isOld whether the files that an operation replaced may go, by its id
   * @param now milliseconds since 1970
   */
  def expired(home: TableFolder, view: CatalogView, isOld: String => Boolean, now: Long): Seq[ExpiredFolder] = {
    view.located.keys.toSeq.flatMap(view.earlier).sortBy(_.folder).filter { left =>
      // The catalog may still come to name the folder of an operation that was given up.
      if (left.isGivenUp) StaleAppends.isUnused(left, now) else isOld(left.last.operationId)
    }.map { left =>
      val folder = new Path(left.folder)
      val listed = home.ops.list(folder)
      lazy val carried = FolderNotes.in(folder, home.ops).carried
      val files = listed.filter(m => StaleAppends.isVisible(m) && (left.isReplaced(m) || carried.has(m)))
      CompanionNames.refuse(listed, files.map(_.name).toSet, CompanionFileException.Deletes)
      ExpiredFolder(left, files)
    }
  }

  /**
   * Deletes the files. Needs the lock.
   *
   * @param now milliseconds since 1970
   */
  def run(
      home: TableFolder,
      lock: Lock,
      expired: Seq[ExpiredFolder],
      history: LocationHistory,
      now: Long,
      settings: HistorySettings = HistorySettings()
  ): Unit = {
    mark(home, lock, expired.flatMap(_.left.versions).toSet)
    expired.filter(_.files.nonEmpty).foreach { e =>
      lock.check()
      FolderNotes.leave(e.folder, FolderNotes.vacuumed(e.left.last.operationId), home.ops)
      val carried = FolderNotes.in(e.folder, home.ops).carried
      WorkerThreads.each(e.files, home.threads) { f =>
        lock.checkInARow()
        home.ops.delete(f.path)
        // Hive gives the names of its files again.
        if (carried.has(f)) FolderNotes.forget(e.folder, f, home.ops)
      }
    }
    expired.filter(e => StaleAppends.isUnused(e.left, now)).foreach(e => removeIfEmpty(home, lock, e.folder))
    History.forget(home, lock, settings.forgotten(History.read(home), now)(isGone(home, history, _)))
  }

  private def removeIfEmpty(home: TableFolder, lock: Lock, folder: Path): Unit =
    VersionDirectory.generationOf(folder).foreach { directory =>
      if (!home.ops.list(folder).exists(StaleAppends.isVisible)) {
        lock.check()
        log.info(s"deletes $folder, which the catalog does not name any more")
        // Only what is ours: a file may come at this moment.
        val side = new Path(folder, SideNames.Side)
        // VACUUM's own note goes last: without it the files would be missing from a folder that has the other notes.
        home.ops.list(side).filter(FolderNotes.isOne).sortBy(_.name).foreach(note => home.ops.delete(note.path))
        home.ops.deleteEmpty(side)
        home.ops.deleteEmpty(folder)
        // The version's folder goes with its last partition, and their parent with the last version.
        Iterator.iterate(folder.getParent)(_.getParent).takeWhile(_.depth >= directory.depth - 1)
          .foreach(home.ops.deleteEmpty)
      }
    }

  /**
   * Whether no file of an operation is left in the folders that the table left. A file that stays would be taken for a
   * stale append without its record.
   */
  private def isGone(home: TableFolder, history: LocationHistory, entry: HistoryEntry): Boolean =
    entry.state == History.Vacuumed && entry.record.locationChanges.forall { change =>
      // The record of a present location tells which files were brought there.
      history.leftBy(change.to).isDefined && {
        val isReplaced = history.replacedIn(change.from)
        !home.ops.list(new Path(change.from)).exists(m => StaleAppends.isVisible(m) && isReplaced(m))
      }
    }

  /** RESTORE goes back to none of these operations' earlier folders any more. */
  private def mark(home: TableFolder, lock: Lock, versions: Set[Long]): Unit = if (versions.nonEmpty) {
    lock.check()
    SideListing.records(lock.listing()).filter(f => f.state == RecordState.Done && versions(f.version))
      .foreach(f => home.ops.rename(f.meta.path, home.vacuumed(f)))
  }
}
