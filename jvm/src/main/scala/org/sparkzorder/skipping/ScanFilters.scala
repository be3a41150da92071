package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.predicate.{CatalystTranslator, Reason, ReasonCode, StatsPredicate}
import org.sparkzorder.scan.ScanSnapshot

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
