package org.sparkzorder.command

import org.apache.spark.sql.{classic, Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.{CommandExecutionMode, SQLExecution}
import org.apache.spark.sql.types._

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.skipping.{ScanExplanation, ScanFiles, ScanOutcome}

/** `EXPLAIN SKIPPING`: a row for each file scan of a query. The query is optimized but not run. */
final case class ExplainSkippingCommand(query: LogicalPlan) extends NamedCommand {

  override val output: Seq[Attribute] = toAttributes(ExplainSkippingCommand.schema)

  override def title: String = "EXPLAIN SKIPPING"

  override protected def work(session: SparkSession): Seq[Row] =
    FileScans.of(session, query).zipWithIndex.map { case (FileScan(leaf, filters, later), i) =>
      Row.fromSeq(ExplainSkippingCommand.values(i, ScanExplanation.of(leaf, filters, later)))
    }
}

object ExplainSkippingCommand {
  private val conjunct = new StructType()
    .add("predicate", StringType, nullable = false)
    .add("files_kept", LongType)
    .add("reason", StringType)

  private[command] def values(scan: Int, e: ScanExplanation): Seq[Any] = Seq(
    scan,
    e.relation,
    e.filesTotal,
    e.filesKept,
    e.bytesTotal,
    e.bytesKept,
    e.pruningMs,
    e.conjuncts.map(c => Row(c.predicate, c.filesKept.map(Long.box).orNull, c.reason.map(_.toString).orNull))
  )

  private[command] val schema = new StructType()
    .add("scan", IntegerType, nullable = false)
    .add("relation", StringType, nullable = false)
    .add("files_total", LongType)
    .add("files_kept", LongType)
    .add("bytes_total", LongType)
    .add("bytes_kept", LongType)
    .add("pruning_ms", DoubleType)
    .add("conjuncts", ArrayType(conjunct, containsNull = false), nullable = false)
}

/** `EXPLAIN SKIPPING FILES`: a row for each file of each scan of a query, which is not run. */
final case class ExplainSkippingFilesCommand(query: LogicalPlan) extends NamedCommand {

  override val output: Seq[Attribute] = toAttributes(ExplainSkippingFilesCommand.schema)

  override def title: String = "EXPLAIN SKIPPING FILES"

  override protected def work(session: SparkSession): Seq[Row] =
    FileScans.of(session, query).zipWithIndex.flatMap { case (FileScan(leaf, filters, _), i) =>
      val scan = ScanFiles.of(leaf, filters)
      scan.files.map(file => Row(i, scan.target.orNull, scan.columns, file.path, file.bytes, file.kept))
    }
}

object ExplainSkippingFilesCommand {
  private val schema = new StructType()
    .add("scan", IntegerType, nullable = false)
    .add("target", StringType)
    .add("columns", ArrayType(StringType, containsNull = false), nullable = false)
    .add("path", StringType, nullable = false)
    .add("bytes", LongType, nullable = false)
    .add("kept", BooleanType, nullable = false)
}

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
