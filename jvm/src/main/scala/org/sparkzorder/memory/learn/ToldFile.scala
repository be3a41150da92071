package org.sparkzorder.memory.learn

import org.apache.spark.sql.execution.datasources.PartitionedFile

/**
 * A part of a file that tells when a reader goes on to it: then Spark asks for its path, to make it the current file.
 *
 * @param reached is told each time
 */
private[learn] final class ToldFile(file: PartitionedFile, reached: () => Unit)
    extends PartitionedFile(
      file.partitionValues,
      file.filePath,
      file.start,
      file.length,
      file.locations,
      file.modificationTime,
      file.fileSize,
      file.otherConstantMetadataColumnValues
    ) {

  override def urlEncodedPath: String = {
    reached()
    super.urlEncodedPath
  }
}
