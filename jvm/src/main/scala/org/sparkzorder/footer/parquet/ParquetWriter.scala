package org.sparkzorder.footer.parquet

import scala.annotation.nowarn

import org.apache.parquet.column.Encoding
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BOOLEAN

import org.sparkzorder.footer.{Belief, WritersTable}
import org.sparkzorder.footer.traits.KeyValues

/**
 * The program that wrote a Parquet file, as far as the footer tells.
 *
 * @param createdBy the footer's `created_by`, null when absent
 * @param keys the footer's key-value metadata
 * @param rowGroups the chunks that are not encrypted, of each row group
 * @param isRepeated whether a chunk is below a list or a map
 */
private[footer] final class ParquetWriter(
    createdBy: String,
    keys: String => Option[String],
    rowGroups: Seq[Seq[ColumnChunkMetaData]] = Nil,
    isRepeated: ColumnChunkMetaData => Boolean = _ => false
) {

  /** Spark's own test for INT96: `spark.sql.parquet.int96TimestampConversion` does not touch these files. */
  val isParquetJava: Boolean = createdBy != null && createdBy.startsWith("parquet-mr")

  /**
   * Chunks of other writers may have been copied into the file as they were, with their statistics. Some tools say so.
   * `ParquetFileWriter.appendFile` does not, so each row group has to look like one of parquet-java.
   */
  private val isJoined =
    keys(KeyValues.OriginalWriter).isDefined || isParquetJava && rowGroups.exists { chunks =>
      val told = chunks.map(isOwn)
      chunks.nonEmpty && (told.contains(Some(false)) || !told.contains(Some(true)))
    }

  /**
   * Whether parquet-java wrote a chunk. It names BIT_PACKED for levels that a chunk of pages of version 1 does not
   * have, and no encoding of levels for pages of version 2. All others name RLE, or have no index of pages, which
   * parquet-java has had since 1.11. None where its own chunk may name RLE alone: it has both levels, or booleans in
   * pages of version 2.
   */
  @nowarn("cat=deprecation")
  private def isOwn(chunk: ColumnChunkMetaData): Option[Boolean] = {
    val WithPageIndex = "parquet-mr version (1\\.(1[1-9]|[2-9][0-9])|[2-9]).*"
    val encodings = chunk.getEncodings
    val hasPageIndex = chunk.getOffsetIndexReference != null
    if (encodings.contains(Encoding.BIT_PACKED)) Some(hasPageIndex || !createdBy.matches(WithPageIndex))
    else if (isRepeated(chunk) || chunk.getPrimitiveType.getPrimitiveTypeName == BOOLEAN) None
    else Some(hasPageIndex && !encodings.contains(Encoding.RLE))
  }

  /**
   * What is believed of the file's statistics. Parquet.Net moves clocks by the time zone of its machine, writers in
   * JavaScript compare UTF-16 units, and others counted nulls wrong or stored bounds of other pages. Spark's reader
   * pushes down no filter that would show it.
   */
  val belief: Belief = if (isJoined) Belief() else WritersTable.ofParquet(createdBy)

  /**
   * Whether the rows come from Spark, which knows microseconds only. Other writers copy Spark's
   * keys into their own files, so the writer must be parquet-java. parquet-java's tools join files
   * of several writers, but then they say so.
   */
  val isSpark: Boolean = isParquetJava && !isJoined &&
    (keys("org.apache.spark.version").isDefined || keys(SparkRowTypes.key).isDefined)

  private val sparkVersion = keys("org.apache.spark.version")

  /** Whether the file says the calendar of its dates and INT64 instants. */
  def saysCalendar: Boolean = sparkVersion.isDefined

  /** Whether stored dates and INT64 instants are in the proleptic calendar: of Spark 3 or later, not in legacy mode. */
  val proleptic: Boolean = sparkVersion.exists(_ >= "3.0.0") && keys("org.apache.spark.legacyDateTime").isEmpty

  /** Whether the file says the writer's time zone, which legacy instants need. Else the reader's JVM decides. */
  val saysTimeZone: Boolean = keys("org.apache.spark.timeZone").isDefined

  val prolepticInt96: Boolean = sparkVersion.exists(_ >= "3.1.0") && keys("org.apache.spark.legacyINT96").isEmpty
}
