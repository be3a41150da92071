package org.sparkzorder.footer.parquet

import java.io.{EOFException, IOException}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, FileStatus}
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.crypto.ParquetCryptoRuntimeException
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.hadoop.util.HadoopInputFile

import org.sparkzorder.footer.NotDataFileException

/** Reads the footers of Parquet files as parquet-java presents them. */
private[footer] object ParquetMetadataReader {

  /** @throws NotDataFileException for a file that is not intact */
  def read(conf: Configuration, status: FileStatus): ParquetMetadata = {
    val path = status.getPath.toString
    val input = HadoopInputFile.fromStatus(status, conf)
    val options =
      HadoopReadOptions.builder(conf, status.getPath).withMetadataFilter(ParquetMetadataConverter.NO_FILTER).build()
    val stream = input.newStream()
    try ParquetFileReader.readFooter(input, options, stream)
    catch {
      // parquet-java throws plain runtime exceptions for 'not a Parquet file' and 'corrupt'; Thrift
      // errors come as IOExceptions.
      case e: ParquetCryptoRuntimeException =>
        val why = Option(e.getMessage).getOrElse(e.getClass.getSimpleName)
        throw new NotDataFileException(path, why, e, isEncrypted = true)
      case e: RuntimeException  => throw new NotDataFileException(path, "it is not a readable Parquet file", e)
      case e: EOFException      => throw new NotDataFileException(path, "it ends within its Parquet footer", e)
      case e: ChecksumException => throw new NotDataFileException(path, "its checksum does not match", e)
      case e: IOException if fromThrift(e) => throw new NotDataFileException(path, "its Parquet footer is damaged", e)
    } finally stream.close()
  }

  private def fromThrift(e: IOException): Boolean =
    e.getCause != null && e.getCause.getClass.getName.contains("org.apache.thrift")
}
