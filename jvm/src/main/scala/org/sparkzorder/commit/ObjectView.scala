package org.sparkzorder.commit

import java.io.FileNotFoundException

/** What a reader sees of a table while an operation is being published on an object store. */
private[commit] object ObjectView {

  /**
   * The files of each folder that has the operation's marker are named one by one, whether they are
   * its inputs or its outputs. So it does not matter how old or new the listing is with which this
   * is put together: a file that is gone by then is an error and no missing row.
   *
   * @throws java.io.FileNotFoundException when the operation has just come to its end, so that the
   *   caller has to look again
   */
  def of(store: ObjectStore, folder: TableFolder, record: Record, threads: Int): ReadAround =
    if (CopiedMidway.from(folder, record).isDefined) ofCopy(store, folder, record, threads)
    else ofTable(store, folder, record, threads)

  /** A copy of the table that was made midway, where no marker counts. */
  private def ofCopy(store: ObjectStore, folder: TableFolder, record: Record, threads: Int): ReadAround = {
    val leaveOut = WorkerThreads.map(record.folders, threads) { work =>
      val found = store.list(folder.resolve(work.folder)).map(m => FileNames.in(work.folder, m.name) -> m).toMap
      val isMarked =
        new FolderMarker(store, folder, work.folder).read().exists(_.operationId == record.operationId)
      CopiedMidway.judge(folder, record, work, found, isMarked) match {
        case CopiedMidway.HasInputs   => work.outputs.map(_.path)
        case CopiedMidway.HasOutputs  => work.inputs.map(_.path)
        case CopiedMidway.Overwritten => Nil
      }
    }
    ReadAround(leaveOut.flatten.toSet, Nil)
  }

  private def ofTable(store: ObjectStore, folder: TableFolder, record: Record, threads: Int): ReadAround = {
    val states = WorkerThreads.map(record.folders, threads) { work =>
      val m = new FolderMarker(store, folder, work.folder).read().filter(_.operationId == record.operationId)
      work -> m.map(_.state)
    }
    if (states.exists(_._2.isEmpty)) requireUnderWay(store, folder, record)
    val leaveOut = states.flatMap { case (work, state) =>
      // Without its marker the operation has lost the folder. Who has it now may be about to
      // exchange the same inputs, and has a record of its own.
      val inputs = if (state.isDefined) work.inputs.map(_.path) else Nil
      inputs ++ work.outputs.map(_.path)
    }
    val add = states.flatMap {
      case (work, Some(Decision.Exchanged)) => work.outputs.map(o => added(folder, o.path, o.length))
      case (work, Some(_))                  => work.inputs.map(i => added(folder, i.path, i.length))
      case (_, None)                        => Nil
    }
    ReadAround(leaveOut.toSet, add)
  }

  private def added(folder: TableFolder, path: String, length: Long): AddedFile =
    AddedFile(FileMeta(folder.resolve(path), length, 0L, isDirectory = false), path)

  /** A marker is gone when its folder was overwritten, or when the operation has ended. */
  private def requireUnderWay(store: ObjectStore, folder: TableFolder, record: Record): Unit = {
    val listed = store.list(folder.side)
    val isUnderWay = !SideListing.isPublished(listed, record.version) &&
      SideListing.records(listed).exists(f => f.version == record.version && f.state == RecordState.Publishing)
    if (!isUnderWay) throw new FileNotFoundException(s"version ${record.version} of ${folder.root} has just ended")
  }
}
