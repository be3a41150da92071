package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types._

import org.sparkzorder.progress.ProgressSnapshot

/**
 * `SHOW OPERATIONS`: a row for each of our statements that this session runs now, the oldest first.
 *
 * A second thread asks for it again and again. So it is a local relation, which needs no job.
 */
case object ShowOperations extends LeafNode {
  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = Nil

  private[command] val columns = NamedCommand.columns(
    "operation" -> StringType,
    "table" -> StringType,
    "step" -> StringType,
    "files" -> LongType,
    "total_files" -> LongType,
    "bytes" -> LongType,
    "total_bytes" -> LongType,
    "fraction" -> DoubleType,
    "seconds" -> DoubleType,
    "seconds_left?" -> DoubleType
  )
}

/** Looks at what runs when the statement is analyzed. */
class ResolveShowOperations(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp { case ShowOperations =>
    val running = RunningStatements.of(session.asInstanceOf[ClassicSession])
    LocalRelation.fromExternalRows(toAttributes(ShowOperations.columns), running.map(row))
  }

  private def row(p: ProgressSnapshot): Row = Row(
    p.operation,
    p.table,
    p.step,
    p.files,
    p.totalFiles,
    p.bytes,
    p.totalBytes,
    p.fraction,
    p.millis / 1000d,
    p.millisLeft.map(_ / 1000d).orNull
  )
}
