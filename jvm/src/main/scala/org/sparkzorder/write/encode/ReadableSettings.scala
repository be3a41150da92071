package org.sparkzorder.write.encode

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.hadoop.ParquetOutputFormat._
import org.apache.parquet.hadoop.ParquetWriter.DEFAULT_BLOCK_SIZE
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BOOLEAN, DOUBLE, FLOAT}

import org.sparkzorder.compat._

/**
 * The dictionaries of FLOAT and DOUBLE columns. In SQL -0.0 equals 0.0, but their bits differ. A reader that looks for
 * the bits of one in a dictionary loses the rows with the other. parquet-java knows nothing of this, so by its settings
 * such columns have no dictionary. Our own writer of values gives them one, which it gives up at the first -0.0 of a
 * row group. Then the chunk has a plain page, and no reader trusts its dictionary.
 *
 * @param columns the leaves that had a dictionary by the settings, by their paths in the file
 * @param withZero those that may have 0.0 in a dictionary, too: all their values in the old files are in dictionaries,
 *   so a query for the literal -0.0 did not find the rows of a row group that has only 0.0 before, either
 */
private[write] final case class FloatDictionaries(columns: Set[Seq[String]], withZero: Set[Seq[String]]) {
  private[encode] def has(column: ColumnDescriptor): Boolean = columns(column.getPath.toSeq)
  private[encode] def mayHaveZero(column: ColumnDescriptor): Boolean = withZero(column.getPath.toSeq)
}

private[write] object FloatDictionaries {

  val none: FloatDictionaries = FloatDictionaries(Set.empty, Set.empty)

  /**
   * Turns them off in the settings of parquet-java, and returns what these said.
   *
   * @param conf of a writer of Parquet that Spark has prepared
   */
  def takeFrom(conf: Configuration, schema: MessageType, withZero: Set[Seq[String]]): FloatDictionaries = {
    val (floats, others) =
      schema.getColumns.asScala.toSeq.partition(c => types(c.getPrimitiveType.getPrimitiveTypeName))
    val usual = conf.getBoolean(ENABLE_DICTIONARY, true)
    def isOn(c: ColumnDescriptor): Boolean = key(c).fold(usual)(conf.getBoolean(_, usual))
    val on = (floats ++ others).filter(isOn).map(_.getPath.toSeq).toSet
    // A column that settings cannot name takes the default. All others keep what they have.
    if (floats.exists(key(_).isEmpty)) {
      others.foreach(c => key(c).foreach(conf.setBoolean(_, isOn(c))))
      conf.setBoolean(ENABLE_DICTIONARY, false)
    }
    floats.flatMap(key(_)).foreach(conf.setBoolean(_, false))
    FloatDictionaries(on, withZero)
  }

  private val types = Set(FLOAT, DOUBLE)

  private def key(column: ColumnDescriptor): Option[String] = ColumnSetting.key(ENABLE_DICTIONARY, column.getPath.toSeq)
}

/**
 * Columns whose Bloom filter would make a reader lose rows. They never get one, whatever the table and the session say.
 * parquet-java puts no value of a `BOOLEAN` column into the filter. The filter of a `FLOAT` or `DOUBLE` column has the
 * bits of 0.0 or of -0.0, which are equal in SQL, and readers look for the bits of one of them.
 */
private[sparkzorder] object MisleadingFilters {

  def isOf(t: PrimitiveTypeName): Boolean = t == BOOLEAN || t == FLOAT || t == DOUBLE

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
   * between the names, and Hadoop cuts off blanks at the end of a key.
   */
  def key(setting: String, column: Seq[String]): Option[String] = {
    val key = s"$setting#${column.mkString(".")}"
    Option.when(key == key.trim && !column.exists(_.contains(".")))(key)
  }
}

/**
 * Parquet's writer keeps the Bloom filters of all row groups until the file ends, for each column twice as much as the
 * largest may have. With small row groups, this is many times the size of the file. A filter for one false positive in
 * a hundred takes about ten bits for a value, and a value at least one byte of the row group. So no filter needs to be
 * much larger than its row group.
 */
private[write] object BloomFilterSize {

  def limit(conf: Configuration): Unit = {
    val rowGroup = conf.getLong(ParquetOutputFormat.BLOCK_SIZE, DEFAULT_BLOCK_SIZE.toLong)
    val most = math.max(Least, java.lang.Long.highestOneBit(rowGroup))
    if (most < conf.getInt(ParquetOutputFormat.BLOOM_FILTER_MAX_BYTES, UsualMost))
      conf.setInt(ParquetOutputFormat.BLOOM_FILTER_MAX_BYTES, most.toInt)
  }

  private val Least = 1024L

  private val UsualMost = 1 << 20
}
