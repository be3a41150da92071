package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._

/**
 * Empty files in the side folder of a folder that a table has left. An overwrite of the folder deletes them.
 *
 * @param names of the files in the side folder
 */
private[catalog] final class FolderNotes(names: Set[String]) {
  import FolderNotes._

  def isLeft(operationId: String): Boolean = names(left(operationId))

  /** Whether VACUUM may have deleted the files that the operation replaced here. */
  def isVacuumed(operationId: String): Boolean = names(vacuumed(operationId))

  /** The files whose rows are, or were, in a later folder. */
  lazy val carried: CarriedFiles = new CarriedFiles(names.collect {
    case name if name.startsWith(Carried) => name.stripPrefix(Carried)
  })
}

private[sparkzorder] object FolderNotes {
  private val Left = s"${SideNames.Hidden}left-"
  private val Vacuumed = s"${SideNames.Hidden}vacuumed-"
  private val Carried = s"${SideNames.Hidden}carried-"

  private[catalog] def left(operationId: String): String = Left + operationId

  private[catalog] def vacuumed(operationId: String): String = Vacuumed + operationId

  private[catalog] def carried(file: FileMeta): String = Carried + CarriedName.key(file)

  def isOne(meta: FileMeta): Boolean = !meta.isDirectory && Seq(Left, Vacuumed, Carried).exists(meta.name.startsWith)

  private[catalog] def in(folder: Path, ops: FileOps): FolderNotes =
    new FolderNotes(ops.list(new Path(folder, SideNames.Side)).map(_.name).toSet)

  private[catalog] def forget(folder: Path, file: FileMeta, ops: FileOps): Unit =
    ops.delete(FileNames.child(new Path(folder, SideNames.Side), carried(file)))

  private[catalog] def leave(folder: Path, note: String, ops: FileOps): Unit = {
    val path = FileNames.child(new Path(folder, SideNames.Side), note)
    ops.mkdirs(path.getParent)
    if (!ops.exists(path)) ops.writeNew(path, Array.emptyByteArray)
  }
}
