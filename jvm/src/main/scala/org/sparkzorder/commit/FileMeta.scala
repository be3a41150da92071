package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * A file or folder as a listing shows it.
 *
 * @param length bytes; 0 for folders, and -1 for symbolic links to files or to nothing, so that
 *               they match no record
 * @param modificationTime milliseconds since 1970, by the file system's clock
 * @param etag of an object store: another one for each content
 */
final case class FileMeta(
    path: Path,
    length: Long,
    modificationTime: Long,
    isDirectory: Boolean,
    etag: Option[String] = None
) {
  def name: String = path.getName

  /**
   * Whether it is a symbolic link to a file or to nothing. A link to a folder of data counts as
   * that folder.
   */
  def isLink: Boolean = length == FileMeta.LinkLength
}

object FileMeta {
  val LinkLength: Long = -1L
}
