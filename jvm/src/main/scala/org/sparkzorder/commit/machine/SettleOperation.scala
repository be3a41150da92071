package org.sparkzorder.commit.machine

import java.io.IOException

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.{History, Outcome, RecordJson}
import org.sparkzorder.commit.place.{Located, Obstacle, Place, Places}
import org.sparkzorder.commit.storage.AtomicFile

/**
 * What follows the record of an operation: each place decides and clears, the record takes its place in
 * the history, and what is left is removed. The operation itself and a recovery do the same.
 *
 * @param check throws if the lock is not ours any more. It saves work; no row depends on it
 * @param keep a person's word. With it the operation ends although folders are away
 */
private[commit] final class SettleOperation(
    val places: Places,
    folder: TableFolder,
    record: Record,
    check: () => Unit,
    threads: Int,
    keep: Option[Keep] = None
) {
  import SettleOperation._

  private val ops = folder.ops

  /**
   * Goes on from wherever the operation is. [[clean]] follows.
   *
   * @param listing of the side folder
   * @param millis how long files have been exchanged so far; None if it is not known
   * @param isRecovery whether another process began
   * @throws FoldersUnclearException when only a person can say how it ends. Where folders are away, all others are settled
   */
  def toTheEnd(listing: () => Seq[FileMeta], millis: () => Option[Long], isRecovery: Boolean = false): Settled = {
    // An owner that was slow for very long may have a record of a version that others have published.
    val isStale = SideListing.isPublished(listing(), record.version)
    val found = places.of(record, isRecovery)
    // Only the clean-up is left, or others have put an old side folder back.
    val isEnded = isStale && isRecovery && Place.isPublished(folder, record)
    val first = if (isEnded) found.map(_ -> PlaceOutcome.Ended) else settled(found, isStale)
    // A folder may have been moved in the meantime.
    val (lost, done) = first.partition(_._2 == PlaceOutcome.Overwritten)
    val known = done.map(_._1.work.folder).toSet
    val moved = if (lost.isEmpty) Nil else places.moved(record, known).filterNot(l => known(l.work.folder))
    val later = settled(moved, isStale)
    // A copy has the origin of its folder, which may be done.
    val outcomes = done ++ lost.filterNot { case (l, _) => later.exists(_._1.origin == l.origin) } ++ later
    val away = if (isRecovery && keep.isEmpty && !isEnded) places.away(record, found) else Nil
    if (away.nonEmpty) throw new FoldersUnclearException(folder.root, record.version, away)
    val last =
      if (isEnded) published(listing()).orElse(Some(record))
      else if (isStale || outcomes.exists(_._2 == PlaceOutcome.Ended)) published(listing())
      else ended(outcomes, listing, millis, isRecovery)
    Settled(folder.root, outcomes, last)
  }

  /**
   * Removes what the operation left. The record goes last: without it the manifest would look like that
   * of an operation that died before it had a record.
   */
  def clean(result: Settled): Unit = {
    check()
    // A marker that is back is of a place that was not settled.
    val released = WorkerThreads.map(result.places, across(result.places)) { case (l, outcome) =>
      outcome != PlaceOutcome.Overwritten && l.place.release()
    }
    if (released.contains(false)) settled(places.moved(record, Set.empty), isStale = true).foreach(_._1.place.release())
    val works = result.places.map(_._1.work)
    places.discard(record.copy(inputs = works.flatMap(_.inputs), outputs = works.flatMap(_.outputs)))
    places.removeRecord(record)
  }

  private def settled(found: Seq[Located[places.P]], isStale: Boolean): Seq[(Located[_ <: Place], PlaceOutcome)] = {
    val unclear = found.flatMap(_.unclear)
    if (unclear.nonEmpty) throw new FoldersUnclearException(folder.root, record.version, unclear)
    WorkerThreads.map(found, across(found)) { l =>
      check()
      l -> Settle(l.place, isStale)
    }
  }

  private def across(places: Seq[_]): Int = if (places.size > 1) threads else 1

  /** Writes the last record, and returns what is in the history. */
  private def ended(
      outcomes: Seq[(Located[_ <: Place], PlaceOutcome)],
      listing: () => Seq[FileMeta],
      millis: () => Option[Long],
      isRecovery: Boolean
  ): Option[Record] = {
    val done = outcomes.collect { case (l, PlaceOutcome.Exchanged(outputs, _)) => l.work -> outputs }
    val replaced = outcomes.collect { case (_, PlaceOutcome.Exchanged(_, files)) => files }.flatten
    val lost = if (isRecovery) done.flatMap { case (work, _) => gone(work) } else Nil
    val late = Seq(Record.Replaced -> replaced, Record.Gone -> lost).filter(_._2.nonEmpty)
      .map { case (name, files) => name -> files.mkString("\n") }
    def note() = conflict(outcomes).foreach(e => Outcome.note(folder, record, e.getMessage))
    if (done.isEmpty && outcomes.nonEmpty) {
      if (put(folder.undone(record), record, listing)) note()
      None
    } else {
      val exchanged = onlyIn(record, done)
      val last = if (done.size == outcomes.size) exchanged else exchanged.ofPart
      // Listings that were made meanwhile may show new files of folders that keep their old ones.
      val kept = outcomes.collect { case (l, PlaceOutcome.RolledBack(_, _)) => l.work }
      if (kept.nonEmpty) {
        val (in, out, lost) = (kept.flatMap(_.inputs), kept.flatMap(_.outputs), kept.flatMap(_.lost))
        put(folder.undone(record), record.copy(inputs = in, outputs = out, lost = lost), listing)
      }
      val took = millis()
      val metrics = last.metrics ++ late
      val isKept = if (last == record && late.isEmpty)
        rename(took.fold(folder.record(record, RecordState.Done))(folder.published(record, _)), listing)
      else
        put(
          folder.record(record, RecordState.Done),
          last.copy(metrics = metrics ++ took.map(Record.PublishMillis -> _.toString)),
          listing
        )
      if (isKept) note()
      if (isKept) Some(last.copy(metrics = metrics)) else None
    }
  }

  /** Inputs that are nowhere. On a store the dead owner may have deleted them, and nothing tells who did. */
  private def gone(work: FolderWork): Seq[String] = work.inputs.map(_.path).filter { path =>
    record.way == CommitProtocol.InPlace && !ops.exists(folder.resolve(path)) && !ops.exists(folder.retired(
      path,
      record
    ))
  }

  /**
   * The record becomes part of the history as it is, by one rename, for which a full disk has room.
   * Another process may have done it. False when there is no history any more.
   */
  private def rename(to: Path, listing: () => Seq[FileMeta]): Boolean =
    written(to, listing)(ops.rename(folder.record(record, RecordState.Publishing), to))

  /**
   * If it is there already, another process wrote it, and it says the same. A store may also refuse because others
   * write at this moment. Nothing is removed before the record is there. False when there is no history any more.
   */
  private def put(path: Path, last: Record, listing: () => Seq[FileMeta]): Boolean =
    written(path, listing)(AtomicFile.put(ops, folder.newTemporary(), path, RecordJson.write(last))(()))

  private def written(path: Path, listing: () => Seq[FileMeta])(write: => Unit): Boolean =
    try {
      write
      true
    } catch {
      case e: IOException =>
        val isThere = ops.exists(path) || SideListing.isPublished(listing(), record.version)
        if (!isThere && ops.exists(folder.side)) throw e
        isThere
    }

  /** The record as another process published it; None if that was another operation. */
  private def published(listing: Seq[FileMeta]): Option[Record] =
    SideListing.records(listing).find(f => f.version == record.version && f.state.isPublished)
      .flatMap(History.readable(folder, _)).filter(_.operationId == record.operationId)
}

