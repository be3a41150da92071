package org.sparkzorder.write.encode

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetOutputFormat.{BLOOM_FILTER_ENABLED, BLOOM_FILTER_EXPECTED_NDV}
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BOOLEAN, DOUBLE, FLOAT}

/**
 * Columns whose Bloom filter would make a reader lose rows. They never get one, whatever the table and the session say.
 * parquet-java puts no value of a `BOOLEAN` column into the filter. The filter of a `FLOAT` or `DOUBLE` column has the bits
 * of 0.0 or of -0.0, which are equal in SQL, and readers look for the bits of one of them.
 */
private[sparkzorder] object MisleadingFilters {

  def isOf(t: PrimitiveTypeName): Boolean = t == BOOLEAN || t == FLOAT || t == DOUBLE

  /** @param conf of a writer of Parquet that Spark has prepared */
  def turnOff(conf: Configuration, schema: MessageType): Unit = {
    val paths =
      schema.getColumns.asScala.filter(c => isOf(c.getPrimitiveType.getPrimitiveTypeName)).map(_.getPath.toSeq)
    // Settings cannot name a column with a dot in its name.
    if (paths.exists(_.exists(_.contains(".")))) conf.setBoolean(BLOOM_FILTER_ENABLED, false)
    paths.map(_.mkString(".")).foreach { name =>
      conf.setBoolean(s"$BLOOM_FILTER_ENABLED#$name", false)
      conf.unset(s"$BLOOM_FILTER_EXPECTED_NDV#$name")
    }
  }
}
