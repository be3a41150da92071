package org.sparkzorder.commit.machine

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{RecordJson, StagingDirectories}
import org.sparkzorder.commit.place.{FolderMarker, StorePlaces}

/**
 * Brings one operation's files into a table on an object store, by the steps in `docs/design/commit.md`.
 *
 * @param operationId the lock's
 * @param check throws if the lock is not ours any more. It saves work; no row depends on it
 * @param isAlone whether no other process can have taken the lock
 * @param keepsRetired whether the inputs are copied to the trash
 * @param sleep how to wait before requests are repeated, in milliseconds
 */
private[sparkzorder] final class ObjectCommitter(
    store: ObjectStore,
    folder: TableFolder,
    operationId: String,
    check: () => Unit,
    isAlone: () => Boolean,
    keepsRetired: Boolean = true,
    sleep: Long => Unit = Thread.sleep(_)
) extends Committer {
  import ObjectCommitter._

  private def threads = folder.threads
  private val retries = Retries(Attempts, FirstPauseMillis, sleep)

  private var marked = Seq.empty[String]

  /** The files of each marked folder, before the job reads any. */
  private var found = Map.empty[String, Map[String, FileMeta]]
  private var prepared = Option.empty[Record]

  override def claim(dirs: Seq[String]): Unit = {
    marked = dirs
    StagingDirectories.write(folder, operationId, dirs)
    check()
    WorkerThreads.each(dirs, threads)(dir => new FolderMarker(store, folder, dir).claim(operationId))
    found = WorkerThreads.map(dirs, threads)(dir => dir -> listed(dir)).toMap
  }

  private def listed(dir: String): Map[String, FileMeta] = store.list(folder.resolve(dir)).map(m => m.name -> m).toMap

  override def target(dir: String, path: Path): Path = folder.uploadsOf(dir, operationId, store)

  override def leavesUploadsOpen: Boolean = true

  override def overwritten(): Seq[String] = marked.filterNot { dir =>
    new FolderMarker(store, folder, dir).read().exists(_.operationId == operationId)
  }

  /**
   * Copies the inputs to the trash. They get the etags that they had when their folders were marked. An output without an
   * upload is one that RESTORE brings back from the trash, as a copy on the store's side.
   */
  override def prepare(record: Record): Unit = {
    require(prepared.isEmpty, "prepared already")
    Record.check(record, operationId)
    val (unmarked, inputs) = record.inputs.partition(i => atMark(i).isEmpty)
    if (unmarked.nonEmpty) throw conflict(unmarked)
    // The version of an operation is not given again while anything tells of it.
    val listed = store.list(folder.side)
    // Its outputs may have been there for a moment, and may be among our inputs.
    if (SideListing.records(listed).exists(_.state == RecordState.Publishing))
      throw new ConcurrentOperationException(folder.root, None)
    val newest = (SideListing.records(listed).map(_.version) :+ SideListing.newestPublished(listed)).max
    val numbered = record.copy(
      version = SideListing.nextVersion(newest),
      way = CommitProtocol.ObjectStore,
      inputs = inputs.map(i => i.copy(etag = atMark(i).flatMap(_.etag))),
      outputs = WorkerThreads.map(record.outputs, threads)(o => if (o.upload.isDefined) o else copyOf(o))
    )
    prepared = Some(numbered)
    refuseChanged(numbered)
    if (keepsRetired) copyInputs(numbered)
  }

  private def copyOf(output: OutputFile): OutputFile = {
    check()
    val source = folder.resolve(output.source.get)
    def gone = new FileNotFoundException(s"$source is gone")
    val found = store.status(source).filter(output.isThis(_, timed = false)).getOrElse(throw gone)
    val to = folder.resolve(output.path)
    output.copy(upload = Some(store.startCopy(source, found.etag.get, output.length, to).getOrElse(throw gone)))
  }

  /** The file that an input was when its folder was marked, if it is the one that the record means. */
  private def atMark(input: InputFile): Option[FileMeta] =
    found.get(input.folder).flatMap(_.get(input.name)).filter(m => input.isSame(m) && m.etag.isDefined)

  private def refuseChanged(record: Record): Unit = WorkerThreads.each(record.folders, threads) { work =>
    val now = listed(work.folder)
    val changed = work.inputs.filterNot(i => now.get(i.name).exists(_.etag == i.etag))
    if (changed.nonEmpty) throw conflict(changed)
  }

  private def copyInputs(record: Record): Unit = {
    val changed = WorkerThreads.map(record.inputs, threads) { i =>
      check()
      i -> store.copy(folder.resolve(i.path), i.etag.get, i.length, folder.retired(i.path, record))
    }.collect { case (i, false) => i }
    if (changed.nonEmpty) throw conflict(changed)
  }

  private def conflict(changed: Seq[InputFile]) =
    new CommitConflictException(changed.map(_.path), "they are gone, or were changed or replaced")

  override def commit(): Record = {
    val planned = prepared.getOrElse(throw new IllegalStateException("not prepared"))
    val record = planned.copy(root = Some(folder.root.toString))
    check()
    val started = System.nanoTime()
    if (!isWritten(record)) throw new ConcurrentOperationException(folder.root, None)
    val publish =
      new SettleOperation(new StorePlaces(store, folder, threads, isAlone, marked), folder, record, check, threads)
    val result =
      try retries(s"publishing in ${folder.root}") {
          val settled =
            publish.toTheEnd(() => store.list(folder.side), () => Some((System.nanoTime() - started) / 1000000))
          publish.clean(settled)
          settled
        }
      catch {
        case e: IOException => throw new IncompletePublishException(folder.record(record, RecordState.Publishing), e)
      }
    val done = result.orConflict
    if (keepsRetired) OperationMetrics.published(done)
    done
  }

  /** Whether the record is ours, also if the answer to the request was lost. */
  private def isWritten(record: Record): Boolean = {
    val path = folder.record(record, RecordState.Publishing)
    def isOurs = store.get(path, RecordJson.ReadLimit)
      .exists(found => RecordJson.parse(found.bytes, path).operationId == operationId)
    try store.putIfAbsent(path, RecordJson.write(record)).isDefined || isOurs
    catch {
      case e: IOException =>
        log.warn(s"looks whether $path was written", e)
        isOurs
    }
  }

  override def abort(): Unit = {
    // Without its marker the operation cannot be published any more, by any process.
    val free = marked.forall { dir =>
      val marker = new FolderMarker(store, folder, dir)
      marker.read().filter(_.operationId == operationId) match {
        case Some(m) if m.state == Decision.Staged => store.delete(marker.path, m.etag) != Removal.Changed
        case Some(_)                               => false
        case None                                  => true
      }
    }
    if (free) {
      prepared.foreach { record =>
        WorkerThreads.each(record.outputs, threads) { o =>
          o.upload.foreach(u => store.abort(folder.resolve(o.path), u.id))
        }
        record.folders.foreach(work => folder.ops.deleteRecursive(folder.trashOf(work.folder, record)))
      }
      StorePlaces.discard(store, folder, operationId)
    }
  }
}

private[sparkzorder] object ObjectCommitter {

  def under(lock: Lock, store: ObjectStore, folder: TableFolder, keepsRetired: Boolean): ObjectCommitter =
    new ObjectCommitter(
      store,
      folder,
      lock.operationId,
      () => lock.checkInARow(),
      () => lock.isAlone,
      keepsRetired
    )

  private val log = LoggerFactory.getLogger(classOf[ObjectCommitter])

  /** How often publishing is tried; the client of the store repeats each request by itself. */
  private val Attempts = 5
  private val FirstPauseMillis = 500L
}
