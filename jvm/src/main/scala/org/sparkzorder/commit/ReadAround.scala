package org.sparkzorder.commit

import java.io.IOException

import scala.annotation.tailrec

/**
 * A file that a reader must read, although no listing shows it under its name.
 *
 * @param meta where it is now
 * @param path its name in the table, relative to the root; the partition is that of this name
 */
final case class AddedFile(meta: FileMeta, path: String)

/**
 * How to read a table while its files are being exchanged by an owner that is dead, or too slow to
 * wait for: take a listing, leave out some names, and add some files.
 *
 * @param leaveOut relative paths
 */
final case class ReadAround(leaveOut: Set[String], add: Seq[AddedFile])

object ReadAround {

  /** How often a folder is listed again in which a living owner moves files. */
  private val Looks = 10
  private val PauseMillis = 50L

  /**
   * How to read around operations that are being published, for a reader that cannot wait or may
   * not write. None when there are none.
   *
   * @param statuses a listing of the side folder
   * @param lives whether their owner may live: then a file may be moving at this moment
   * @throws RecoveryUnclearException when nobody can tell which rows are right
   * @throws java.io.IOException when others have changed files that a living owner has yet to judge
   */
  def of(
      folder: TableFolder,
      statuses: Seq[FileMeta],
      lives: Boolean = false,
      sleep: Long => Unit = Thread.sleep(_)
  ): Option[ReadAround] = {
    // If its version is in the history, all files are where they belong, and only the record is left.
    val publishing = SideListing.records(statuses)
      .filter(f => f.state == RecordState.Publishing && !SideListing.isPublished(statuses, f.version))
    val views = publishing.map { file =>
      val record = RecordJson.read(folder, file)
      if (record.way != Way.Renames)
        ScanView.of(Places.of(folder, folder.threads), folder, record, lives, folder.threads)
      else if (lives) beside(folder, record, sleep) else after(folder, record, sleep)
    }
    if (views.isEmpty) None else Some(ReadAround(views.flatMap(_.leaveOut).toSet, views.flatMap(_.add)))
  }

  private def after(folder: TableFolder, record: Record, sleep: Long => Unit): ReadAround = {
    val survey = StrayFolders.located(folder, record, sleep)(FileLocations.listed(folder, _)).locations
    // If somebody replaced all files of a folder by hand, his files are read. In a folder that is
    // gone there is nothing to read.
    val undecided =
      survey.unclear.filter(f =>
        f.origin.isDefined || !f.absent && (f.visible.nonEmpty || f.hasTouched || f.strangers.isEmpty)
      )
    if (undecided.nonEmpty) throw new RecoveryUnclearException(folder.root, record.version, undecided.map(_.describe))
    view(survey.ours, survey.canFinish)
  }

  private def beside(folder: TableFolder, record: Record, sleep: Long => Unit): ReadAround = {
    @tailrec def look(left: Int): ReadAround = {
      val named = FileLocations.listed(folder, record)
      def followed = StrayFolders.located(folder, record, sleep)(FileLocations.listed(folder, _)).locations
      val found =
        (if (named.folders.exists(_.isLost)) followed else named).folders.filterNot(f => f.overwritten || f.absent)
      found.find(!_.isWhole) match {
        case None                => view(found, forward = true)
        case Some(_) if left > 0 =>
          sleep(PauseMillis)
          look(left - 1)
        // The inputs or the outputs may still be complete in the trash or in staging, but their
        // rows may have been deleted since.
        case Some(odd) =>
          val where = if (odd.work.folder.isEmpty) "of the table" else s"in '${odd.work.folder}'"
          throw new IOException(
            s"files $where were changed or deleted while another process publishes; it decides what is right when it goes on"
          )
      }
    }
    look(Looks)
  }

  /**
   * Leaves out the names of all inputs and outputs, and adds one side where its files are now. So
   * it does not matter how old the listing is.
   */
  private def view(folders: Seq[FolderLocations], forward: Boolean): ReadAround = {
    val leftOut = folders.flatMap(f => f.work.inputs.map(_.path) ++ f.work.outputs.map(_.path))
    val added = folders.flatMap(if (forward) addedOutputs(_) else addedInputs(_))
    // A link may lead somewhere else from another folder.
    added.map(_.meta).find(_.isLink).foreach { m =>
      throw new IOException(s"${m.path} is a symbolic link in the midst of an operation, which a recovery has to undo")
    }
    ReadAround(leftOut.toSet, added)
  }

  private def addedOutputs(found: FolderLocations): Seq[AddedFile] =
    found.work.outputs.flatMap { o =>
      found.staged.get(o.path).orElse(found.inPlace.get(o.path)).map(AddedFile(_, o.path))
    }

  /** The inputs, and files of others that have taken the names of outputs. */
  private def addedInputs(found: FolderLocations): Seq[AddedFile] = {
    val others = found.work.outputs.filterNot(found.isOut).flatMap { o =>
      found.inPlace.get(o.path).map(AddedFile(_, o.path))
    }
    others ++ found.work.inputs.flatMap { i =>
      found.inPlace.get(i.path).orElse(found.retired.get(i.path)).map(AddedFile(_, i.path))
    }
  }
}
