package org.sparkzorder.table

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.FileStatus

/** Data files that are symbolic links, as DVC, git-annex and caches of models make them. */
object LinkedFiles {

  def of(files: Seq[FileStatus]): Seq[FileStatus] = files.filter(isLink)

  // A hard link is a file like any other: renames and deletes leave its other names alone.
  private def isLink(file: FileStatus): Boolean = {
    val uri = file.getPath.toUri
    file.isSymlink || (uri.getScheme == "file" && Files.isSymbolicLink(Paths.get(uri.getPath)))
  }
}
