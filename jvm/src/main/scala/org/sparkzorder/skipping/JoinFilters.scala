package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.{
  And,
  AttributeReference,
  DynamicPruningExpression,
  DynamicPruningSubquery,
  Expression,
  InSet,
  Literal,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.execution.InSubqueryExec
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * Filters that a join gives to a scan: a key is one of those of the other side. They rule out files, and are not
 * evaluated for rows, which the join does. Those about partition columns alone are Spark's own.
 */
private[skipping] object JoinFilters extends PredicateHelper {

  /** Whether a conjunct above a scan is such a filter, about its data. */
  def isOne(conjunct: Expression, l: LogicalRelation): Boolean = conjunct match {
    case d: DynamicPruningSubquery =>
      val partitions = l.relation.asInstanceOf[HadoopFsRelation].partitionSchema.fieldNames
      d.pruningKey.references.exists(a => l.output.exists(o => o.semanticEquals(a) && !partitions.contains(o.name)))
    case _ => false
  }

  def text(key: Expression): String = s"${key.sql} IN (keys of a join)"

  /** A scan's projections and filters without these filters. */
  def without(plan: LogicalPlan, l: LogicalRelation): LogicalPlan = plan.transform { case f: Filter =>
    val (joins, others) = splitConjunctivePredicates(f.condition).partition(isOne(_, l))
    if (joins.isEmpty) f else others.reduceOption(And(_, _)).fold(f.child)(c => f.copy(condition = c))
  }

  /** These filters with the relation's own names. */
  def named(filters: Seq[Expression], l: LogicalRelation): Seq[Expression] =
    filters.filter(isOne(_, l)).map(_.transform { case a: AttributeReference =>
      l.output.find(_.semanticEquals(a)).fold(a)(o => a.withName(o.name))
    })

  /** The conditions that such filters of a physical scan have become, with their keys, if the other side is known. */
  def whenRun(dataFilters: Seq[Expression]): Seq[(Expression, Expression)] = dataFilters.collect {
    case DynamicPruningExpression(in: InSubqueryExec) =>
      valuesOf(in).map { values =>
        in.child -> (if (values.isEmpty) Literal.FalseLiteral else InSet(in.child, values.toSet))
      }
  }.flatten

  /** None if they were not asked for. Spark keeps them in a field that has no name for others. */
  private def valuesOf(in: InSubqueryExec): Option[Array[Any]] =
    in.values().orElse(in.productIterator.collectFirst { case values: Array[_] => values.asInstanceOf[Array[Any]] })
}
