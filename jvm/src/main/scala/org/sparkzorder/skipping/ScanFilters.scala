package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, AttributeSet, Expression, SubqueryExpression}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** The conjuncts over a scan, sorted by what can be done with them before the query runs. */
private[skipping] object ScanFilters {

  /** Those that depend on nothing but the row, with the relation's own spelling of names, by which file indexes bind them. */
  def evaluable(filters: Seq[Expression], l: LogicalRelation): Seq[Expression] =
    filters.filter(f => f.deterministic && !SubqueryExpression.hasSubquery(f)).map(_.transform {
      case a: AttributeReference => l.output.find(_.semanticEquals(a)).fold(a)(o => a.withName(o.name))
    })

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
