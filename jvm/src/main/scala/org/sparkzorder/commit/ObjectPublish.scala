package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/**
 * What follows the record of an operation on an object store: the folders exchange their files, the
 * record takes its place in the history, and what is left is removed. The operation itself and a
 * recovery do the same.
 */
private[commit] final class ObjectPublish(
    store: ObjectStore,
    folder: TableFolder,
    record: Record,
    check: () => Unit,
    threads: Int
) {
  import ObjectPublish._

  private val publishing = folder.record(record, RecordState.Publishing)

  /**
   * Goes on from wherever the operation is.
   *
   * @param millis how long files have been exchanged so far; None if another process began
   */
  def toTheEnd(millis: () => Option[Long]): Published = {
    // An owner that was slow for very long may have a record of a version that others have published.
    val isStale = SideListing.isPublished(store.list(folder.side), record.version)
    val places = record.folders.map(work => work -> new StorePlace(store, folder, record, work, inFolder))
    val isCopy = CopiedMidway.from(folder, record).isDefined
    if (isCopy) WorkerThreads.each(places, acrossFolders) { case (_, place) => place.rowsOfCopy() }
    val outcomes = WorkerThreads.map(places, acrossFolders) { case (work, place) =>
      check()
      work -> (if (isCopy) Settle.copy(place) else Settle(place, isStale))
    }
    val result = Published(outcomes.toMap, ended(outcomes, isStale, millis))
    check()
    WorkerThreads.each(places, threads) { case (_, place) => place.release() }
    // The record goes last. Without it the manifest would look like that of an operation that died
    // before it had a record.
    ObjectCommitter.discard(store, folder, record.operationId)
    removeRecord()
    result
  }

  /** Of a table that was overwritten with its history, another operation may have a record of this name. */
  private def removeRecord(): Unit =
    store.get(publishing, RecordJson.ReadLimit)
      .filter(found => RecordJson.parse(found.bytes, publishing).operationId == record.operationId)
      .foreach(found => store.delete(publishing, found.etag))

  private def inFolder: Int = if (record.folders.size > 1) 1 else threads
  private def acrossFolders: Int = if (record.folders.size > 1) threads else 1

  /** Writes the last record, and returns what is in the history. */
  private def ended(
      outcomes: Seq[(FolderWork, PlaceOutcome)],
      isStale: Boolean,
      millis: () => Option[Long]
  ): Option[Record] = {
    val done = outcomes.collect { case (work, PlaceOutcome.Exchanged(outputs, _)) => work.folder -> outputs }.toMap
    if (isStale || outcomes.exists(_._2 == PlaceOutcome.Ended)) published()
    else if (done.isEmpty) {
      put(folder.undone(record), record.copy(metrics = record.metrics - CopiedMidway.Root))
      None
    } else {
      val replaced = outcomes.collect { case (_, PlaceOutcome.Exchanged(_, files)) => files }.flatten
      val metrics = record.metrics - CopiedMidway.Root ++ millis().map(PublishMillis -> _.toString) ++
        (if (replaced.isEmpty) None else Some(Replaced -> replaced.mkString("\n")))
      val last = onlyIn(record, done).copy(metrics = metrics)
      put(folder.record(record, RecordState.Done), last)
      Some(last)
    }
  }

  /**
   * If it is there already, another process wrote it, and it says the same. A store may also refuse
   * because others write at this moment. Nothing is removed before the record is there.
   */
  private def put(path: Path, last: Record): Unit =
    if (store.putIfAbsent(path, RecordJson.write(last)).isEmpty && store.get(path, RecordJson.ReadLimit).isEmpty)
      throw new IOException(s"the store refused to write $path, which is not there")

  /** The record as another process published it; None if that was another operation. */
  private def published(): Option[Record] =
    store.get(folder.record(record, RecordState.Done), RecordJson.ReadLimit)
      .map(found => RecordJson.parse(found.bytes, publishing))
      .filter(_.operationId == record.operationId)

}

private[commit] object ObjectPublish {

  /** A metric of the record: how long files were being exchanged. */
  val PublishMillis = "publishMillis"

  /**
   * A metric of the record: inputs that somebody replaced between the last look and their delete,
   * one in each line. Their old rows are in the outputs.
   */
  val Replaced = "replacedInputs"

  /** @param record what the history shows; None if no folder was exchanged */
  final case class Published(outcomes: Map[FolderWork, PlaceOutcome], record: Option[Record])

  /** The record without the folders that were not exchanged, and with its files as they are. */
  private def onlyIn(record: Record, done: Map[String, Map[String, FileMeta]]): Record = record.copy(
    inputs = record.inputs.filter(i => done.contains(i.folder)),
    outputs = record.outputs.filter(o => done.contains(o.folder)).map { o =>
      val found = done(o.folder).get(o.path)
      o.copy(
        modificationTime = found.fold(o.modificationTime)(_.modificationTime),
        etag = found.flatMap(_.etag),
        upload = None
      )
    },
    bystanders = Map.empty
  )
}
