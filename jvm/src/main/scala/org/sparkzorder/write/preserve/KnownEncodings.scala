package org.sparkzorder.write.preserve

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.Encoding._
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/**
 * Not every reader knows every encoding of Parquet for every type. Polars 2.1 reads differences of texts, but not of
 * fixed-length binaries. So a rewrite writes an encoding for a type only if some old file has it for the type, whatever the
 * table and the session say. All readers know plain values, dictionaries and runs.
 */
private[sparkzorder] object KnownEncodings {

  /** What parquet-java may write into pages of version 2. */
  private val OfVersion2 = Set(
    INT32 -> DELTA_BINARY_PACKED,
    INT64 -> DELTA_BINARY_PACKED,
    BINARY -> DELTA_BYTE_ARRAY,
    FIXED_LEN_BYTE_ARRAY -> DELTA_BYTE_ARRAY
  )

  private val Split = Set(FLOAT -> BYTE_STREAM_SPLIT, DOUBLE -> BYTE_STREAM_SPLIT)

  def canBeVersion2(kept: KeptParquet): Boolean = kept.hadAll(OfVersion2)

  /**
   * Spark's vectorized reader misreads bytes that are encoded as differences where pages are not compressed. So pages of
   * version 2 are always compressed.
   *
   * @param conf of a writer of Parquet that Spark has prepared
   * @param kept None when nothing is known of the old files
   */
  def keepTo(conf: Configuration, kept: Option[KeptParquet]): Unit = {
    val isCompressed = !"UNCOMPRESSED".equalsIgnoreCase(conf.get(ParquetOutputFormat.COMPRESSION))
    if (!isCompressed || !kept.exists(canBeVersion2)) conf.set(ParquetOutputFormat.WRITER_VERSION, "v1")
    // Not every version of parquet-java has a name for this setting.
    if (!kept.exists(_.hadAll(Split))) conf.setBoolean("parquet.enable.bytestreamsplit", false)
  }
}
