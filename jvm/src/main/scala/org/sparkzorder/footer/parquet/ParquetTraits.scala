package org.sparkzorder.footer.parquet

import java.io.IOException

import scala.collection.immutable.BitSet
import scala.jdk.CollectionConverters._

import org.apache.parquet.format.{PageHeader, PageType}
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}

import org.sparkzorder.footer.NameMatch
import org.sparkzorder.footer.traits.FileTraits

/** The traits of a Parquet file. */
private[footer] object ParquetTraits {

  /**
   * @param hidden whether a column is encrypted, so that nothing is known of its chunks
   * @param pageHeader reads the page header at an offset of the file
   */
  def of(
      metadata: ParquetMetadata,
      hidden: ColumnChunkMetaData => Boolean,
      pageHeader: Long => PageHeader
  ): FileTraits = {
    val file = metadata.getFileMetaData
    val chunks = metadata.getBlocks.asScala.flatMap(_.getColumns.asScala).filterNot(hidden)
    val (keys, extents) = FileTraits.keysOf(WholeFooter.texts(file.getKeyValueMetaData))
    FileTraits(
      schema = FileTraits.digest(file.getSchema.toString),
      keys = keys,
      extents = extents,
      bloomFilters = chunks.iterator.filter(_.getBloomFilterOffset >= 0).map(_.getPath.toArray.toSeq).toSet,
      dictionaries = BitSet(
        file.getSchema.getColumns.asScala.indices.filter(i =>
          metadata.getBlocks.asScala.map(_.getColumns.get(i)).forall(c => !hidden(c) && isInDictionary(c))
        ): _*
      ),
      pageVersions = {
        val found =
          if (isOfParquetJava(file.getCreatedBy)) chunks.iterator.flatMap(pageVersion).toSet
          else chunks.headOption.flatMap(firstPage(_, pageHeader)).toSet
        if (found == Set(2) && !chunks.exists(hasDeltas)) Set.empty else found
      },
      codecs = chunks.iterator.map(c => NameMatch.fold(c.getCodec.name)).toSet
    )
  }

  /** Footers of old writers do not tell. */
  private def isInDictionary(chunk: ColumnChunkMetaData): Boolean = Option(chunk.getEncodingStats)
    .exists(s => s.hasDictionaryEncodedPages && !s.hasNonDictionaryEncodedPages)

  private def pageVersion(chunk: ColumnChunkMetaData): Option[Int] =
    Option(chunk.getEncodingStats).map(s => if (s.usesV2Pages) 2 else 1)

  private def hasDeltas(chunk: ColumnChunkMetaData): Boolean =
    chunk.getEncodings.asScala.exists(_.name.startsWith("DELTA_"))

  private def isOfParquetJava(createdBy: String): Boolean = createdBy != null && createdBy.startsWith("parquet-mr")

  /**
   * The version of the chunk's first page, for writers whose footers do not tell the versions
   * apart.
   */
  private def firstPage(chunk: ColumnChunkMetaData, pageHeader: Long => PageHeader): Option[Int] =
    try Some(if (pageHeader(chunk.getFirstDataPageOffset).getType == PageType.DATA_PAGE_V2) 2 else 1)
    catch {
      // A damaged file is reported later, when its rows are read.
      case _: IOException | _: RuntimeException => None
    }
}
