package org.sparkzorder.commit

import java.io.IOException

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * The retired files of one operation of this table.
 *
 * @param operation that retired them
 * @param record None when the operation was undone
 */
final case class RetiredFiles(operation: Record, record: Option[HistoryEntry], files: Seq[FileMeta]) {
  def version: Long = operation.version
  def bytes: Long = files.filterNot(_.isLink).map(_.length).sum
}

/** Retired files, which nobody but RESTORE reads. */
object Trash {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * All that is there, oldest version first: two listings of each folder, one of each trash.
   *
   * @param dirs folders to look into besides those that the records name: a partition may have been moved or copied since
   */
  def all(folder: TableFolder, history: Seq[HistoryEntry], dirs: Seq[String] = Nil): Seq[RetiredFiles] = {
    val ended = undone(folder)
    retired(folder, history, ended, listed(folder, dirs ++ foldersOf(ended ++ history.map(_.record))))
  }

  /** A folder that may hold retired files, in the trash, or in the staging of an operation that was given up. */
  private final case class Place(meta: FileMeta, isStaging: Boolean)

  private def foldersOf(records: Seq[Record]): Seq[String] = records.flatMap(_.folders.map(_.folder)).distinct

  private def listed(folder: TableFolder, dirs: Seq[String]): Seq[Place] =
    dirs.distinct.sorted.flatMap { dir =>
      def below(parent: Path, isStaging: Boolean) =
        folder.ops.list(parent).filter(_.isDirectory).map(Place(_, isStaging))
      below(folder.trashesOf(dir), isStaging = false) ++ below(folder.stagingsOf(dir), isStaging = true)
    }

  private def retired(
      folder: TableFolder,
      history: Seq[HistoryEntry],
      undone: Seq[Record],
      places: Seq[Place]
  ): Seq[RetiredFiles] = {
    val records = undone ++ history.map(_.record)
    // What no record of ours names is another table's, whose folder is one of ours as well.
    val byTrash = records.map(r => TableFolder.trashName(r) -> r).toMap
    val byStaging = records.map(r => TableFolder.stagingName(r) -> r).toMap
    val byId = records.map(r => r.operationId -> r).toMap
    val files = for {
      place <- places
      record <- ownerOf(place.meta, if (place.isStaging) byStaging else byTrash).toSeq
      file <- folder.ops.list(place.meta.path) if !file.isDirectory && isOf(record, file)
    } yield record.operationId -> file
    // Metrics report how much there was when somebody looked.
    Meters.trash(folder.root).set(files.map(_._2.length).sum)
    val entries = history.map(e => e.record.operationId -> e).toMap
    files.groupMap(_._1)(_._2).toSeq.map { case (id, metas) =>
      RetiredFiles(byId(id), entries.get(id), metas.sortBy(_.path.toString))
    }.sortBy(retired => (retired.version, retired.operation.operationId))
  }

  private def ownerOf(found: FileMeta, own: Map[String, Record]): Option[Record] = {
    val record = own.get(found.name)
    if (record.isEmpty) log.info(s"${found.path} is of no operation in this table's history and is left alone")
    record
  }

  /** Records of operations that were undone, but for damaged ones. */
  private def undone(folder: TableFolder): Seq[Record] =
    SideListing.records(folder.ops.list(folder.side)).filter(_.state == RecordState.Undone)
      .flatMap(History.readable(folder, _))

  /**
   * What VACUUM deletes, oldest version first. The rest of a trash that was half deleted goes in any case. Whether a RESTORE
   * undid the operations is not told.
   *
   * @param isOld whether an operation's retired files are to go
   * @param dirs as for [[all]]
   */
  def expired(folder: TableFolder, isOld: Record => Boolean, dirs: Seq[String] = Nil): Seq[RetiredFiles] =
    kept(folder, dirs).filter { retired =>
      retired.record match {
        case Some(entry) => entry.state == History.Vacuumed || isOld(entry.record)
        case None        => isOld(retired.operation)
      }
    }

  /** As [[all]]. Of the records in the checkpoint those are parsed that the trash names. */
  private def kept(folder: TableFolder, dirs: Seq[String]): Seq[RetiredFiles] = {
    val ended = undone(folder)
    val read = mutable.ArrayBuffer.empty[HistoryEntry]
    lazy val records: PublishedRecords = new PublishedRecords(folder, () => folder.ops.list(folder.side), () => asked)
    // Looked at when the checkpoint is reached. By then all records that are files have been read.
    lazy val looked = (dirs ++ records.folders.getOrElse(Nil) ++ foldersOf(ended ++ read.map(_.record))).toSet
    lazy val places = listed(folder, looked.toSeq)
    lazy val versions = places.flatMap(p => SideNames.trashVersion(p.meta.name)).toSet
    // The name of a staging has no version.
    def asked = if (records.folders.isEmpty || places.exists(_.isStaging)) None else Some(versions)
    records.foreach { case Published(file, record, outcome) =>
      val state = if (file.state == RecordState.Vacuumed) History.Vacuumed else History.Committed
      read += HistoryEntry(record, state, file.publishMillis, file.meta.modificationTime, outcome())
    }
    val history = read.toVector
    // A record that is still a file may be older than those in the checkpoint.
    if (foldersOf(history.map(_.record)).forall(looked)) retired(folder, history, ended, places)
    else all(folder, History.read(folder), dirs)
  }

