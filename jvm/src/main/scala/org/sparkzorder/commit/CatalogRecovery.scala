package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/** Ends operations that are published through the catalog, by the locations that it names. */
private[sparkzorder] object CatalogRecovery {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.Recovery")

  /** Whether a listing of the side folder shows an operation that has not ended. */
  def isNeeded(statuses: Seq[FileMeta]): Boolean =
    CatalogSideFiles.switches(statuses).nonEmpty || CatalogSideFiles.generations(statuses).nonEmpty

  /** Ends what dead owners left. Needs the lock, so that they cannot be alive. */
  def settle(home: TableFolder, lock: Lock, catalog: CatalogLocations): Unit = {
    val files = new CatalogSideFiles(home)
    val statuses = lock.listing()
    val switches = CatalogSideFiles.switches(statuses).filterNot(_ == lock.operationId)
    switches.foreach { id =>
      try {
        val record = files.readSwitch(id)
        val ended = end(home, lock, catalog, record, 0L, None, by = Some(lock.owner.describe))
        log.warn(s"Recovery of ${home.root}: ${if (ended.switches.isEmpty) "undid" else "finished"} operation $id")
      } catch {
        // The other process has just ended it.
        case _: FileNotFoundException   => ()
        case e: CommitConflictException => log.warn(s"Recovery of ${home.root}: operation $id", e)
      }
    }
    CatalogSideFiles.generations(statuses).filterNot(id => id == lock.operationId || switches.contains(id)).foreach {
      id =>
        val made = files.generation(id)
        refuseNamed(home, lock, catalog, made)
        discard(home, lock, id, made)
        log.warn(s"Recovery of ${home.root}: removed the files of operation $id")
    }
  }

  /** The last guard: no record says so, but the catalog may name a folder in it. */
  private def refuseNamed(home: TableFolder, lock: Lock, catalog: CatalogLocations, made: Option[Path]): Unit = {
    val ofMade = CatalogStateFile.read(home, lock.listing()).folders
      .filter(f => made.isDefined && VersionDirectory.generationOf(new Path(f.path)) == made)
    val now = catalog.current(ofMade.map(_.slot).distinct)
    ofMade.find(f => now.get(f.slot).map(_.toString).contains(f.path)).foreach { f =>
      throw new IOException(s"the catalog names ${f.path}, of which no operation tells")
    }
  }

  /**
   * Writes an operation into the history, with the slots that have moved. Can be done again.
   *
   * @param millis how long the catalog took
   * @param failure why some slots have not moved, if it is known
   * @return the record with the slots that have moved
   * @throws CommitConflictException when some have not
   */
  def end(
      home: TableFolder,
      lock: Lock,
      catalog: CatalogLocations,
      record: Record,
      millis: Long,
      failure: Option[String],
      by: Option[String] = None
  ): Record = {
    val files = new CatalogSideFiles(home)
    val now = catalog.current(record.switches.map(_.slot))
    val (moved, left) = record.switches.partition(s => now.get(s.slot).map(_.toString).contains(s.to))
    val listed = lock.listing()
    // Another operation may have got the number meanwhile, if this one was taken for dead.
    val newest = SideListing.newestPublished(listed)
    val isThere = isInHistory(home, listed, record)
    val version = if (!isThere && newest >= record.version) newest + 1 else record.version
    val ended = record.copy(switches = moved, version = version)
    if (moved.nonEmpty) {
      if (!isThere) put(home, lock, home.published(_, millis), ended)
      by.foreach(who => Outcome.note(home, ended, "its owner died while the catalog was told", Some(who)))
    } else {
      put(home, lock, home.undone, ended)
      Outcome.note(home, ended, failure.getOrElse("the catalog has not moved any of its folders"), by)
    }
    if (left.nonEmpty) abandon(home, lock, left.map(_.to).toSet)
    lock.check()
    files.remove(record.operationId)
    if (left.nonEmpty)
      throw new CommitConflictException(
        left.map(_.slot.toString),
        failure.getOrElse("the catalog names another location by now")
      )
    ended
  }

  /** A call may still be on the way to the catalog, so the folders stay. */
  private def abandon(home: TableFolder, lock: Lock, paths: Set[String]): Unit = {
    val state = CatalogStateFile.read(home, lock.listing())
    val some = state.folders.filter(f => paths(f.path) && !f.abandoned)
    if (some.nonEmpty) CatalogStateFile.write(home, lock, state.updated(some.map(_.copy(abandoned = true))))
  }

  /**
   * Tells the catalog again where the slots are whose locations are folders of operations that were
   * given up: a call that had hung took effect later.
   *
   * @param settled where the newest operation in the history put each slot
   */
  def returnAbandoned(
      home: TableFolder,
      lock: Lock,
      catalog: CatalogLocations,
      current: Map[CatalogPartition, Path],
      settled: CatalogPartition => Option[Path]
  ): Unit = {
    val state = CatalogStateFile.read(home, lock.listing())
    val moves = current.toSeq.flatMap { case (slot, path) =>
      state.folder(path).filter(_.abandoned).flatMap { folder =>
        settled(slot).orElse(folder.watches.find(!_.newer).map(w => new Path(w.folder))).map(LocationUpdate(
          slot,
          path,
          _
        ))
      }
    }
    if (moves.nonEmpty) {
      log.warn(
        s"Recovery of ${home.root}: the catalog names folders of operations that were given up, and is told again"
      )
      lock.check()
      catalog.move(moves)
    }
  }

  private def isInHistory(home: TableFolder, listed: Seq[FileMeta], record: Record): Boolean =
    SideListing.records(listed).filter(_.state.isPublished).takeWhile(_.version >= record.version)
      .exists(f => RecordJson.read(home, f).operationId == record.operationId)

  private def put(home: TableFolder, lock: Lock, path: Record => Path, record: Record): Unit =
    if (!home.ops.exists(path(record)))
      AtomicFile.put(home.ops, home.newTemporary(), path(record), RecordJson.write(record))(lock.check())

  /** Deletes the folder of an operation that never told the catalog of it. */
  def discard(home: TableFolder, lock: Lock, operationId: String, generation: Option[Path]): Unit = {
    val files = new CatalogSideFiles(home)
    lock.check()
    // First the manifest, then the look: see `CatalogCommitter.refuseDiscarded`.
    files.removeManifest(operationId)
    Failpoints.hit("after-manifest-removed")
    if (!files.hasSwitch(operationId)) generation.foreach { made =>
      val state = CatalogStateFile.read(home, lock.listing())
      val entries = state.folders.map(_.path).filter(p => VersionDirectory.generationOf(new Path(p)).contains(made))
      if (entries.nonEmpty) CatalogStateFile.write(home, lock, state.without(entries.toSet))
      remove(home, made, operationId)
    }
  }

  /** Deletes a generation, with uploads that are open in it. */
  private[commit] def remove(home: TableFolder, generation: Path, operationId: String): Unit = {
    ObjectFileOps.storeOf(home).foreach { store =>
      StorePlaces.discard(store, TableFolder(generation, home.ops, home.threads), operationId)
    }
    home.ops.deleteRecursive(generation)
    VersionDirectory.parentOf(home.root).foreach(home.ops.deleteEmpty)
  }
}
