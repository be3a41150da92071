package org.sparkzorder.memory.learn

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Paths}

import scala.util.control.NonFatal

import org.apache.hadoop.fs.LocalFileSystem
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.zorder.SparkOwn

/** Tells whether a task reads the file that the scan was planned with. */
private[learn] object PlannedFile {

  /**
   * What a file is at this moment, if it has the length and the time that it was listed with; else None. A task looks
   * before it opens a file and after it has read it, and both looks must give the same. On a local disk the time of the
   * last change of its entry is a part: it changes if the file is moved away and comes back meanwhile. Files of stores are
   * looked at by the driver, many at once ([[PendingScan]]), since here each look would be a request.
   */
  def look(file: PartitionedFile): Option[Any] =
    if (isInStore(file)) Some(())
    else
      // File systems of others throw more than IO errors. What is not known teaches nothing, and the query goes on.
      try {
        val path = file.toPath
        val fs = path.getFileSystem(SparkOwn.hadoopConf)
        if (fs.getClass == classOf[LocalFileSystem]) {
          val now = Files.readAttributes(Paths.get(path.toUri.getPath), "unix:size,lastModifiedTime,ctime,ino")
          val time = now.get("lastModifiedTime").asInstanceOf[FileTime].toMillis
          if (now.get("size") == file.fileSize && time == file.modificationTime)
            Some((now.get("ctime"), now.get("ino")))
          else None
        } else {
          val now = fs.getFileStatus(path)
          if (now.getLen == file.fileSize && now.getModificationTime == file.modificationTime) Some(()) else None
        }
      } catch { case NonFatal(_) => None }

  def isInStore(file: PartitionedFile): Boolean = Stores(file.toPath.toUri.getScheme)

  private val Stores = Set("s3", "s3a", "s3n")
}
