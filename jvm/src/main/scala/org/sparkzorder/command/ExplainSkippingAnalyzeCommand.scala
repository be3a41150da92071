package org.sparkzorder.command

import org.apache.spark.sql.{classic, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.{CommandExecutionMode, SQLExecution}
import org.apache.spark.sql.types._

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.skipping.ScanOutcome

/** `EXPLAIN SKIPPING ANALYZE`: runs a query, and says what each of its scans has read. */
final case class ExplainSkippingAnalyzeCommand(query: LogicalPlan) extends NamedCommand {

  override val output: Seq[Attribute] = toAttributes(ExplainSkippingAnalyzeCommand.schema)

  override def title: String = "EXPLAIN SKIPPING ANALYZE"

  override protected def work(session: SparkSession): Seq[Row] = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    val run = state.executePlan(query, CommandExecutionMode.SKIP)
    if (run.analyzed.exists(_.isInstanceOf[Command])) throw ZOrderErrors.notAQuery()
    // Executors may not have our classes, so the job has none.
    SQLExecution.withNewExecutionId(run)(run.executedPlan.execute().count())
    ScanOutcome.of(run.executedPlan).zipWithIndex.map { case (o, i) =>
      Row.fromSeq(ExplainSkippingCommand.values(i, o.explanation) :+ o.filesWithoutRows.map(Long.box).orNull)
    }
  }
}

object ExplainSkippingAnalyzeCommand {
  private val schema = ExplainSkippingCommand.schema.add("files_without_rows", LongType)
}
