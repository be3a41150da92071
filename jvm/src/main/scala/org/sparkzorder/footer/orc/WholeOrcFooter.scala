package org.sparkzorder.footer.orc

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.orc.TypeDescription

/**
 * Schema and user metadata of one ORC file, which are too long to be kept for many files.
 *
 * @param proleptic whether its dates and times are in the proleptic Gregorian calendar
 * @param keyValues the user metadata, with each byte as one character
 */
final case class WholeOrcFooter(schema: TypeDescription, proleptic: Boolean, keyValues: Map[String, String])

object WholeOrcFooter {

  /** @throws NotDataFileException for a file that is not intact */
  def of(conf: Configuration, status: FileStatus): WholeOrcFooter = {
    val reader = OrcReaders.open(conf, status.getPath)
    try WholeOrcFooter(reader.getSchema, reader.writerUsedProlepticGregorian, OrcTraits.texts(reader))
    finally reader.close()
  }
}
