package org.sparkzorder.commit.log

import java.io.IOException
import java.util.Arrays

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.storage.{AtomicFile, Listing}
import org.sparkzorder.compat._

/**
 * Makes lines of records whose retired files are gone, so that the side folder stays small however many
 * operations there were.
 *
 * The file of lines is written anew each time, under the next number. It is read back before the records
 * in it and the older file are deleted. A crash in between leaves a record in both. Both say that it is
 * vacuumed, and the next call deletes it.
 */
private[commit] object HistoryWriter {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /** The lock is checked after so many deletes. */
  private val DeletesPerCheck = 64

  /**
   * Makes lines of records. If it fails, the next VACUUM tries again. Needs the lock.
   *
   * @param isGone whether an operation has no retired files any more
   * @throws java.io.IOException when a temporary file is left over, which the next statement must
   *   remove
   */
  def gather(folder: TableFolder, lock: Lock, settings: HistorySettings, isGone: Long => Boolean): Unit =
    try {
      val listing = lock.listing()
      val records = due(listing, settings, isGone)
      if (records.nonEmpty) {
        lock.check()
        rewrite(folder, lock, settings, listing, records.map(marked(folder, _)))
      }
    } catch {
      // [[AtomicFile]] adds an exception if it cannot delete its temporary file.
      case e: IOException if e.getSuppressed.isEmpty => log.warn(s"records of ${folder.root} stay files for now", e)
    }

  /** The records that become lines. The newest published ones stay files. */
  private def due(statuses: Seq[FileMeta], settings: HistorySettings, isGone: Long => Boolean): Seq[RecordFile] =
    SideListing.records(statuses).filter(_.state.isPublished).drop(math.max(1, settings.whole))
      .filter(file => isGone(file.version))

  /** RESTORE goes back to no version before a line, and its record may be read until it is deleted. */
  private def marked(folder: TableFolder, file: RecordFile): RecordFile =
    if (file.state == RecordState.Vacuumed) file
    else {
      val path = folder.vacuumed(file)
      folder.ops.rename(file.meta.path, path)
      file.copy(state = RecordState.Vacuumed, meta = file.meta.copy(path = path))
    }

  private def rewrite(
      folder: TableFolder,
      lock: Lock,
      settings: HistorySettings,
      listing: Seq[FileMeta],
      gone: Seq[RecordFile]
  ): Unit = {
    val outcomes = listing.map(_.name).filter(_.endsWith(SideNames.OutcomeSuffix)).toSet
    val gathered = gone.flatMap { file =>
      // A damaged record stays a file.
      History.readable(folder, file).map { record =>
        val note = folder.outcome(record)
        val outcome = if (outcomes(note.getName)) Outcome.read(folder, record) else None
        HistoryLine.of(file, record, outcome) -> (file.meta.path +: Some(note).filter(n => outcomes(n.getName)).toSeq)
      }
    }
    if (gathered.nonEmpty) {
      val before = HistoryLines.read(folder, Listing.first(folder, Some(listing)))
      val lines = (gathered.map(_._1) ++ before).distinctBy(_.version).sortBy(-_.version)
      val left = SideListing.records(listing).filter(_.state.isPublished).map(_.version).toSet --
        gathered.map(_._1.version)
      val now = listing.find(_.name == lock.path.getName).map(_.modificationTime)
      val older = SideListing.histories(listing)
      write(folder, lock, older.headOption.fold(0L)(_.number) + 1, kept(lines, left, now, settings))
      older.filter(HistoryLines.isWhole(folder, _)).foreach(file => folder.ops.delete(file.meta.path))
      gathered.flatMap(_._2).grouped(DeletesPerCheck).foreach { some =>
        lock.check()
        some.foreach { path =>
          folder.ops.delete(path)
        }
      }
    }
  }

  /**
   * The lines that stay. Beside the youngest, these do: the newest of all, since no version before it can be
   * restored; the newest with a layout, which the next OPTIMIZE takes; the newest RESTORE, which may have
   * brought back files that a stream sees for the first time; and the newest for each partition that tells
   * where the catalog has it.
   *
   * @param lines newest first
   * @param files the versions whose records are files
   * @param now by the file system's clock, if it is known
   */
  private def kept(
      lines: Seq[HistoryLine],
      files: Set[Long],
      now: Option[Long],
      settings: HistorySettings
  ): Seq[HistoryLine] = {
    val newest = lines.headOption ++ lines.find(_.record.layout.isDefined) ++
      lines.find(_.record.operation == History.RestoreOperation) ++
      lines.flatMap(l => l.record.locationChanges.map(_.partition -> l)).distinctBy(_._1).map(_._2)
    val needed = newest.map(_.version).toSet
    def isYoung(line: HistoryLine) = now.forall(_ - line.time <= settings.retentionMillis)
    lines.zipWithIndex.collect {
      case (line, i)
          if needed(line.version) ||
            isYoung(line) && i + files.count(_ > line.version) < settings.maxOperations => line
    }
  }

  private def write(folder: TableFolder, lock: Lock, number: Long, lines: Seq[HistoryLine]): Unit = {
    val ops = folder.ops
    val target = folder.history(number)
    val bytes = lines.flatMap(line => RecordJson.writeLine(line) :+ '\n'.toByte).toArray
    if (bytes.length > RecordJson.ReadLimit) throw new IOException(s"$target would be longer than it may be")
    AtomicFile.put(ops, folder.newTemporary(), target, bytes)(lock.check())
    // The records are deleted next, and there is no other copy.
    if (!Arrays.equals(ops.read(target, RecordJson.ReadLimit), bytes))
      throw new IOException(s"$target is not what was written")
  }
}
