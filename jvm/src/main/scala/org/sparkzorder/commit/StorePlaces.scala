package org.sparkzorder.commit

/** Folders on an object store, where none can be renamed. */
private[commit] final class StorePlaces(store: ObjectStore, folder: TableFolder, threads: Int) extends Places {
  override type P = StorePlace

  override def of(record: Record, isRecovery: Boolean): Seq[Located[StorePlace]] = {
    val inFolder = if (record.folders.size > 1) 1 else threads
    val isCopy = CopiedMidway.from(folder, record).isDefined
    record.folders.map(work =>
      Located(work.folder, work, new StorePlace(store, folder, record, work, inFolder), isCopy)
    )
  }

  override def moved(record: Record, except: Set[String]): Seq[Located[StorePlace]] = Nil

  override def away(record: Record, known: Seq[Located[StorePlace]]): Seq[FolderWork] = Nil

  /** Of a table that was overwritten with its history, another operation may have a record of this name. */
  override def removeRecord(record: Record): Unit = {
    val publishing = folder.record(record, RecordState.Publishing)
    store.get(publishing, RecordJson.ReadLimit)
      .filter(found => RecordJson.parse(found.bytes, publishing).operationId == record.operationId)
      .foreach(found => store.delete(publishing, found.etag))
  }

  override def discard(record: Record): Unit = ObjectCommitter.discard(store, folder, record.operationId)
}
