package org.sparkzorder.write.encode

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetOutputFormat.{BLOOM_FILTER_ENABLED, BLOOM_FILTER_EXPECTED_NDV}
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BOOLEAN

/**
 * parquet-java puts no value of a `BOOLEAN` column into the column's Bloom filter. A reader that asks the empty filter
 * finds no row. So such a column never gets one, whatever the table and the session say.
 */
private[write] object BooleanFilters {

  /** @param conf of a writer of Parquet that Spark has prepared */
  def turnOff(conf: Configuration, schema: MessageType): Unit = {
    val paths =
      schema.getColumns.asScala.filter(_.getPrimitiveType.getPrimitiveTypeName == BOOLEAN).map(_.getPath.toSeq)
    // Settings cannot name a column with a dot in its name.
    if (paths.exists(_.exists(_.contains(".")))) conf.setBoolean(BLOOM_FILTER_ENABLED, false)
    paths.map(_.mkString(".")).foreach { name =>
      conf.setBoolean(s"$BLOOM_FILTER_ENABLED#$name", false)
      conf.unset(s"$BLOOM_FILTER_EXPECTED_NDV#$name")
    }
  }
}
