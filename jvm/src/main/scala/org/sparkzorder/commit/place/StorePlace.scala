package org.sparkzorder.commit.place

import org.sparkzorder.commit.{
  AddedFile,
  Decision,
  FileMeta,
  FileNames,
  FolderWork,
  InputFile,
  ObjectStore,
  Record,
  Removal,
  TableFolder,
  WorkerThreads
}

/**
 * A folder on an object store, see `docs/design/commit-object-store.md`. Outputs are open uploads
 * until they are revealed, and each input is known by its etag.
 */
private[commit] final class StorePlace(
    store: ObjectStore,
    folder: TableFolder,
    record: Record,
    work: FolderWork,
    threads: Int
) extends Place {
  private val marker = new FolderMarker(store, folder, work.folder)

  /** What the marker said last, if it is ours. */
  private var marked = Option.empty[Marked]

  /** The last listing, by relative path. */
  private var found = Option.empty[Map[String, FileMeta]]

  override def decision(): Option[Decision] = {
    marked = marker.read().filter(_.operationId == record.operationId)
    marked.map(_.state)
  }

  override def decide(from: Decision, to: Decision): Boolean =
    marked.filter(_.state == from).flatMap(marker.decide(_, to)) match {
      case None => false
      case now  =>
        marked = now
        true
    }

  override def reveal(): Unit =
    WorkerThreads.each(work.outputs, threads)(o => o.upload.foreach(store.complete(folder.resolve(o.path), _)))

  override def obstacle(): Option[Obstacle] = {
    val now = listed()
    val changed = work.inputs.filterNot(i => now.get(i.path).exists(isThis(_, i)))
    val missing = work.outputs.filterNot(o => isThere(now, o.path, o.length))
    if (changed.nonEmpty) Some(Obstacle("they are gone, or were changed or replaced", changed.map(_.path)))
    else if (missing.nonEmpty)
      Some(Obstacle("their uploads are gone: a lifecycle rule or another program aborted them", missing.map(_.path)))
    else None
  }

  private def isThis(found: FileMeta, input: InputFile): Boolean =
    !found.isDirectory && found.length == input.length && input.etag.isDefined && found.etag == input.etag

  private def isThere(now: Map[String, FileMeta], path: String, length: Long): Boolean =
    now.get(path).exists(m => !m.isDirectory && m.length == length)

  private def listed(): Map[String, FileMeta] = {
    val now = store.list(folder.resolve(work.folder)).map(m => FileNames.in(work.folder, m.name) -> m).toMap
    found = Some(now)
    now
  }

  /** A copy of an input may have another etag. */
  override def lacksOutputs(): Boolean = {
    val now = found.getOrElse(listed())
    work.inputs.nonEmpty && !work.outputs.forall(o => isThere(now, o.path, o.length)) &&
    work.inputs.forall(i => isThere(now, i.path, i.length))
  }

  override def retire(isCopy: Boolean): Seq[String] =
    if (isCopy) {
      store.deleteAll(work.inputs.map(_.path).filter(found.getOrElse(listed()).contains).map(folder.resolve))
      Nil
    } else
      WorkerThreads.map(work.inputs, threads) { i =>
        i.path -> store.delete(folder.resolve(i.path), i.etag.get)
      }.collect { case (path, Removal.Changed) => path }

  override def revealed(): Map[String, FileMeta] = {
    val now = found.getOrElse(listed())
    work.outputs.flatMap(o => now.get(o.path).map(o.path -> _)).toMap
  }

  /** Retired inputs are copies, and the inputs are gone. */
  override def canReturn(changed: Seq[String]): Boolean = false

  override def bringBack(): Unit = ()

  override def isLeft(): Boolean = false

  override def rows(decision: Decision): Seq[AddedFile] = {
    val side =
      if (decision == Decision.Exchanged) work.outputs.map(o => o.path -> o.length)
      else work.inputs.map(i => i.path -> i.length)
    side.map { case (path, length) =>
      AddedFile(FileMeta(folder.resolve(path), length, 0L, isDirectory = false), path)
    }
  }

  /** Names are never given twice. */
  override def taken(): Set[String] = Set.empty

  /** Uploads end first, so that none becomes a file afterwards. */
  override def drop(): Unit = {
    WorkerThreads.each(work.outputs, threads)(o => o.upload.foreach(u => store.abort(folder.resolve(o.path), u.id)))
    val own = work.outputs.map(_.path).filter(listed().contains).map(folder.resolve)
    // The inputs are still there, so the copies of them are of no use.
    val copies = store.list(folder.trashOf(work.folder, record)).map(_.path)
    if (own.nonEmpty || copies.nonEmpty) store.deleteAll(own ++ copies)
  }

  override def isPublished(): Boolean = Place.isPublished(folder, record)

  override def rowsOfCopy(): CopiedMidway.Rows = {
    val now = listed()
    CopiedMidway.judge(folder, record, work, now, isMarked = decision().isDefined)
  }

  /** A marker that another operation has taken over since stays. */
  override def release(): Boolean = {
    marked.foreach(marker.remove)
    true
  }
}
