package org.sparkzorder.memory.learn

import scala.util.control.NonFatal

import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.zorder.SparkOwn

/** Tells whether a task reads the file that the scan was planned with. */
private[learn] object PlannedFile {

  /**
   * Whether a file has the length and the time that it was listed with. A store gives each file that is put there a time
   * of its own. So there the look of the query that leaves the file out is enough, and this one would be a request.
   */
  def isThere(file: PartitionedFile): Boolean = Stores(file.toPath.toUri.getScheme) ||
    (try {
      val now = file.toPath.getFileSystem(SparkOwn.hadoopConf).getFileStatus(file.toPath)
      now.getLen == file.fileSize && now.getModificationTime == file.modificationTime
      // File systems of others throw more than IO errors. What is not known teaches nothing, and the query goes on.
    } catch { case NonFatal(_) => false })

  private val Stores = Set("s3", "s3a", "s3n")
}
