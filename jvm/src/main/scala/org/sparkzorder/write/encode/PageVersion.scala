package org.sparkzorder.write.encode

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetOutputFormat

/**
 * In pages of version 2, parquet-java encodes byte strings as differences. Spark's vectorized reader misreads these where
 * pages are not compressed. So a rewrite writes such pages only if they are compressed, whatever the old files, the table
 * and the session say.
 */
private[write] object PageVersion {

  /** @param conf of a writer of Parquet that Spark has prepared */
  def keepReadable(conf: Configuration): Unit =
    if ("UNCOMPRESSED".equalsIgnoreCase(conf.get(ParquetOutputFormat.COMPRESSION)))
      conf.set(ParquetOutputFormat.WRITER_VERSION, "v1")
}
