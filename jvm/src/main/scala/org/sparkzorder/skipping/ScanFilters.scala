package org.sparkzorder.skipping

import org.apache.orc.OrcConf
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.parquet.ParquetUtils
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.footer.orc.NamelessColumns
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.predicate.{CatalystTranslator, Reason, ReasonCode, StatsPredicate}
import org.sparkzorder.scan.ScanSnapshot
import org.sparkzorder.table.SparkFormat

/** Sorts the conjuncts over a scan by whether they can be evaluated before the query runs. */
private[skipping] object ScanFilters {

  /** Conjuncts that depend on the row alone, with names spelled as in the relation: file indexes bind by these. */
  def evaluable(filters: Seq[Expression], l: LogicalRelation): Seq[Expression] =
    filters.filter(whyNot(_).isEmpty).map(JoinFilters.named(_, l))

  /** Whether a conjunct can be evaluated once the values of its scalar subqueries are known. */
  def isLater(f: Expression): Boolean = f.deterministic && !f.exists(_.isInstanceOf[PythonFuncExpression]) &&
    f.exists(_.isInstanceOf[ScalarSubquery]) && !f.exists {
      case s: ScalarSubquery     => s.isCorrelated
      case _: SubqueryExpression => true
      case _                     => false
    }

  /** Why a conjunct cannot be evaluated before the query runs; None if it can. */
  def whyNot(f: Expression): Option[Reason] =
    if (isLater(f)) Some(Reason(ReasonCode.Subquery, "files are left out when the query runs and its value is known"))
    else if (f.isInstanceOf[DynamicPruningSubquery])
      Some(Reason(ReasonCode.Join, "files are left out when the query runs and the keys of the other side are known"))
    else if (SubqueryExpression.hasSubquery(f))
      Some(Reason(ReasonCode.Subquery, "its value is not known before the query runs"))
    else if (!f.deterministic) Some(Reason(ReasonCode.NotDeterministic, "it may give another value for each row"))
    else if (f.exists(_.isInstanceOf[PythonFuncExpression]))
      Some(Reason(ReasonCode.UnsupportedExpression, "a Python function runs in the executors only"))
    else None

  /** Reports on the conjuncts that cannot be evaluated, in order. */
  def unusable(filters: Seq[Expression]): Seq[ConjunctReport] =
    filters.flatMap(f => whyNot(f).map(why => ConjunctReport(text(f), None, Some(why))))

  private def text(f: Expression): String = f match {
    case d: DynamicPruningSubquery => JoinFilters.text(d.pruningKey)
    case other                     => other.sql
  }

  /** The conjuncts on partition columns alone, and the others. */
  def byPartition(
      filters: Seq[Expression],
      l: LogicalRelation,
      relation: HadoopFsRelation
  ): (Seq[Expression], Seq[Expression]) = {
    val columns = AttributeSet(l.output.filter(a => relation.partitionSchema.fieldNames.contains(a.name)))
    filters.partition(f => f.references.nonEmpty && f.references.subsetOf(columns))
  }
}

private[skipping] object ScanPredicates {

  def translated(relation: HadoopFsRelation, views: Seq[ScanSnapshot], fs: Seq[Expression]): Seq[StatsPredicate] = {
    lazy val notByName = ColumnsByName.whyNot(relation, views)
    fs.map(CatalystTranslator.translate(_, columnOf(relation, notByName, _)))
  }

  /** Whether a part of a predicate is about partition columns, whose values come from a listing. */
  def isAboutPartitions(relation: HadoopFsRelation, p: StatsPredicate): Boolean =
    p.columns.exists(c => relation.partitionSchema.fieldNames.contains(c.path.head))

  private def columnOf(
      relation: HadoopFsRelation,
      notByName: => Option[Reason],
      a: AttributeReference
  ): Either[Reason, Seq[String]] =
    if (relation.partitionSchema.fieldNames.contains(a.name)) scala.Right(Seq(a.name))
    else if (relation.dataSchema.fieldNames.contains(a.name))
      notByName.orElse(ColumnsByName.whyNot(relation, a.name)).toLeft(Seq(a.name))
    else scala.Left(Reason(ReasonCode.MetadataColumn, s"${quoteIdentifier(a.name)} is not a column of the files"))
}

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
