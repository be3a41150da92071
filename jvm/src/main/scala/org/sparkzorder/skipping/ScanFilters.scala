package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  AttributeSet,
  Expression,
  PythonFuncExpression,
  SubqueryExpression
}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.predicate.{Reason, ReasonCode}

/** The conjuncts over a scan, sorted by what can be done with them before the query runs. */
private[skipping] object ScanFilters {

  /** Those that depend on nothing but the row, with the relation's own spelling of names, by which file indexes bind them. */
  def evaluable(filters: Seq[Expression], l: LogicalRelation): Seq[Expression] =
    filters.filter(whyNot(_).isEmpty).map(_.transform {
      case a: AttributeReference => l.output.find(_.semanticEquals(a)).fold(a)(o => a.withName(o.name))
    })

  /** Why a conjunct cannot be evaluated before the query runs; None when it can. */
  def whyNot(f: Expression): Option[Reason] =
    if (SubqueryExpression.hasSubquery(f))
      Some(Reason(ReasonCode.Subquery, "its value is not known before the query runs"))
    else if (!f.deterministic) Some(Reason(ReasonCode.NotDeterministic, "it may give another value for each row"))
    else if (f.exists(_.isInstanceOf[PythonFuncExpression]))
      Some(Reason(ReasonCode.UnsupportedExpression, "a Python function runs in the executors only"))
    else None

  /** Reports of those that cannot, in order. */
  def unusable(filters: Seq[Expression]): Seq[ConjunctReport] =
    filters.flatMap(f => whyNot(f).map(why => ConjunctReport(f.sql, None, Some(why))))

  /** Those on partition columns alone, and the others. */
  def byPartition(
      filters: Seq[Expression],
      l: LogicalRelation,
      relation: HadoopFsRelation
  ): (Seq[Expression], Seq[Expression]) = {
    val columns = AttributeSet(l.output.filter(a => relation.partitionSchema.fieldNames.contains(a.name)))
    filters.partition(f => f.references.nonEmpty && f.references.subsetOf(columns))
  }
}