private[commit] object SettleOperation {

  /** @param record what the history shows; None if no folder was exchanged */
  final case class Settled(table: Path, places: Seq[(Located[_ <: Place], PlaceOutcome)], record: Option[Record]) {

    /**
     * @throws InputsReplacedException when others replaced inputs at the last moment, beside new files that are there
     * @throws OutputsChangedException when others changed new files, beside old ones that stay
     */
    def refuseReplaced(): Unit = {
      refuseStayed()
      val replaced = places.collect {
        case (l, PlaceOutcome.Exchanged(outputs, files))
            if files.nonEmpty && (outputs.nonEmpty || l.place.taken().nonEmpty) => files
      }
      if (replaced.nonEmpty) throw new InputsReplacedException(table, replaced.flatten)
    }

    /**
     * The record in the history.
     *
     * @throws CommitConflictException when others changed files of some folders, which keep theirs
     */
    def orConflict: Record = {
      refuseStayed()
      conflict(places).foreach(e => throw e)
      val replaced = record.flatMap(_.metrics.get(Record.Replaced)).toSeq.flatMap(_.split('\n'))
      if (replaced.nonEmpty) throw new InputsReplacedException(table, replaced)
      record.getOrElse(throw new CommitConflictException(Seq("."), CommitConflictException.Overwritten))
    }

    private def refuseStayed(): Unit = {
      val stayed = places.collect { case (_, PlaceOutcome.RolledBack(_, files)) => files }.flatten
      if (stayed.nonEmpty) throw new OutputsChangedException(table, stayed)
    }
  }

  /** What kept places as they were. */
  private def conflict(places: Seq[(Located[_ <: Place], PlaceOutcome)]): Option[CommitConflictException] = {
    val kept = places.collect {
      case (_, PlaceOutcome.RolledBack(why, _)) => why
      case (l, PlaceOutcome.Overwritten)        => Obstacle(Overwritten, Seq(l.origin))
    }
    if (kept.isEmpty) None
    else Some(new CommitConflictException(kept.flatMap(_.files), kept.map(_.reason).distinct.mkString("; ")))
  }

  private val Overwritten = "the folder was overwritten or deleted while files were being exchanged"

  private def onlyIn(record: Record, done: Seq[(FolderWork, Map[String, FileMeta])]): Record = record.copy(
    inputs = done.flatMap(_._1.inputs),
    lost = done.flatMap(_._1.lost),
    outputs = done.flatMap { case (work, found) =>
      work.outputs.map { o =>
        val there = found.get(o.path)
        o.copy(
          modificationTime = there.fold(o.modificationTime)(_.modificationTime),
          etag = there.flatMap(_.etag),
          upload = None
        )
      }
    }
  )
}
