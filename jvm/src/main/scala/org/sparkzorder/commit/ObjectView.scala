package org.sparkzorder.commit

import java.io.FileNotFoundException

/** What a reader leaves out while an operation is being published on an object store. */
private[commit] object ObjectView {

  /**
   * The files of the folders that a reader must not read, relative to the root: the outputs of a
   * folder, or its inputs once that is decided.
   *
   * @throws java.io.FileNotFoundException when the operation has just come to its end, so that the
   *   caller has to look again
   */
  def leaveOut(store: ObjectStore, folder: TableFolder, record: Record, threads: Int): Set[String] = {
    val states = WorkerThreads.map(record.folders, threads) { work =>
      val m = new FolderMarker(store, folder, work.folder).read().filter(_.operationId == record.operationId)
      work -> m.map(_.state)
    }
    if (states.exists(_._2.isEmpty)) requireUnderWay(store, folder, record)
    states.flatMap {
      case (work, Some(MarkerState.Exchanged)) => work.inputs.map(_.path)
      case (work, _)                           => work.outputs.map(_.path)
    }.toSet
  }

  /** A marker is gone when its folder was overwritten, or when the operation has ended. */
  private def requireUnderWay(store: ObjectStore, folder: TableFolder, record: Record): Unit = {
    val listed = store.list(folder.side)
    val isUnderWay = !SideListing.isPublished(listed, record.version) &&
      SideListing.records(listed).exists(f => f.version == record.version && f.state == RecordState.Publishing)
    if (!isUnderWay) throw new FileNotFoundException(s"version ${record.version} of ${folder.root} has just ended")
  }
}
