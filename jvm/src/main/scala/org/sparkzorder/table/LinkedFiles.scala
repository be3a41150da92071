package org.sparkzorder.table

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.FileStatus

/** Finds data files that are symbolic links, as DVC, git-annex and caches of models make them. */
object LinkedFiles {

  def of(files: Seq[FileStatus]): Seq[FileStatus] = files.filter(isLink)

  // Hard links do no harm: renaming or deleting one leaves the other names of the file alone.
  private def isLink(file: FileStatus): Boolean = {
    val uri = file.getPath.toUri
    file.isSymlink || (uri.getScheme == "file" && Files.isSymbolicLink(Paths.get(uri.getPath)))
  }
}
