package org.sparkzorder.commit

import java.io.FileNotFoundException

/**
 * What a reader sees of a table on a disk or HDFS while files are being exchanged: in each place the side
 * that its marker says. Both sides are whole, so it waits for nobody.
 */
private[commit] object FolderView {

  /**
   * The names of both sides are left out, and the files of one are added where they are now. So it does not
   * matter how old the listing is with which this is put together.
   *
   * @param lives whether the operation's owner may live
   * @throws java.io.FileNotFoundException when something was decided meanwhile, so that the caller has to
   *   look again
   */
  def of(folder: TableFolder, record: Record, lives: Boolean): ReadAround = {
    val places = new FolderPlaces(folder, folder.threads).of(record, isRecovery = !lives)
    val views = WorkerThreads.map(places, folder.threads)(l => if (l.isCopy) ofCopy(l) else ofPlace(folder, record, l))
    ReadAround(views.flatMap(_.leaveOut).toSet, views.flatMap(_.add))
  }

  private def ofCopy(l: Located[FolderPlace]): ReadAround = l.place.rowsOfCopy() match {
    case CopiedMidway.HasInputs   => ReadAround(l.work.outputs.map(_.path).toSet, Nil)
    case CopiedMidway.HasOutputs  => ReadAround(l.work.inputs.map(_.path).toSet, Nil)
    case CopiedMidway.Overwritten => ReadAround(Set.empty, Nil)
  }

  private def ofPlace(folder: TableFolder, record: Record, l: Located[FolderPlace]): ReadAround = {
    val decision = l.place.decision()
    // A marker is gone when its folder was overwritten or moved, or when the operation has ended.
    if (decision.isEmpty) requireUnderWay(folder, record)
    val side = decision.map(l.place.outlook).orElse(if (l.place.isLeft()) Some(Decision.Exchanged) else None)
    val add = side.fold(Seq.empty[AddedFile])(l.place.rows)
    if (l.place.decision() != decision) throw new FileNotFoundException(s"'${l.work.folder}' was decided just now")
    val outputs = l.work.outputs.map(_.path).toSet
    ReadAround(if (side.isEmpty) outputs -- l.place.taken() else outputs ++ l.work.inputs.map(_.path), add)
  }

  private def requireUnderWay(folder: TableFolder, record: Record): Unit = {
    val listed = folder.ops.list(folder.side)
    val isUnderWay = !SideListing.isPublished(listed, record.version) &&
      SideListing.records(listed).exists(f => f.version == record.version && f.state == RecordState.Publishing)
    if (!isUnderWay) throw new FileNotFoundException(s"version ${record.version} of ${folder.root} has just ended")
  }
}
