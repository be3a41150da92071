package org.sparkzorder.footer.files

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

/** Tells whether files are still as they were listed. */
object UnchangedFiles {

  /** For each file, whether it still has its length and time stamp. Each folder is listed once. */
  def of(conf: Configuration, files: Seq[FileStatus]): IndexedSeq[Boolean] = {
    val folders = files.map(_.getPath.getParent).distinct.toIndexedSeq
    val now = Footers.onDriver(folders)(listed(conf, _)).flatten.toMap
    files.map(f => now.get(f.getPath).contains((f.getLen, f.getModificationTime))).toIndexedSeq
  }

  private def listed(conf: Configuration, folder: Path): Seq[(Path, (Long, Long))] =
    try folder.getFileSystem(conf).listStatus(folder).toSeq.map(s => s.getPath -> ((s.getLen, s.getModificationTime)))
    catch { case _: FileNotFoundException => Nil }
}
