package org.sparkzorder.commit

import java.io.IOException

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.progress.{Phase, StatementProgress}

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
   * All retired files, oldest version first. It lists two folders in each data folder, and each
   * trash.
   *
   * @param dirs folders to look into besides those that the records name: a partition may have been
   *             moved or copied
   */
  def all(folder: TableFolder, history: Seq[HistoryEntry], dirs: Seq[String] = Nil): Seq[RetiredFiles] = {
    val ended = undone(folder)
    retired(folder, history, ended, listed(folder, dirs ++ foldersOf(ended ++ history.map(_.record))))
  }

  /**
   * A folder that may hold retired files, in the trash, or in the staging of an operation that was
   * given up.
   */
  private final case class Place(meta: FileMeta, isStaging: Boolean) {

    /** The path of the folder of data. */
    def dir: String = meta.path.getParent.getParent.getParent.toString
  }

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
    // A trash that no record of ours names belongs to another table, which shares the folder with
    // this one.
    val byTrash = records.map(r => TableFolder.trashName(r) -> r).toMap
    val byStaging = records.map(r => TableFolder.stagingName(r) -> r).toMap
    val byId = records.map(r => r.operationId -> r).toMap
    val published = history.map(e => TableFolder.stagingName(e.record) -> e.record).toMap
    val takenBack = undone.map(r => TableFolder.trashName(r) -> r).toMap
    val halfDone = places.flatMap { place =>
      if (place.isStaging) published.get(place.meta.name).filter(waitsPublished(folder, place, _)).map(place -> _)
      else takenBack.get(place.meta.name).filter(waitsUndone(folder, place, _)).map(place -> _)
    }.map { case (place, record) => (place.dir, record.operationId) }.toSet
    val files = for {
      place <- places
      record <- ownerOf(place.meta, if (place.isStaging) byStaging else byTrash).toSeq
      if !halfDone((place.dir, record.operationId))
      file <- folder.ops.list(place.meta.path) if !file.isDirectory
    } yield record.operationId -> file
    // Metrics report the size at the last look.
    Meters.trash(folder.root).set(files.map(_._2.length).sum)
    val entries = history.map(e => e.record.operationId -> e).toMap
    files.groupMap(_._1)(_._2).toSeq.map { case (id, metas) =>
      RetiredFiles(byId(id), entries.get(id), metas.sortBy(_.path.toString))
    }.sortBy(retired => (retired.version, retired.operation.operationId))
  }

  /**
   * Whether rows wait in a folder that was away while an operation ended, and is back: outputs of a
   * published operation in its staging, or inputs of an undone one in its trash. An undo that finds a
   * folder gives inputs that cannot return another name, see [[Cleanup.undoing]].
   *
   * @param names of the files, with their lengths
   */
  private def waits(folder: TableFolder, place: Place, ended: String, names: Set[(String, Long)]): Boolean = {
    val found = folder.ops.list(place.meta.path).exists(m => !m.isDirectory && names(m.name -> m.length))
    if (found) log.warn(
      s"${place.dir} was not in the table while $ended. Rows wait in its side folder, so its staging and its trash are kept. " +
        "See docs/on-call.md"
    )
    found
  }

  private def waitsPublished(folder: TableFolder, place: Place, record: Record): Boolean = {
    val outputs = record.outputs.map(o => FileNames.stagedName(o.path) -> o.length).toSet
    waits(folder, place, s"version ${record.version} was published", outputs)
  }

  private def waitsUndone(folder: TableFolder, place: Place, record: Record): Boolean = {
    val inputs = record.inputs.map(i => FileNames.retiredName(i.path) -> i.length).toSet
    waits(folder, place, "an operation was undone", inputs)
  }

  private def ownerOf(found: FileMeta, own: Map[String, Record]): Option[Record] = {
    val record = own.get(found.name)
    if (record.isEmpty) log.info(s"${found.path} is of no operation in this table's history and is left alone")
    record
  }

  /** Records of operations that were undone, without damaged ones. */
  private def undone(folder: TableFolder): Seq[Record] =
    SideListing.records(folder.ops.list(folder.side)).filter(_.state == RecordState.Undone)
      .flatMap(History.readable(folder, _))

  /**
   * The files that VACUUM deletes, oldest version first. The rest of a trash that was half deleted
   * is always among them. The entries do not say whether a RESTORE undid the operations.
   *
   * @param isOld whether an operation's retired files may go
   * @param dirs as for [[all]]
   */
  def expired(folder: TableFolder, isOld: Record => Boolean, dirs: Seq[String] = Nil): Seq[RetiredFiles] =
    kept(folder, dirs).filter { retired =>
      retired.record match {
        case Some(entry) => entry.state == History.Vacuumed || isOld(entry.record)
        case None        => isOld(retired.operation)
      }
    }

  /**
   * The same as [[all]], but it parses only those records in the checkpoint whose trash is there.
   */
  private def kept(folder: TableFolder, dirs: Seq[String]): Seq[RetiredFiles] = {
    val ended = undone(folder)
    val read = mutable.ArrayBuffer.empty[HistoryEntry]
    lazy val records: PublishedRecords =
      new PublishedRecords(folder, () => folder.ops.list(folder.side), () => neededVersions)
    // Evaluated when the checkpoint is reached. By then all records that are files have been read.
    lazy val looked = (dirs ++ records.folders ++ foldersOf(ended ++ read.map(_.record))).toSet
    lazy val places = listed(folder, looked.toSeq)
    lazy val versions = places.flatMap(p => SideNames.trashVersion(p.meta.name)).toSet
    // A staging folder has no version in its name, so all records are needed to find its operation.
    def neededVersions = if (places.exists(_.isStaging)) None else Some(versions)
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
   * Deletes the retired files of some versions. Needs the lock. The records are marked first, so
   * that RESTORE never uses a trash that is half deleted. If it fails the lock is abandoned, so
   * that the next statement removes empty folders.
   */
  def vacuum(folder: TableFolder, lock: Lock, retired: Seq[RetiredFiles]): Unit = if (retired.nonEmpty) {
    retired.foreach(refuseTied(folder, _))
    lock.check()
    val listing = lock.listing()
    val published = SideListing.records(listing).filter(_.state.isPublished).map(f => f.version -> f).toMap
    val known = retired.filter(_.record.isDefined)
    val inCheckpoint =
      known.filter(r => !published.contains(r.version) && !r.record.exists(_.state == History.Vacuumed))
    def marks(orElse: String): Boolean = marked(folder, lock, inCheckpoint.map(_.version).toSet, orElse)
    StatementProgress.current.foreach(_.enter(Phase.Deleting, until = 1, files = retired.map(_.files.size.toLong).sum))
    try {
      known.flatMap(r => published.get(r.version)).filter(_.state == RecordState.Done).foreach { file =>
        folder.ops.rename(file.meta.path, folder.vacuumed(file))
        Failpoints.hit("vacuum-record")
      }
      // On a full disk, VACUUM deletes first and marks afterwards. RESTORE looks at every file, so
      // it refuses nevertheless.
      val isMarked = marks(orElse = s"deleting retired files of ${folder.root} before the history says so")
      retired.foreach { of =>
        delete(folder, lock, of)
        Meters.trash(folder.root).addAndGet(-of.bytes)
      }
      if (!isMarked) marks(orElse = s"the history of ${folder.root} does not say which retired files were deleted")
      ()
    } catch {
      case e: IOException =>
        lock.abandon()
        throw e
    }
  }

  /**
   * Key material of a retired file may still be in its folder. Back under its name, the file could be
   * read.
   */
  private def refuseTied(folder: TableFolder, retired: RetiredFiles): Unit =
    retired.operation.inputs.groupBy(_.folder).foreach { case (dir, inputs) =>
      val there = folder.ops.list(folder.resolve(dir))
      if (there.exists(m => TiedNames.mayBe(m.name)))
        TiedNames.refuse(
          there,
          inputs.map(i => FileNames.name(i.path)).toSet -- there.map(_.name),
          TiedFileException.Deletes
        )
    }

  /**
   * Marks versions that are in the checkpoint as vacuumed. False when that failed and left nothing
   * behind.
   */
  private def marked(folder: TableFolder, lock: Lock, versions: Set[Long], orElse: String): Boolean =
    try {
      Checkpoints.vacuum(folder, lock, versions)
      true
    } catch {
      case e: IOException if Checkpoints.isClean(e) =>
        log.warn(orElse, e)
        false
    }

  private def delete(folder: TableFolder, lock: Lock, retired: RetiredFiles): Unit =
    retired.files.groupBy(_.path.getParent).toSeq.sortBy(_._1.toString).foreach { case (trash, files) =>
      lock.check()
      folder.ops.deleteRecursive(trash)
      StatementProgress.current.foreach(_.done(Phase.Deleting, files.size.toLong))
      folder.ops.deleteEmpty(trash.getParent)
      // The root's side folder is not empty, as the lock is in it.
      folder.ops.deleteEmpty(trash.getParent.getParent)
      Failpoints.hit("vacuum-1")
    }

  /**
   * Removes empty folders that a dead VACUUM left, for versions in the checkpoint. Needs the lock.
   */
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
