package org.sparkzorder.commit

/**
 * A file that a reader must read, although no listing shows it under its name.
 *
 * @param meta where it is now
 * @param path its name in the table, relative to the root; the partition is that of this name
 */
final case class AddedFile(meta: FileMeta, path: String)

/**
 * How to read a table while its files are being exchanged: take a listing, leave out some names, and
 * add some files.
 *
 * @param leaveOut relative paths
 */
final case class ReadAround(leaveOut: Set[String], add: Seq[AddedFile])

object ReadAround {

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
      val places = Places.of(folder, folder.threads)
      ScanView.of(places, folder, RecordJson.read(folder, file), lives, folder.threads)
    }
    if (views.isEmpty) None else Some(ReadAround(views.flatMap(_.leaveOut).toSet, views.flatMap(_.add)))
  }
}
