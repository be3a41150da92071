package org.sparkzorder.write.encode

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.hadoop.ParquetWriter.DEFAULT_BLOCK_SIZE

/**
 * Parquet's writer keeps the Bloom filters of all row groups until the file ends, for each column twice as much as the
 * largest may have. With small row groups, this is many times the size of the file. A filter for one false positive in a
 * hundred takes about ten bits for a value, and a value at least one byte of the row group. So no filter needs to be much
 * larger than its row group.
 */
private[write] object BloomFilterSize {

  /** @param conf of a writer of Parquet that Spark has prepared */
  def limit(conf: Configuration): Unit = {
    val rowGroup = conf.getLong(ParquetOutputFormat.BLOCK_SIZE, DEFAULT_BLOCK_SIZE.toLong)
    val most = math.max(Least, java.lang.Long.highestOneBit(rowGroup))
    if (most < conf.getInt(ParquetOutputFormat.BLOOM_FILTER_MAX_BYTES, UsualMost))
      conf.setInt(ParquetOutputFormat.BLOOM_FILTER_MAX_BYTES, most.toInt)
  }

  private val Least = 1024L

  /** Parquet's default. */
  private val UsualMost = 1 << 20
}
