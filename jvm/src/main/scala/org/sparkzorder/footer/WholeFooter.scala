package org.sparkzorder.footer

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.orc.TypeDescription
import org.apache.parquet.schema.MessageType

/** Schema and key-value metadata of one file, which are too long to be kept for many files. */
final case class WholeFooter(schema: MessageType, keyValues: Map[String, String])

/**
 * The same of an ORC file.
 *
 * @param proleptic whether its dates and times are in the proleptic Gregorian calendar
 * @param keyValues the user metadata, with each byte as one character
 */
final case class WholeOrcFooter(schema: TypeDescription, proleptic: Boolean, keyValues: Map[String, String])

object WholeFooter {

  /** @throws NotDataFileException for a file that is not intact */
  def parquet(conf: Configuration, status: FileStatus): WholeFooter = {
    val file = ParquetMetadataReader.read(conf, status).getFileMetaData
    WholeFooter(file.getSchema, texts(file.getKeyValueMetaData))
  }

  /** @throws NotDataFileException for a file that is not intact */
  def orc(conf: Configuration, status: FileStatus): WholeOrcFooter = {
    val reader = OrcReaders.open(conf, status.getPath)
    try WholeOrcFooter(reader.getSchema, reader.writerUsedProlepticGregorian, OrcTraits.texts(reader))
    finally reader.close()
  }

  private[footer] def texts(keyValues: java.util.Map[String, String]): Map[String, String] =
    keyValues.asScala.iterator.filter { case (key, value) => key != null && value != null }.toMap
}
