package org.sparkzorder.command

import org.apache.spark.sql.{classic, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.types._

import org.sparkzorder.skipping.{RecordedQueries, ScanExplanation}

/** `EXPLAIN SKIPPING`: a row for each file scan of a query. The query is optimized but not run. */
final case class ExplainSkippingCommand(query: LogicalPlan) extends LeafRunnableCommand with PredicateHelper {

  override val output: Seq[Attribute] = toAttributes(ExplainSkippingCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    // Without SKIP, an INSERT or a DROP would run here, and its plan would be that of its result.
    val plan = RecordedQueries.paused(state.executePlan(query, CommandExecutionMode.SKIP).optimizedPlan)
    scans(plan, Nil).zipWithIndex.map { case (Scan(leaf, filters, later), i) =>
      val e = ScanExplanation.of(leaf, filters, later)
      Row(
        i,
        e.relation,
        e.filesTotal,
        e.filesKept,
        e.bytesTotal,
        e.bytesKept,
        e.pruningMs,
        e.conjuncts.map(c => Row(c.predicate, c.filesKept.map(Long.box).orNull, c.reason.map(_.toString).orNull))
      )
    }
  }

  /**
   * A scan of files.
   *
   * @param filters conjuncts directly above it
   * @param later conjuncts that other operators keep away from it
   */
  private case class Scan(leaf: LogicalPlan, filters: Seq[Expression], later: Seq[Expression])

  /**
   * The scans of the plan and of its subqueries, in the order of the plan.
   *
   * @param later conjuncts above this plan that are about its rows
   */
  private def scans(plan: LogicalPlan, later: Seq[Expression]): Seq[Scan] =
    plan match {
      case PhysicalOperation(_, filters, leaf) if isScan(leaf) =>
        Scan(
          leaf,
          filters,
          later
        ) +: plan.collect { case p if p ne leaf => p.expressions }.flatten.flatMap(inSubqueries)
      case Filter(condition, child) =>
        scans(child, splitConjunctivePredicates(condition) ++ later) ++ inSubqueries(condition)
      case Project(list, child) => scans(child, later) ++ list.flatMap(inSubqueries)
      case other                => other.children.flatMap(scans(_, Nil)) ++ other.expressions.flatMap(inSubqueries)
    }

  private def inSubqueries(e: Expression): Seq[Scan] =
    e.collect { case s: SubqueryExpression => s.plan }.flatMap(scans(_, Nil))

  private def isScan(leaf: LogicalPlan): Boolean = leaf match {
    case l: LogicalRelation          => l.relation.isInstanceOf[HadoopFsRelation]
    case _: DataSourceV2ScanRelation => true
    case _                           => false
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
