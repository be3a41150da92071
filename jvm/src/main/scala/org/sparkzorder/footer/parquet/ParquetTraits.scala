package org.sparkzorder.footer.parquet

import java.io.{EOFException, IOException}
import scala.collection.immutable.BitSet
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, FileStatus}
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.crypto.ParquetCryptoRuntimeException
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.MessageType

import org.sparkzorder.footer.traits.FileTraits
import org.sparkzorder.footer.{ColumnFinder, NotDataFileException}

private[footer] object ParquetTraits {

  /** @param hidden whether a column is encrypted, so that nothing is known of its chunks */
  def of(metadata: ParquetMetadata, hidden: ColumnChunkMetaData => Boolean): FileTraits = {
    val file = metadata.getFileMetaData
    val chunks = metadata.getBlocks.asScala.flatMap(_.getColumns.asScala).filterNot(hidden)
    FileTraits(
      schema = FileTraits.digest(file.getSchema.toString),
      keys = FileTraits.keysOf(WholeFooter.texts(file.getKeyValueMetaData)),
      bloomFilters = chunks.iterator.filter(_.getBloomFilterOffset >= 0).map(_.getPath.toArray.toSeq).toSet,
      dictionaries = BitSet(
        file.getSchema.getColumns.asScala.indices.filter(i =>
          metadata.getBlocks.asScala.map(_.getColumns.get(i)).forall(c => !hidden(c) && isInDictionary(c))
        ): _*
      ),
      encodings = chunks.flatMap { c =>
        c.getEncodings.asScala.filterNot(e => Known(e.name)).map(c.getPrimitiveType.getPrimitiveTypeName -> _)
      }.toSet,
      hasPagesOfVersion2 = chunks.exists(c => Option(c.getEncodingStats).exists(_.usesV2Pages)),
      codecs = chunks.iterator.map(c => ColumnFinder.fold(c.getCodec.name)).toSet
    )
  }

  /** Footers of old writers do not tell. */
  private def isInDictionary(chunk: ColumnChunkMetaData): Boolean = Option(chunk.getEncodingStats)
    .exists(s => s.hasDictionaryEncodedPages && !s.hasNonDictionaryEncodedPages)

  /** Every reader knows these. */
  private val Known = Set("PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED")
}

/** Schema and key-value metadata of one Parquet file, which are too long to be kept for many files. */
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
