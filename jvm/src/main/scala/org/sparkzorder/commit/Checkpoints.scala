package org.sparkzorder.commit

import java.io.IOException
import java.util.Arrays

import org.slf4j.LoggerFactory

/**
 * How many records stay files, and for how long records are kept.
 *
 * @param retentionMillis age at which an operation is forgotten if nothing depends on it any more
 * @param kept so many of the newest records stay files, because queries read them
 * @param most with more record files than this, a checkpoint is made
 * @param keptBytes `kept` in bytes, since a record of 10,000 files is long; one record stays,
 *                  however long it is
 * @param mostBytes `most` in bytes
 * @param batch how many records are gathered at a time; a table may come with tens of thousands of
 *              record files
 * @param batchBytes `batch` in bytes of record files
 */
final case class HistorySettings(
    retentionMillis: Long = 30L * 24 * 3600 * 1000,
    kept: Int = 16,
    most: Int = 48,
    keptBytes: Long = 4L << 20,
    mostBytes: Long = 16L << 20,
    batch: Int = 4096,
    batchBytes: Long = 16L << 20
)

/**
 * Gathers published records into one file, so that the side folder stays small however many
 * operations there were.
 *
 * A checkpoint is complete and was read back before the records in it are deleted. A crash in
 * between may leave a record in both. Then its own file counts. All calls need the lock.
 */
