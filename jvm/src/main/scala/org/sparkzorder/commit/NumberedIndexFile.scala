package org.sparkzorder.commit

import org.apache.hadoop.fs.{FileStatus, FileSystem}

/** A file of statistics as a listing of the side folder shows it. */
final case class NumberedIndexFile(number: Long, meta: FileMeta) {

  /** Its status. An object store has told all of it in the listing. */
  def status(fs: FileSystem): FileStatus =
    if (meta.etag.isEmpty) fs.getFileStatus(meta.path)
    else new FileStatus(meta.length, false, 1, 0L, meta.modificationTime, fs.makeQualified(meta.path))
}
