package org.sparkzorder.commit.machine

import java.io.FileNotFoundException

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.RecordJson
import org.sparkzorder.commit.place.{Located, Place, Places, StoragePlaces}

/**
 * What a reader sees of a table while files are being exchanged: in each place the side that its marker
 * says. Both sides are whole, so it need not wait.
 */
private[commit] object ScanView {

  /**
   * How to read around operations that are being published. None when there are none.
   *
   * @param statuses a listing of the side folder
   * @param lives whether their owner may live
   * @throws java.io.FileNotFoundException when something was decided meanwhile, or an operation has just
   *   come to its end
   */
  def of(folder: TableFolder, statuses: Seq[FileMeta], lives: Boolean = false): Option[ReadAround] = {
    // If its version is in the history, all files are where they belong, and only the record is left.
    val publishing = SideListing.records(statuses)
      .filter(f => f.state == RecordState.Publishing && !SideListing.isPublished(statuses, f.version))
    val views = publishing.map { file =>
      val places = StoragePlaces.of(folder)
      ofOperation(places, folder, RecordJson.read(folder, file), lives, folder.threads)
    }
    if (views.isEmpty) None else Some(ReadAround(views.flatMap(_.leaveOut).toSet, views.flatMap(_.add)))
  }

  /**
   * The names of both sides are left out, and the files of one are added where they are now. So it does not
   * matter how old or new the listing is with which this is put together: a file that is gone by then is
   * an error and no missing row.
   *
   * @param lives whether the operation's owner may live
   * @throws java.io.FileNotFoundException when something was decided meanwhile, or the operation has just
   *   come to its end, so that the caller has to look again
   * @throws FoldersUnclearException when only a person can say whose files are the rows
   */
  private[commit] def ofOperation(
      places: Places,
      folder: TableFolder,
      record: Record,
      lives: Boolean,
      threads: Int
  ): ReadAround = {
    val found = places.of(record, isRecovery = !lives)
    val unclear = found.flatMap(_.unclear)
    if (unclear.nonEmpty) throw new FoldersUnclearException(folder.root, record.version, unclear)
    val views = WorkerThreads.map(found, threads)(ofPlace(folder, record, _))
    ReadAround(views.flatMap(_.leaveOut).toSet, views.flatMap(_.add))
  }

  private def ofPlace(folder: TableFolder, record: Record, l: Located[_ <: Place]): ReadAround = {
    val decision = l.place.decision()
    // A marker is gone when its folder was overwritten or moved, or when the operation has ended.
    if (decision.isEmpty) requireUnderWay(folder, record)
    if (decision.isEmpty && l.place.isUnclear())
      throw new FoldersUnclearException(folder.root, record.version, Seq(AwayFolder.of(l.work, isGone = false)))
    val outputs = l.work.outputs.map(_.path).toSet
    val whole = if (decision.isEmpty && l.place.isLeft()) Some(Decision.Exchanged) else decision
    whole match {
      case Some(side) => ReadAround(outputs ++ l.work.inputs.map(_.path), l.place.rows(side))
      // Without its marker the operation has lost the folder. Its owner now may be about to exchange the
      // same inputs, and has a record of its own.
      case None =>
        val taken = l.place.taken()
        if (l.place.decision().isDefined) throw new FileNotFoundException(s"'${l.work.folder}' was moved just now")
        ReadAround(outputs -- taken, Nil)
    }
  }

  private def requireUnderWay(folder: TableFolder, record: Record): Unit = {
    val listed = folder.ops.list(folder.side)
    val isUnderWay = !SideListing.isPublished(listed, record.version) &&
      SideListing.records(listed).exists(f => f.version == record.version && f.state == RecordState.Publishing)
    if (!isUnderWay) throw new FileNotFoundException(s"version ${record.version} of ${folder.root} has just ended")
  }
}
