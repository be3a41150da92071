package org.sparkzorder.skipping

import org.apache.orc.OrcConf
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.parquet.ParquetUtils
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

import org.sparkzorder.footer.orc.NamelessColumns
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.predicate.{Reason, ReasonCode}
import org.sparkzorder.scan.ScanSnapshot
import org.sparkzorder.table.SparkFormat

/**
 * Whether a reader finds columns by their names, as the index does. Some settings make it find them in another way, and
 * so read other values. The statistics say nothing about these values, so every file is read.
 */
private[skipping] object ColumnsByName {

  /** Why this relation's reader does not find columns by name; None if it does. */
  def whyNot(relation: HadoopFsRelation, views: Seq[ScanSnapshot]): Option[Reason] =
    if (readsByFieldId(relation)) reason("Parquet field ids, and not names, tell this reader which column is which")
    else if (readsByPosition(relation))
      reason(s"${positions.getAttribute} makes this reader find columns by their position, whatever their names")
    else if (missesNames(relation, views))
      reason("this session minds the case of names, and some files spell a column otherwise than the table")
    else None

  /**
   * In Hive's ORC files all columns are called `_col0`, `_col1` and so on, and they are read by position. The index has
   * statistics under these names, so they hold only for a column that is at the position in its name.
   */
  def whyNot(relation: HadoopFsRelation, column: String): Option[Reason] =
    if (
      SparkFormat.of(relation).contains("orc") &&
      NamelessColumns.isMisplaced(relation.dataSchema.fieldNames.toIndexedSeq, column)
    )
      reason(
        s"files whose columns are called `_col0`, `_col1`.. are read by position, and ${quoteIdentifier(column)} has another"
      )
    else None

  private def reason(words: String): Option[Reason] = Some(Reason(ReasonCode.NoStatistics, words))

  private val positions = OrcConf.FORCE_POSITIONAL_EVOLUTION

  /** By the options, else the session's setting, else Hadoop's. Making a session's Hadoop configuration is too slow. */
  private def readsByPosition(relation: HadoopFsRelation): Boolean =
    SparkFormat.of(relation).contains("orc") && {
      val session = relation.sparkSession.asInstanceOf[classic.SparkSession]
      val key = positions.getAttribute
      val ofOptions = relation.options.collectFirst { case (k, v) if k.equalsIgnoreCase(key) => v }
      val value = ofOptions
        .orElse(Option(session.sessionState.conf.getConfString(key, null)))
        .orElse(Option(session.sparkContext.hadoopConfiguration.get(key)))
      value.exists(_.trim.equalsIgnoreCase("true"))
    }

  /** A case-sensitive session reads nulls if a file spells a column differently, but the index has its real values. */
  private def missesNames(relation: HadoopFsRelation, views: Seq[ScanSnapshot]): Boolean =
    relation.sparkSession.sessionState.conf.caseSensitiveAnalysis &&
      views.flatMap(_.snapshot).exists(_.properties.contains(IndexSnapshot.NamesInAnyCase))

  private def readsByFieldId(relation: HadoopFsRelation): Boolean =
    relation.sparkSession.sessionState.conf.parquetFieldIdReadEnabled && ParquetUtils.hasFieldIds(relation.dataSchema)
}
