package org.sparkzorder.write.encode

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.ParquetOutputFormat.ENABLE_DICTIONARY
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{DOUBLE, FLOAT}

/**
 * The dictionaries of FLOAT and DOUBLE columns. In SQL -0.0 equals 0.0, but their bits differ. A reader that looks for the
 * bits of one in a dictionary loses the rows with the other. parquet-java knows nothing of this, so by its settings such
 * columns have no dictionary. Our own writer of values gives them one, which it gives up at the first -0.0 of a row group.
 * Then the chunk has a plain page, and no reader trusts its dictionary.
 *
 * @param columns the leaves that had a dictionary by the settings, by their paths in the file
 * @param withZero those that may have 0.0 in a dictionary, too: all their values in the old files are in dictionaries, so
 *   a query for the literal -0.0 did not find the rows of a row group that has only 0.0 before, either
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

  private def key(column: ColumnDescriptor): Option[String] =
    ColumnSetting.key(ENABLE_DICTIONARY, column.getPath.toSeq)
}