private[commit] object Checkpoints {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /** The lock is checked after so many deletes. */
  private val DeletesPerCheck = 64

  /**
   * Makes a checkpoint if there are many record files, and prunes old records when it is time. If
   * that fails, the next operation tries again.
   *
   * @param listed a listing of the side folder under the lock, if there is one
   * @throws java.io.IOException when a temporary file is left over, which the next statement must
   *   remove
   */
  def fold(folder: TableFolder, lock: Lock, settings: HistorySettings, listed: Option[Seq[FileMeta]] = None): Unit =
    try tryFold(folder, lock, settings, listed.getOrElse(lock.listing()))
    catch {
      case e: IOException if isClean(e) => log.warn(s"cannot gather the records of ${folder.root} now", e)
    }

  /**
   * Whether nothing was left behind: [[AtomicFile]] adds an exception if it cannot delete its
   * temporary file.
   */
  private[commit] def isClean(e: IOException): Boolean = e.getSuppressed.isEmpty

  private def tryFold(folder: TableFolder, lock: Lock, settings: HistorySettings, listing: Seq[FileMeta]): Unit = {
    val published = SideListing.records(listing).filter(_.state.isPublished)
    if (published.size > settings.most || published.map(_.meta.length).sum > settings.mostBytes) {
      foldAll(folder, lock, listing, settings)
    } else if (SideListing.checkpoints(listing).size > 1) {
      newest(folder, listing).foreach { c =>
        superseded(SideListing.checkpoints(listing), c.file).foreach(o => folder.ops.delete(o.meta.path))
      }
    }
  }

  private def foldAll(folder: TableFolder, lock: Lock, listing: Seq[FileMeta], settings: HistorySettings): Unit = {
    val published = SideListing.records(listing).filter(_.state.isPublished)
    val bytes = published.map(_.meta.length).scanLeft(0L)(_ + _).tail
    val kept = math.min(settings.kept, math.max(1, bytes.count(_ <= settings.keptBytes)))
    val files = published.drop(kept).reverse
    val batches = batchesOf(files, settings)
    val now = listing.find(_.name == lock.path.getName).map(_.modificationTime)
    // Each step continues with what the last one has written, since a listing may come late.
    batches.zipWithIndex.foldLeft(present(folder, listing)) { case (before, (batch, i)) =>
      val isLast = i == batches.size - 1
      val retention = if (isLast) now.map(HistoryRetention(_, settings.retentionMillis)) else None
      rewrite(folder, lock, listing, before, batch.reverse, Set.empty, retention)
    }
    ()
  }

  /**
   * Cuts the records, oldest first, into batches. A record that is longer than a batch has one of
   * its own.
   */
  private def batchesOf(files: Seq[RecordFile], settings: HistorySettings): Seq[Seq[RecordFile]] = {
    var (number, bytes, count) = (0, 0L, 0)
    val numbered = files.map { file =>
      if (count > 0 && (count >= settings.batch || bytes + file.meta.length > settings.batchBytes)) {
        number += 1
        bytes = 0
        count = 0
      }
      bytes += file.meta.length
      count += 1
      number -> file
    }
    numbered.groupMap(_._1)(_._2).toSeq.sortBy(_._1).map(_._2)
  }

  /** Marks versions that are in the checkpoint as vacuumed, all at once. */
  def vacuum(folder: TableFolder, lock: Lock, versions: Set[Long]): Unit =
    if (versions.nonEmpty) {
      val listing = lock.listing()
      rewrite(folder, lock, listing, present(folder, listing), Nil, versions, None)
      ()
    }

  /** The newest checkpoint of a listing that can be read. */
  def newest(folder: TableFolder, listing: Seq[FileMeta]): Option[Checkpoint] =
    SideListing.checkpoints(listing).iterator.flatMap { file =>
      try Some(Checkpoint.read(folder, file))
      catch {
        case e: UnreadableRecordException =>
          log.warn(s"the operations up to version ${file.version} are left out of the history", e)
          None
      }
    }.nextOption()

  /**
   * The checkpoints of a table.
   *
   * @param newest the newest that can be read
   * @param files all of them, readable or not
   */
  private final case class Present(newest: Option[Checkpoint], files: Seq[CheckpointFile])

  private def present(folder: TableFolder, listing: Seq[FileMeta]): Present =
    Present(newest(folder, listing), SideListing.checkpoints(listing))

  /**
   * Writes a checkpoint that replaces the newest one.
   *
   * @param files records to gather, newest first
   * @param vacuumed versions whose retired files are about to be deleted
   * @param retention when given, old records may be left out
   * @return the checkpoints afterwards
   */
  private def rewrite(
      folder: TableFolder,
      lock: Lock,
      listing: Seq[FileMeta],
      before: Present,
      files: Seq[RecordFile],
      vacuumed: Set[Long],
      retention: Option[HistoryRetention]
  ): Present = {
    val old = before.newest
    val outcomes = listing.map(_.name).filter(_.endsWith(SideNames.OutcomeSuffix)).toSet
    val gathered = files.flatMap(line(folder, _, outcomes))
    if (gathered.isEmpty && (vacuumed.isEmpty || old.isEmpty)) before
    else {
      def lines = merged(gathered.iterator, old.fold(Iterator[CheckpointLine]())(_.lines(folder)), vacuumed)
      val due = retention.filter(_.isDue(old.fold(0L)(_.prunedAt)))
      val forgotten = due.fold(Set.empty[Long])(_.forgotten(folder, lines))
      val writer = new CheckpointWriter(head(folder, gathered, old, lines, due, forgotten))
      // Records that stay as they are need not be compressed again.
      old.map(_.records).filter(_ => isNewer(gathered, old) && vacuumed.isEmpty && forgotten.isEmpty) match {
        case Some(records) =>
          gathered.foreach(writer.add)
          writer.append(records)
        case None => lines.filterNot(l => forgotten(l.file.version)).foreach(writer.add)
      }
      val version = math.max(gathered.headOption.fold(0L)(_.file.version), old.fold(0L)(_.file.version))
      val number = before.files.map(_.number).maxOption.getOrElse(0L) + 1
      val bytes = writer.result()
      val written = write(folder, lock, version, number, bytes)
      val replaced = superseded(before.files, written)
      replaced.foreach(o => folder.ops.delete(o.meta.path))
      deleteGathered(folder, lock, gathered)
      if (forgotten.nonEmpty) log.info(s"forgot ${forgotten.size} old operations of ${folder.root}")
      Present(Some(Checkpoint.parse(written, bytes)), written +: before.files.filterNot(replaced.contains))
    }
  }

  /**
   * The first section of a new checkpoint.
   *
   * @param lines all records, also those that are forgotten
   * @param due when given, forgotten records were looked for now
   */
  private def head(
      folder: TableFolder,
      gathered: Seq[CheckpointLine],
      old: Option[Checkpoint],
      lines: => Iterator[CheckpointLine],
      due: Option[HistoryRetention],
      forgotten: Set[Long]
  ): CheckpointHead = {
    def records(some: Iterator[CheckpointLine]) = some.filterNot(l => forgotten(l.file.version)).map(_.record)
    def foldersOf(some: Iterator[Record]) = some.flatMap(_.folders.map(_.folder)).toSet
    val prunedAt = due.fold(old.fold(0L)(_.prunedAt))(_.now)
    val isThinnedEnough =
      forgotten.isEmpty && isNewer(gathered, old) && !gathered.exists(l => WrittenFiles.hasReturned(l.record))
    val written = old.map(_.written(folder)).filter(_ => isThinnedEnough) match {
      case Some(thinned) => WrittenFiles.of(gathered.iterator, thinned, Set.empty)
      case None          => WrittenFiles.of(lines, Iterator.empty, forgotten)
    }
    // The hashes and folders of forgotten records must go as well, so all are computed anew.
    if (forgotten.nonEmpty)
      CheckpointHead(
        prunedAt,
        RetiredNames.added(Array.emptyLongArray, records(lines)),
        foldersOf(records(lines)),
        written
      )
    else {
      val retired = RetiredNames.added(old.fold(Array.emptyLongArray)(_.retired), gathered.iterator.map(_.record))
      val folders = old.fold(Set.empty[String])(_.folders) ++ foldersOf(gathered.iterator.map(_.record))
      CheckpointHead(prunedAt, retired, folders, written)
    }
  }

  /**
   * Whether all records to gather are newer than the checkpoint. After a crash some may be in the
   * checkpoint already.
   */
  private def isNewer(gathered: Seq[CheckpointLine], old: Option[Checkpoint]): Boolean =
    old.forall(c => gathered.forall(_.file.version > c.file.version))

  private def deleteGathered(folder: TableFolder, lock: Lock, gathered: Seq[CheckpointLine]): Unit =
    gathered.grouped(DeletesPerCheck).foreach { some =>
      lock.check()
      some.foreach { l =>
        folder.ops.delete(l.file.meta.path)
        if (l.outcome.isDefined) folder.ops.delete(folder.outcome(l.record))
        Failpoints.hit("checkpoint-delete-1")
      }
    }

  /**
   * The older checkpoints. A damaged one of a higher version stays: it may be possible to repair
   * it.
   */
  private def superseded(there: Seq[CheckpointFile], by: CheckpointFile): Seq[CheckpointFile] =
    there.filter(c => c.version <= by.version && c.number < by.number)

  private def write(
      folder: TableFolder,
      lock: Lock,
      version: Long,
      number: Long,
      bytes: Array[Byte]
  ): CheckpointFile = {
    val ops = folder.ops
    val temporary = folder.newTemporary()
    val target = folder.checkpoint(version, number)
    AtomicFile.put(ops, temporary, target, bytes) {
      Failpoints.hit("checkpoint-written")
      // The records are deleted next, and there is no other copy.
      if (!Arrays.equals(ops.read(temporary, RecordJson.ReadLimit), bytes))
        throw new IOException(s"$temporary is not what was written")
      lock.check()
    }
    Failpoints.hit("checkpoint-renamed")
    CheckpointFile(version, number, AtomicFile.written(ops, target))
  }

  /** None when the record is damaged, which is logged. Then it stays a file. */
  private def line(folder: TableFolder, file: RecordFile, outcomes: Set[String]): Option[CheckpointLine] =
    try {
      val (record, bytes) = RecordJson.readWithBytes(folder, file)
      // A record that was written by hand may have several lines.
      val json =
        if (bytes.exists(b => b == '\n' || b == '\r')) RecordJson.write(record) else bytes
      val outcome =
        if (outcomes.nonEmpty && outcomes(folder.outcome(record).getName))
          Outcome.read(folder, record).map(Outcome.write).map(utf8)
        else None
      Some(CheckpointLine(file, outcome, utf8(json)))
    } catch {
      case e: UnreadableRecordException =>
        log.warn("not gathered into the checkpoint", e)
        None
    }

  private def utf8(bytes: Array[Byte]): String = new String(bytes, java.nio.charset.StandardCharsets.UTF_8)

  /**
   * Newest first. If a version is in both, the file counts, but it is vacuumed if it is vacuumed in
   * any place.
   */
  private def merged(
      files: Iterator[CheckpointLine],
      lines: Iterator[CheckpointLine],
      vacuumed: Set[Long]
  ): Iterator[CheckpointLine] = {
    val (a, b) = (files.buffered, lines.buffered)
    Iterator.unfold(()) { _ =>
      val next =
        if (a.isEmpty && b.isEmpty) None
        else if (b.isEmpty || a.nonEmpty && a.head.file.version >= b.head.file.version) {
          val line = a.next()
          var isVacuumed = false
          while (b.nonEmpty && b.head.file.version == line.file.version)
            isVacuumed |= b.next().file.state == RecordState.Vacuumed
          Some(if (isVacuumed) asVacuumed(line) else line)
        } else Some(b.next())
      next.map(l => if (vacuumed(l.file.version)) asVacuumed(l) -> (()) else l -> (()))
    }
  }

  private[commit] def asVacuumed(line: CheckpointLine): CheckpointLine =
    if (line.file.state == RecordState.Vacuumed) line
    else {
      val meta = line.file.meta
      val name = meta.name.stripSuffix(line.file.state.suffix) + RecordState.Vacuumed.suffix
      line.copy(file =
        line.file.copy(
          state = RecordState.Vacuumed,
          meta = meta.copy(path = new org.apache.hadoop.fs.Path(meta.path.getParent, name))
        )
      )
    }
}
