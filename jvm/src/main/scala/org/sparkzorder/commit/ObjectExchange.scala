package org.sparkzorder.commit

import scala.annotation.tailrec

/** How an operation ended in one folder. */
private[commit] sealed trait FolderOutcome
private[commit] object FolderOutcome {

  /** Why the inputs stay. */
  final case class Obstacle(reason: String, files: Seq[String])

  /**
   * @param outputs the new files as they were listed, by path
   * @param changed inputs that somebody replaced at the last moment, so that they could not be
   *                deleted
   */
  final case class Exchanged(marker: Option[Marked], outputs: Map[String, FileMeta], changed: Seq[String])
      extends FolderOutcome

  /** @param files of others that were in the way, relative to the root */
  final case class Kept(marker: Option[Marked], reason: String, files: Seq[String]) extends FolderOutcome

  /** Somebody deleted the folder, and the rows that were in it. */
  case object Overwritten extends FolderOutcome

  /** Another process has published the operation. */
  case object Ended extends FolderOutcome
}

/**
 * Exchanges the files of one folder on an object store. All of it can be done twice, by two
 * processes at once, and goes on where another stopped. See `docs/design/commit-object-store.md`.
 *
 * @param version of the operation's record
 */
private[commit] final class ObjectExchange(store: ObjectStore, folder: TableFolder, record: Record, threads: Int) {
  import FolderOutcome._

  /** @param isStale whether the record's version was published by others: then nothing new is decided */
  @tailrec def settle(work: FolderWork, isStale: Boolean = false): FolderOutcome = {
    val marker = new FolderMarker(store, folder, work.folder)
    marker.read() match {
      case Some(m) if m.operationId != record.operationId => lost(work)
      case None                                           => lost(work)
      case Some(m)                                        =>
        m.state match {
          case MarkerState.Exchanged =>
            val found = listed(work)
            if (isLost(work, found)) {
              // Somebody has deleted outputs, or put a copy back that lacks some. The inputs have all rows.
              marker.decide(m, MarkerState.Kept)
              settle(work, isStale)
            } else retired(work, m, found)
          case MarkerState.Kept =>
            drop(work)
            Kept(Some(m), "the operation was undone there", Nil)
          case MarkerState.Staged =>
            val completed = if (isStale) Left(Obstacle("its version was published by others", Nil)) else complete(work)
            completed match {
              case Left(o) =>
                if (marker.decide(m, MarkerState.Kept).isEmpty) settle(work, isStale)
                else {
                  drop(work)
                  Kept(marker.read().filter(_.operationId == record.operationId), o.reason, o.files)
                }
              case Right(found) =>
                marker.decide(m, MarkerState.Exchanged) match {
                  case Some(now) => retired(work, now, found)
                  case None      => settle(work, isStale)
                }
            }
        }
    }
  }

  /** Whether outputs are gone, and all inputs are there. A copy of an input may have another etag. */
  private def isLost(work: FolderWork, found: Map[String, FileMeta]): Boolean = {
    def isThere(path: String, length: Long) = found.get(path).exists(m => !m.isDirectory && m.length == length)
    work.inputs.nonEmpty && !work.outputs.forall(o => isThere(o.path, o.length)) &&
    work.inputs.forall(i => isThere(i.path, i.length))
  }

  /**
   * The same in a copy of the table, where no marker counts.
   *
   * @throws java.io.IOException when the copy lacks files, see [[CopiedMidway]]
   */
  def settleCopy(work: FolderWork): FolderOutcome = {
    val (found, marker) = (listed(work), own(work))
    CopiedMidway.judge(folder, record, work, found, marker.isDefined) match {
      case CopiedMidway.HasInputs =>
        drop(work)
        Kept(marker, "the table was copied while its files were being exchanged", Nil)
      case CopiedMidway.HasOutputs =>
        store.deleteAll(work.inputs.map(_.path).filter(found.contains).map(folder.resolve))
        Exchanged(marker, work.outputs.map(o => o.path -> found(o.path)).toMap, Nil)
      case CopiedMidway.Overwritten => Overwritten
    }
  }

  private def own(work: FolderWork): Option[Marked] =
    new FolderMarker(store, folder, work.folder).read().filter(_.operationId == record.operationId)

  /** Whether a copy of the table can be settled in this folder. Throws what [[settleCopy]] throws. */
  def requireWhole(work: FolderWork): Unit = {
    CopiedMidway.judge(folder, record, work, listed(work), own(work).isDefined)
    ()
  }

  /** Makes the outputs, and looks whether they may take the inputs' place. Returns the listing, if so. */
  private def complete(work: FolderWork): Either[Obstacle, Map[String, FileMeta]] = {
    WorkerThreads.each(work.outputs, threads)(o => o.upload.foreach(store.complete(folder.resolve(o.path), _)))
    val found = listed(work)
    val changed = work.inputs.filterNot(i => found.get(i.path).exists(isThis(_, i)))
    val missing = work.outputs.filterNot(o => found.get(o.path).exists(_.length == o.length))
    if (changed.nonEmpty) Left(Obstacle("they are gone, or were changed or replaced", changed.map(_.path)))
    else if (missing.nonEmpty)
      Left(Obstacle("their uploads are gone: a lifecycle rule or another program aborted them", missing.map(_.path)))
    else Right(found)
  }

  private def isThis(found: FileMeta, input: InputFile): Boolean =
    !found.isDirectory && found.length == input.length && input.etag.isDefined && found.etag == input.etag

  private def listed(work: FolderWork): Map[String, FileMeta] =
    store.list(folder.resolve(work.folder)).map(m => FileNames.in(work.folder, m.name) -> m).toMap

  /**
   * Deletes the inputs, once the outputs have their place.
   *
   * @param found a listing since the outputs were completed
   */
  private def retired(work: FolderWork, m: Marked, found: Map[String, FileMeta]): FolderOutcome = {
    val changed = WorkerThreads.map(work.inputs, threads) { i =>
      i.path -> store.delete(folder.resolve(i.path), i.etag.get)
    }.collect { case (path, Removal.Changed) => path }
    // Somebody may have deleted the folder since, by a listing that lacked the outputs.
    if (!new FolderMarker(store, folder, work.folder).read().exists(_.operationId == record.operationId)) lost(work)
    else Exchanged(Some(m), work.outputs.flatMap(o => found.get(o.path).map(o.path -> _)).toMap, changed)
  }

  /** The marker is gone, or another operation's. */
  private def lost(work: FolderWork): FolderOutcome =
    if (isEnded) Ended
    else {
      drop(work)
      Overwritten
    }

  /** Whether the operation was published: then its markers are gone for this reason. */
  private def isEnded: Boolean = {
    val listed = store.list(folder.side)
    SideListing.isPublished(listed, record.version) && !isOthers(listed)
  }

  /**
   * Whether another operation has our version: somebody has overwritten the table with its history, and
   * the versions began anew. If nobody knows any more whose version it is, it counts as ours, since
   * what was published must stay.
   */
  private def isOthers(listed: Seq[FileMeta]): Boolean = {
    val file = SideListing.records(listed).find(f => f.version == record.version && f.state.isPublished)
    val owner = file.flatMap(History.readable(folder, _))
      .orElse(History.read(folder).map(_.record).find(_.version == record.version)).map(_.operationId)
    owner.exists(_ != record.operationId)
  }

  /** Removes the outputs. Uploads end first, so that none becomes a file afterwards. */
  private def drop(work: FolderWork): Unit = {
    WorkerThreads.each(work.outputs, threads)(o => o.upload.foreach(u => store.abort(folder.resolve(o.path), u.id)))
    val found = listed(work)
    val own = work.outputs.map(_.path).filter(found.contains).map(folder.resolve)
    // The inputs are still there, so the copies of them are of no use.
    val copies = store.list(folder.trashOf(work.folder, record)).map(_.path)
    if (own.nonEmpty || copies.nonEmpty) store.deleteAll(own ++ copies)
  }
}
