package org.sparkzorder.commit.place

import java.io.IOException

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.History
import org.sparkzorder.compat._

/**
 * What becomes of a copy of a table that was made while an operation was being
 * published. Uploads and decisions are about the first table. But the outputs of a folder have the rows
 * of its inputs, so either are enough if the copy has all of them.
 */
private[commit] object CopiedMidway {

  /** The root of the first table, if the record came with a copy. */
  def from(folder: TableFolder, record: Record): Option[String] =
    record.root.filterNot(root => isSame(new Path(root), folder.root))

  /**
   * The scheme may be another one, such as `s3` for `s3a`. A path that was made from a URI may end with a
   * slash.
   */
  private[commit] def isSame(one: Path, other: Path): Boolean = {
    def place(path: Path) = (path.toUri.getAuthority, path.toUri.getPath.stripSuffix("/"))
    place(one) == place(other)
  }

  /** Which files of a folder are its rows. */
  sealed trait Rows

  /** The inputs. Outputs that are there as well do not count. */
  case object HasInputs extends Rows

  /** The outputs. */
  case object HasOutputs extends Rows

  /** Others, since the folder was overwritten or deleted. */
  case object Overwritten extends Rows

  /**
   * Which files of a folder are its rows.
   *
   * @param found a listing of the folder, by relative paths
   * @param isMarked whether the operation's marker is there. An overwrite of the folder deletes it
   * @throws java.io.IOException when the copy has neither all inputs nor all outputs
   */
  def judge(
      folder: TableFolder,
      record: Record,
      work: FolderWork,
      found: Map[String, FileMeta],
      isMarked: Boolean
  ): Rows = {
    def isThere(path: String, length: Long) = found.get(path).exists(m => !m.isDirectory && m.length == length)
    val (inputs, outputs) = (work.inputs.map(i => i.path -> i.length), work.outputs.map(o => o.path -> o.length))
    if (!isMarked && !(inputs ++ outputs).exists { case (path, _) => found.contains(path) }) Overwritten
    else if (inputs.nonEmpty && inputs.forall((isThere _).tupled)) HasInputs
    else if (outputs.forall((isThere _).tupled)) HasOutputs
    else if (inputs.isEmpty) HasInputs
    else
      throw new IOException(
        s"${folder.root} is a copy that was made while version ${record.version} of ${record.root.getOrElse(folder.root)} " +
          s"was being published, and '${work.folder}' lacks some of its old and some of its new files: copy it again"
      )
  }

  /**
   * Refuses to roll back an operation of which new files are there: no record of the table tells of them,
   * as in a copy to which the record did not come.
   *
   * @param dirs the folders that the operation marked
   * @throws java.io.IOException when there are such files
   */
  def refuseUntold(store: ObjectStore, folder: TableFolder, operationId: String, dirs: Seq[String]): Unit = {
    def outputs = dirs.iterator.flatMap(dir => store.list(folder.resolve(dir)))
      .filter(m => !m.isDirectory && FileNames.isData(m.name) && m.name.contains(s"-$operationId-"))
    def isPublished = History.read(folder).exists(_.record.operationId == operationId)
    outputs.nextOption().filterNot(_ => isPublished).foreach { m =>
      throw new IOException(
        s"${folder.root} is a copy that was made while files were being exchanged, and the record of the operation " +
          s"that wrote ${m.path} is not in it: copy it again"
      )
    }
  }
}
