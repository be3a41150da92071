package org.sparkzorder.commit.place

import scala.collection.mutable

import org.sparkzorder.commit._

/**
 * A folder on an object store, see `docs/design/commit.md`. Outputs are open uploads
 * until they are revealed, and each input is known by its etag.
 *
 * @param isOwn whether this process began the operation
 * @param isAlone whether no other process can have taken the table's lock
 * @param decisions that were seen last, by folder
 */
private[commit] final class StorePlace(
    store: ObjectStore,
    folder: TableFolder,
    record: Record,
    work: FolderWork,
    isOwn: Boolean,
    isAlone: () => Boolean,
    decisions: mutable.Map[String, Decision],
    threads: Int
) extends Place {
  import StorePlace._

  private val marker = new FolderMarker(store, folder, work.folder)

  private val last = new LastSeen

  override def decision(): Option[Decision] = {
    val before = System.nanoTime()
    last.marked = marker.read().filter(_.operationId == record.operationId)
    last.marked.foreach { m =>
      last.look = before
      decisions(work.folder) = m.state
    }
    last.marked.map(_.state)
  }

  override def decide(from: Decision, to: Decision): Boolean =
    last.marked.filter(_.state == from).flatMap(marker.decide(_, to)) match {
      case None =>
        // The last listing is older than the decision of another process.
        last.found = None
        false
      case now =>
        last.marked = now
        decisions(work.folder) = to
        true
    }

  override def reveal(): Unit = if (changed(listed()).isEmpty)
    WorkerThreads.each(work.outputs, threads)(o => o.upload.foreach(store.complete(folder.resolve(o.path), _)))

  override def obstacle(): Option[Obstacle] = {
    val now = listed()
    refuseTorn(now)
    val missing = work.outputs.map(_.path).filterNot(path => now.get(path).exists(!_.isDirectory))
    val lacks = Obstacle("their uploads are gone: a lifecycle rule or another program aborted them", missing)
    (changed(now) :+ lacks).find(_.files.nonEmpty)
  }

  private def changed(now: Map[String, FileMeta]): Seq[Obstacle] =
    Place.changed(work, i => now.get(i.path).exists(isThis(_, i)), now.contains)

  private def isThis(found: FileMeta, input: InputFile): Boolean =
    !found.isDirectory && found.length == input.length && input.etag.isDefined && found.etag == input.etag

  private def isThere(now: Map[String, FileMeta], path: String, length: Long): Boolean =
    now.get(path).exists(m => !m.isDirectory && m.length == length)

  private def listed(): Map[String, FileMeta] = {
    val before = System.nanoTime()
    val now = store.list(folder.resolve(work.folder)).map(m => FileNames.in(work.folder, m.name) -> m).toMap
    last.listMillis = (System.nanoTime() - before) / 1000000
    last.found = Some(now)
    now
  }

  /**
   * Comes between files that came and files that go. A request shows up to 1000 keys of one moment, so a longer listing
   * is no snapshot.
   */
  private def letListingsEnd(): Unit =
    if (last.found.getOrElse(listed()).size > KeysOfRequest) Place.letListingsEnd(last.listMillis)

  /**
   * Another process may be deleting the inputs, so after `exchanged` no new file is ever deleted. If some are left, only a
   * person can say whose rows count. A copy of an input may have another etag.
   */
  override def lacksOutputs(): Boolean = {
    val now = last.found.getOrElse(listed())
    val lacks = work.inputs.nonEmpty && !hasOutputs(now) && hasInputs(now)
    if (lacks) work.outputs.find(o => now.contains(o.path)).foreach(o => throw Place.lacksNewOnes(folder, work, o.path))
    lacks
  }

  /** Who writes under the name of a new file has read it, so its rows are there. */
  private def hasOutputs(now: Map[String, FileMeta]): Boolean =
    work.outputs.forall(o => now.get(o.path).exists(!_.isDirectory))

  private def hasInputs(now: Map[String, FileMeta]): Boolean =
    work.inputs.nonEmpty && work.inputs.forall(i => isThere(now, i.path, i.length))

  override def retire(as: Option[Decision]): Option[Seq[String]] = {
    letListingsEnd()
    val results = WorkerThreads.map(work.inputs, threads) { i =>
      i.path -> (if (mayDelete(as)) Some(store.delete(folder.resolve(i.path), i.etag.get)) else None)
    }
    if (results.forall(_._2.isDefined)) Some(results.collect { case (path, Some(Removal.Changed)) => path })
    else if (as.isEmpty) throw Place.isNotCleared(folder, record, work)
    else None
  }

  /**
   * Whether the marker still says so. A process that was taken for dead may wake up when others have brought
   * the folder back. If the marker was deleted alone, the lock must be ours. One look does for many files.
   */
  private def mayDelete(as: Option[Decision]): Boolean =
    System.nanoTime() - last.look < Place.LookNanos || {
      val before = System.nanoTime()
      val isSo = decision() == as && (as.isDefined || isAlone())
      if (isSo) last.look = before
      isSo
    }

  override def revealed(): Map[String, FileMeta] = {
    val now = last.found.getOrElse(listed())
    work.outputs.flatMap(o => now.get(o.path).map(o.path -> _)).toMap
  }

  /** Retired inputs are copies, and the inputs are gone. */
  override def canReturn(changed: Seq[String]): Boolean = false

  override def bringBack(): Unit = ()

  private def seen: Option[Decision] = decisions.get(work.folder)

  /**
   * Another program deleted the marker with the folder. This process saw that the inputs were the rows for good, or that
   * nothing was decided, and no other can have decided.
   */
  private def isOverwritten: Boolean = seen.contains(Decision.RolledBack) || seen.contains(Decision.Staged) && isAlone()

  // A version is given once, so names of new files are this operation's.
  override def isOthers(): Boolean = false

  override def isLeft(): Boolean = seen.isDefined && !isOverwritten && hasOutputsAlone

  private def hasOutputsAlone: Boolean = {
    val now = listed()
    work.outputs.nonEmpty && hasOutputs(now) && !hasInputs(now)
  }

  /**
   * The side folder may have been deleted alone. Or the folder was overwritten, and the owner has completed its
   * uploads after that, and died.
   */
  override def isUnclear(): Boolean = last.marked.isEmpty && decision().isEmpty && seen.isEmpty && {
    val now = listed()
    work.outputs.exists(o => isThere(now, o.path, o.length)) && !hasInputs(now) && !isPublished()
  }

  override def rows(decision: Decision): Seq[AddedFile] = {
    val now = listed()
    // Others may have written under each name.
    def added(path: String, length: Long) =
      AddedFile(FileMeta(folder.resolve(path), now.get(path).fold(length)(_.length), 0L, isDirectory = false), path)
    if (decision == Decision.Exchanged) {
      val replaced = work.inputs.flatMap(i => now.get(i.path).filterNot(isThis(_, i)).map(AddedFile(_, i.path)))
      work.outputs.map(o => added(o.path, o.length)) ++ replaced
    } else work.inputs.map(i => added(i.path, i.length))
  }

  /** Names are never given twice. */
  override def taken(): Set[String] = Set.empty

  // A file that RESTORE brings back has an older name, which others may have taken before.
  override def stayed(): Seq[String] = {
    val now = listed()
    work.outputs.filter(o => o.source.isEmpty && now.get(o.path).exists(!_.isDirectory)).map(_.path)
  }

  /**
   * Uploads end first, so that none becomes a file afterwards. Copies of inputs stay in the trash until VACUUM: requests of
   * a dead process to delete the inputs may still be under way.
   */
  override def drop(): Unit = {
    WorkerThreads.each(work.outputs, threads)(o => o.upload.foreach(u => store.abort(folder.resolve(o.path), u.id)))
    val now = listed()
    // That there is no marker proves nothing: new files may be the only ones with their rows.
    val areSpare = last.marked.isDefined || hasInputs(now) || isOverwritten
    if (areSpare) {
      if (last.marked.isDefined) {
        refuseTorn(now)
        letListingsEnd()
      }
      val own = work.outputs.filter(o => isThere(now, o.path, o.length)).map(o => folder.resolve(o.path))
      if (own.nonEmpty) store.deleteAll(own)
    }
  }

  private def isTorn(now: Map[String, FileMeta]): Boolean =
    !isOwn && work.inputs.exists(i => !now.contains(i.path)) && work.outputs.exists(_.source.isEmpty) && hasOutputs(now)

  private def refuseTorn(now: Map[String, FileMeta]): Unit =
    if (isTorn(now)) throw new FoldersUnclearException(folder.root, record.version, Seq(sides(FolderSides.OldGone)))

  def isTorn: Boolean = decision().exists(_ != Decision.Exchanged) && isTorn(listed())

  def sides(why: String): FolderSides = {
    val now = listed()
    val old = work.inputs.count(i => isThere(now, i.path, i.length))
    val come = work.outputs.count(o => isThere(now, o.path, o.length))
    FolderSides(work.folder, why, old, work.inputs.size, come, work.outputs.size)
  }

  /** As in [[FolderPlace]]. In a copy the marker may not have come along. */
  def keep(word: Keep): Unit = {
    val there = sides("No word helps")
    there.decision(word, hasNew = there.come == there.ofNew || isTorn).foreach(marker.write(record.operationId, _))
  }

  /** The same work, with the etags that files have in a copy. */
  def asFound: FolderWork = {
    val now = listed()
    work.copy(inputs = work.inputs.map { i =>
      if (isThere(now, i.path, i.length)) i.copy(etag = now(i.path).etag) else i
    })
  }

  override def isPublished(): Boolean = Place.isPublished(folder, record)

  /** A marker that another operation has taken over since stays. */
  override def release(): Boolean = {
    if (last.marked.isEmpty) decision()
    last.marked.foreach(marker.remove)
    true
  }
}

private[commit] object StorePlace {

  private val KeysOfRequest = 1000

  /** What a place has seen last. */
  private final class LastSeen {

    /** What the marker said, if it is ours. */
    @volatile var marked = Option.empty[Marked]

    /** When the marker, or the lock if there is no marker, allowed to delete. */
    @volatile var look: Long = System.nanoTime() - Place.LookNanos

    var found = Option.empty[Map[String, FileMeta]]
    @volatile var listMillis = 0L
  }
}
