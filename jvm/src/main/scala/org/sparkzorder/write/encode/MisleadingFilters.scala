package org.sparkzorder.write.encode

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetOutputFormat.{BLOOM_FILTER_ENABLED, BLOOM_FILTER_EXPECTED_NDV}
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BOOLEAN, DOUBLE, FLOAT}

import org.sparkzorder.compat._

/**
 * Columns whose Bloom filter would make a reader lose rows. They never get one, whatever the table and the session say.
 * parquet-java puts no value of a `BOOLEAN` column into the filter. The filter of a `FLOAT` or `DOUBLE` column has the bits
 * of 0.0 or of -0.0, which are equal in SQL, and readers look for the bits of one of them.
 */
private[sparkzorder] object MisleadingFilters {

  def isOf(t: PrimitiveTypeName): Boolean = t == BOOLEAN || t == FLOAT || t == DOUBLE

  /** @param conf of a writer of Parquet that Spark has prepared */
  def turnOff(conf: Configuration, schema: MessageType): Unit = {
    val columns =
      schema.getColumns.asScala.filter(c => isOf(c.getPrimitiveType.getPrimitiveTypeName)).map(_.getPath.toSeq)
    val keys = columns.map(ColumnSetting.key(BLOOM_FILTER_ENABLED, _))
    if (keys.exists(_.isEmpty)) conf.setBoolean(BLOOM_FILTER_ENABLED, false)
    keys.flatten.foreach(conf.setBoolean(_, false))
    columns.flatMap(ColumnSetting.key(BLOOM_FILTER_EXPECTED_NDV, _)).foreach(conf.unset)
  }
}

private[sparkzorder] object ColumnSetting {

  /**
   * The key of parquet-java's setting for a column; None for a column that settings cannot name. The path has dots
   * between the names, and Hadoop cuts off blanks at the ends of a key.
   */
  def key(setting: String, column: Seq[String]): Option[String] = {
    val name = column.mkString(".")
    Option.when(name == name.trim && !column.exists(_.contains(".")))(s"$setting#$name")
  }
}
