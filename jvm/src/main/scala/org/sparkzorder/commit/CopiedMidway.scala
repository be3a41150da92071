package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/**
 * What becomes of a copy of a table on an object store that somebody made while an operation was being
 * published. Uploads and decisions are about the first table. But the outputs of a folder have the rows
 * of its inputs, so either are enough if the copy has all of them.
 */
private[commit] object CopiedMidway {

  /** In the record of an operation under way: the root of its table. */
  val Root = "root"

  /** The root of the first table, if the record came with a copy. */
  def from(folder: TableFolder, record: Record): Option[String] =
    record.metrics.get(Root).filterNot(root => isSame(new Path(root), folder.root))

  /** The scheme may be another one, such as `s3` for `s3a`. */
  private[commit] def isSame(one: Path, other: Path): Boolean =
    one.toUri.getAuthority == other.toUri.getAuthority && one.toUri.getPath == other.toUri.getPath

  /**
   * Whether the inputs of a folder are its rows, or else the outputs.
   *
   * @param found a listing of the folder, by relative paths
   * @throws java.io.IOException when the copy has neither all inputs nor all outputs
   */
  def hasInputs(folder: TableFolder, record: Record, work: FolderWork, found: Map[String, FileMeta]): Boolean = {
    def isThere(path: String, length: Long) = found.get(path).exists(m => !m.isDirectory && m.length == length)
    if (work.inputs.forall(i => isThere(i.path, i.length))) true
    else if (work.outputs.forall(o => isThere(o.path, o.length))) false
    else
      throw new IOException(
        s"${folder.root} is a copy that was made while version ${record.version} of ${record.metrics(Root)} was being " +
          s"published, and '${work.folder}' lacks some of its old and some of its new files: copy it again"
      )
  }
}
