package org.sparkzorder.command

import org.apache.spark.sql.{classic, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.types._

import org.sparkzorder.skipping.ScanExplanation

/** `EXPLAIN SKIPPING`: a row per file scan of a query, which is optimized but not run. */
final case class ExplainSkippingCommand(query: LogicalPlan) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(ExplainSkippingCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val plan = session.asInstanceOf[classic.SparkSession].sessionState.executePlan(query).optimizedPlan
    scans(plan).zipWithIndex.map { case ((leaf, filters), i) =>
      val e = ScanExplanation.of(leaf, filters)
      Row(i, e.relation, e.filesTotal, e.filesKept, e.bytesTotal, e.bytesKept, e.pruningMs,
        e.conjuncts.map(c => Row(c.predicate, c.filesKept.map(Long.box).orNull, c.reason.map(_.toString).orNull)))
    }
  }

  /** Scans of the plan and of the subqueries in it, in the order in which they stand, with the filters above them. */
  private def scans(plan: LogicalPlan): Seq[(LogicalPlan, Seq[Expression])] =
    plan match {
      case PhysicalOperation(_, filters, leaf) if isScan(leaf) =>
        (leaf -> filters) +: filters.flatMap(f => f.collect { case s: SubqueryExpression => s.plan }).flatMap(scans)
      case other =>
        other.children.flatMap(scans) ++
          other.expressions.flatMap(_.collect { case s: SubqueryExpression => s.plan }).flatMap(scans)
    }

  private def isScan(leaf: LogicalPlan): Boolean = leaf match {
    case l: LogicalRelation         => l.relation.isInstanceOf[HadoopFsRelation]
    case _: DataSourceV2ScanRelation => true
    case _                          => false
  }
}

object ExplainSkippingCommand {
  private val conjunct = new StructType()
    .add("predicate", StringType, nullable = false)
    .add("files_kept", LongType)
    .add("reason", StringType)

  private val schema = new StructType()
    .add("scan", IntegerType, nullable = false)
    .add("relation", StringType, nullable = false)
    .add("files_total", LongType)
    .add("files_kept", LongType)
    .add("bytes_total", LongType)
    .add("bytes_kept", LongType)
    .add("pruning_ms", DoubleType)
    .add("conjuncts", ArrayType(conjunct, containsNull = false), nullable = false)
}
