package org.sparkzorder.commit

/**
 * A file that a reader is to read although no listing shows it under this name.
 *
 * @param meta where it is now
 * @param path its name in the table, relative to the root: its folder says its partition
 */
final case class AddedFile(meta: FileMeta, path: String)

/**
 * How to read a table whose files are being exchanged by an owner that is dead, or too slow to wait for: leave out of a
 * listing what is named, then add.
 *
 * @param leaveOut relative paths
 */
final case class ReadAround(leaveOut: Set[String], add: Seq[AddedFile])

object ReadAround {

  /**
   * How to read around records that are being published, for who cannot wait, or not write. None when there are none.
   *
   * @param statuses a listing of the side folder
   */
  def of(folder: TableFolder, statuses: Seq[FileMeta]): Option[ReadAround] = {
    val publishing = TableFolder.records(statuses).filter(_.state == RecordState.Publishing)
    val views = publishing.map(file => around(Survey.listed(folder, RecordJson.read(folder, file))))
    if (views.isEmpty) None else Some(ReadAround(views.flatMap(_.leaveOut).toSet, views.flatMap(_.add)))
  }

  // All names of both sides are left out and those of one side added where they are: so it does not matter how old the
  // listing is. Of a folder that belongs to somebody else, or may, what is visible is read.
  private def around(survey: Survey): ReadAround = {
    val forward = survey.canFinish
    val views = survey.ours.map { found =>
      val names = found.work.inputs.map(_.path) ++ found.work.outputs.map(_.path)
      val add =
        if (forward) found.work.outputs.flatMap(o =>
          found.staged.get(o.path).orElse(found.inPlace.get(o.path)).map(AddedFile(_, o.path))
        )
        else {
          val others = found.work.outputs.filterNot(found.isOut).flatMap(o =>
            found.inPlace.get(o.path).map(AddedFile(_, o.path))
          )
          others ++ found.work.inputs.flatMap(i =>
            found.inPlace.get(i.path).orElse(found.retired.get(i.path)).map(AddedFile(_, i.path))
          )
        }
      (names, add)
    }
    ReadAround(views.flatMap(_._1).toSet, views.flatMap(_._2))
  }
}
