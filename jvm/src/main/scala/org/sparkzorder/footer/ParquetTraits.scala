package org.sparkzorder.footer

import scala.jdk.CollectionConverters._

import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}

/** The traits of a Parquet file. */
private[footer] object ParquetTraits {

  /** @param hidden whether a column is encrypted, so that nothing is known of its chunks */
  def of(metadata: ParquetMetadata, hidden: ColumnChunkMetaData => Boolean): FileTraits = {
    val file = metadata.getFileMetaData
    val chunks = metadata.getBlocks.asScala.flatMap(_.getColumns.asScala).filterNot(hidden)
    val (keys, extents) = FileTraits.keysOf(WholeFooter.texts(file.getKeyValueMetaData))
    FileTraits(
      schema = FileTraits.digest(file.getSchema.toString),
      keys = keys,
      extents = extents,
      bloomFilters = chunks.iterator.filter(_.getBloomFilterOffset >= 0).map(_.getPath.toArray.toSeq).toSet,
      pageVersions = chunks.iterator.flatMap(pageVersion).toSet,
      codecs = chunks.iterator.map(c => NameMatch.fold(c.getCodec.name)).toSet
    )
  }

  private def pageVersion(chunk: ColumnChunkMetaData): Option[Int] =
    Option(chunk.getEncodingStats).map(s => if (s.usesV2Pages) 2 else 1)
}
