package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * An earlier folder whose files VACUUM deletes.
 *
 * @param operations that made slots leave it
 */
final case class ExpiredFolder(folder: Path, operations: Set[String], files: Seq[FileMeta]) {
  def bytes: Long = files.map(_.length).sum
}

/** Deletes earlier folders of a table that is published through the catalog. */
private[sparkzorder] object CatalogVacuum {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * What may be deleted: known files of folders that slots have left.
   *
   * @param current where the catalog says that the slots are
   * @param settled where the newest operation in the history put each slot. If a slot is elsewhere its
   *                location was set by others, and nothing of it is deleted
   * @param isOld whether the files that an operation left behind may go
   */
  def expired(
      home: TableFolder,
      state: CatalogState,
      current: Map[CatalogPartition, Path],
      settled: CatalogPartition => Option[Path],
      isOld: Watch => Boolean
  ): Seq[ExpiredFolder] = {
    val (sure, unsure) = current.toSeq.filter { case (_, path) => state.folder(path).isDefined }
      .partition { case (slot, path) => settled(slot).contains(path) }
    unsure.headOption.foreach { case (slot, path) =>
      log.warn(s"$slot of ${home.root} is at $path, where no operation put it, so its earlier folders are kept")
    }
    val slots = sure.map(_._1).toSet
    val inUse = current.values.map(_.toString).toSet
    val left = for {
      owner <- state.folders if slots(owner.slot)
      watch <- owner.watches if !watch.newer && !inUse(watch.folder) && watch.known.nonEmpty
    } yield watch
    // Late files that were brought over. One that is a row of another slot by now is not among them.
    val had = sure.map { case (_, path) => state.rowsIn(path) }
    left.groupBy(_.folder).toSeq.sortBy(_._1)
      .filter { case (_, watches) => watches.forall(w => w.vacuumed || isOld(w)) }
      .map { case (folder, watches) =>
        val path = new Path(folder)
        val listed = home.ops.list(path)
        val files = listed.filter(m => watches.exists(_.knows(m)) || StaleAppends.isVisible(m) && had.exists(_(m)))
        TiedNames.refuse(listed, files.map(_.name).toSet, TiedFileException.Deletes)
        ExpiredFolder(path, watches.map(_.operationId).toSet, files)
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
      current: Set[Path],
      now: Long
  ): Unit = {
    val state = CatalogStateFile.read(home, lock.listing())
    val gone = expired.map(e => e.folder.toString -> e.files.map(_.name).toSet).toMap
    mark(home, lock, expired.flatMap(_.operations).toSet)
    // Before the first file is gone, so that this is not taken for an overwrite.
    val marked = state.outdatedBy(expired.map(e => e.folder.toString -> e.files).toMap, current)
      .changed((_, w) => if (gone.contains(w.folder)) w.copy(vacuumed = true) else w)
    if (marked != state) CatalogStateFile.write(home, lock, marked)
    Failpoints.hit("vacuum-record")
    expired.foreach { e =>
      WorkerThreads.each(e.files, home.threads) { f =>
        lock.checkInARow()
        home.ops.delete(f.path)
      }
      Failpoints.hit("vacuum-1")
    }
    val before = CatalogStateFile.read(home, lock.listing())
    // Files that were brought over in this moment stay known, and are deleted by the next VACUUM.
    val emptied = before.changed { (_, w) =>
      gone.get(w.folder).fold(w)(names => w.copy(known = w.known.filterNot(k => names(k.name))))
    }
    val lost = emptied.folders.filter(f => isGivenUp(f, current, now)).map(_.path).toSet
    val after = trimmed(home, emptied.without(lost))
    if (after != before) CatalogStateFile.write(home, lock, after)
    (lost ++ emptyFolders(home, after, current, now)).toSeq.sorted.foreach(f => remove(home, lock, new Path(f)))
  }

  /** Without the names of files of which neither the original nor a copy is left. */
  private def trimmed(home: TableFolder, state: CatalogState): CatalogState =
    if (state.folders.forall(_.has.isEmpty)) state
    else {
      val folders = state.folders.flatMap(f => f.path +: f.watches.map(_.folder)).distinct
      val left = WorkerThreads.map(folders, home.threads) { folder =>
        home.ops.list(new Path(folder)).filter(StaleAppends.isVisible).map(CarriedName.of)
      }.flatten.toSet
      state.copy(folders = state.folders.map(f => f.copy(has = f.has.filter(left))))
    }

  /** The folder of an operation that was undone a day ago: its call does not come any more. */
  private def isGivenUp(f: CatalogFolder, current: Set[Path], now: Long): Boolean =
    f.abandoned && !current(new Path(f.path)) && VersionDirectory.generationOf(new Path(f.path)).isDefined &&
      f.watches.forall(w => now - w.since > Watch.LeastMillis)

  /** Generations whose files were deleted, once no writer is expected there any more. */
  private def emptyFolders(home: TableFolder, state: CatalogState, current: Set[Path], now: Long): Set[String] =
    state.folders.flatMap(_.watches).groupBy(_.folder).filter { case (folder, watches) =>
      watches.filterNot(_.newer).forall(_.isDormant(now)) && watches.exists(!_.newer) && !current(new Path(folder))
    }.keySet.filter { folder =>
      val listed = home.ops.list(new Path(folder))
      listed.nonEmpty && !listed.exists(StaleAppends.isVisible)
    }

  private def remove(home: TableFolder, lock: Lock, folder: Path): Unit = {
    lock.check()
    log.info(s"deletes $folder, which the catalog does not name any more")
    home.ops.deleteRecursive(folder)
    // The generation goes with its last folder, and their parent with the last generation.
    VersionDirectory.generationOf(folder).foreach { generation =>
      Iterator.iterate(folder.getParent)(_.getParent).takeWhile(_.depth >= generation.depth - 1)
        .foreach(home.ops.deleteEmpty)
    }
  }

  /** RESTORE goes back to none of these operations' earlier folders any more. */
  private def mark(home: TableFolder, lock: Lock, operations: Set[String]): Unit = if (operations.nonEmpty) {
    lock.check()
    val files = SideListing.records(lock.listing()).filter(_.state == RecordState.Done)
    files.foreach { file =>
      if (operations(RecordJson.read(home, file).operationId)) home.ops.rename(file.meta.path, home.vacuumed(file))
    }
    val names = files.map(_.version).toSet
    val gathered = History.read(home)
      .filter(e => operations(e.record.operationId) && e.state != History.Vacuumed && !names(e.record.version))
      .map(_.record.version).toSet
    if (gathered.nonEmpty) Checkpoints.vacuum(home, lock, gathered)
  }
}
