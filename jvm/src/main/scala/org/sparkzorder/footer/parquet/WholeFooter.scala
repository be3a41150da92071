package org.sparkzorder.footer.parquet

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.schema.MessageType

/**
 * Schema and key-value metadata of one Parquet file, which are too long to be kept for many files.
 */
final case class WholeFooter(schema: MessageType, keyValues: Map[String, String])

object WholeFooter {

  /** @throws NotDataFileException for a file that is not intact */
  def of(conf: Configuration, status: FileStatus): WholeFooter = {
    val file = ParquetMetadataReader.read(conf, status).getFileMetaData
    WholeFooter(file.getSchema, texts(file.getKeyValueMetaData))
  }

  private[footer] def texts(keyValues: java.util.Map[String, String]): Map[String, String] =
    keyValues.asScala.iterator.filter { case (key, value) => key != null && value != null }.toMap
}