  /**
   * Deletes the retired files of some versions. Needs the lock. The records say so first: from a trash that is half deleted
   * nothing is restored. If it fails the lock is abandoned, so that the next statement takes away empty folders.
   */
  def vacuum(folder: TableFolder, lock: Lock, retired: Seq[RetiredFiles]): Unit = if (retired.nonEmpty) {
    lock.check()
    val listing = lock.listing()
    val published = SideListing.records(listing).filter(_.state.isPublished).map(f => f.version -> f).toMap
    // One that was undone may have a version that was given again, and has a trash of its own. In the first format it has not:
    // then nothing is forgotten whose record just was not listed yet.
    val (known, undone) = retired.partition(_.record.isDefined)
    val alone =
      undone.filter(r => r.operation.format >= 2 || !published.get(r.version).exists(_.state == RecordState.Done))
    val gathered = known.filter(r => !published.contains(r.version) && !r.record.exists(_.state == History.Vacuumed))
    def mark(): Unit = Checkpoints.vacuum(folder, lock, gathered.map(_.version).toSet)
    try {
      known.flatMap(r => published.get(r.version)).filter(_.state == RecordState.Done).foreach { file =>
        folder.ops.rename(file.meta.path, folder.vacuumed(file))
        Failpoints.hit("vacuum-record")
      }
      val isMarked =
        try {
          mark()
          true
        } catch {
          // VACUUM is what helps when the disk is full, and RESTORE names the files that are gone.
          case e: IOException if Checkpoints.isClean(e) =>
            log.warn(s"deleting retired files of ${folder.root} before the history says so", e)
            false
        }
      (known ++ alone).foreach { gone =>
        delete(folder, lock, gone)
        Meters.trash(folder.root).addAndGet(-gone.bytes)
      }
      if (!isMarked) {
        try mark()
        catch {
          case e: IOException if Checkpoints.isClean(e) =>
            log.warn(s"the history of ${folder.root} does not say which retired files were deleted", e)
        }
      }
    } catch {
      case e: IOException =>
        lock.abandon()
        throw e
    }
  }

  private def delete(folder: TableFolder, lock: Lock, retired: RetiredFiles): Unit =
    retired.files.groupBy(_.path.getParent).toSeq.sortBy(_._1.toString).foreach { case (trash, files) =>
      lock.check()
      // A name of the first format may be another table's trash as well.
      if (retired.operation.format < 2) {
        files.foreach(f => folder.ops.delete(f.path))
        folder.ops.deleteEmpty(trash)
      } else folder.ops.deleteRecursive(trash)
      folder.ops.deleteEmpty(trash.getParent)
      // The table's own holds the lock, and stays.
      folder.ops.deleteEmpty(trash.getParent.getParent)
      Failpoints.hit("vacuum-1")
    }

  /** Whether a file in a trash is of the operation: only a name of the first format leaves a doubt. */
  private def isOf(record: Record, file: FileMeta): Boolean = record.format >= 2 || record.inputs.exists { input =>
    val name = FileNames.name(input.path)
    file.name == s"$name${FileNames.RetiredSuffix}" ||
    file.name == s"$name.${record.operationId}${FileNames.RetiredSuffix}"
  }

  /** Removes empty folders that a VACUUM left which died, for versions in the checkpoint. Needs the lock. */
  private[commit] def tidy(folder: TableFolder, lock: Lock): Unit =
    Checkpoints.newest(folder, lock.listing()).foreach { checkpoint =>
      val vacuumed = checkpoint.lines(folder).filter(_.file.state == RecordState.Vacuumed).flatMap { line =>
        val record = line.record
        record.folders.map(work => work.folder -> TableFolder.trashName(record))
      }.toSeq.groupMap(_._1)(_._2)
      vacuumed.foreach { case (dir, names) =>
        val there = folder.ops.list(folder.trashesOf(dir)).map(_.name).toSet
        names.filter(there).foreach(name => folder.ops.deleteEmpty(new Path(folder.trashesOf(dir), name)))
        folder.ops.deleteEmpty(folder.trashesOf(dir))
        if (dir.nonEmpty) folder.ops.deleteEmpty(folder.sideOf(dir))
      }
    }
}
