package org.sparkzorder.command

import org.apache.spark.sql.{classic, Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.execution.{CommandExecutionMode, SQLExecution}
import org.apache.spark.sql.types._

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.skipping.{ScanExplanation, ScanFiles, ScanOutcome}

/**
 * `EXPLAIN SKIPPING`: a row for each file scan of a query. The query is optimized but not run. With `ANALYZE` it is run,
 * and each row also says what the scan has read.
 */
final case class ExplainSkippingCommand(query: LogicalPlan, analyze: Boolean) extends NamedCommand {
  import NamedCommand.{columns, list}

  override protected def resultColumns: StructType = {
    val conjunct = columns("predicate" -> StringType, "files_kept?" -> LongType, "reason?" -> StringType)
    val planned = columns(
      "scan" -> IntegerType,
      "relation" -> StringType,
      "files_total?" -> LongType,
      "files_kept?" -> LongType,
      "bytes_total?" -> LongType,
      "bytes_kept?" -> LongType,
      "pruning_ms?" -> DoubleType,
      "conjuncts" -> list(conjunct)
    )
    if (analyze) planned.add("files_without_rows", LongType) else planned
  }

  override def title: String = if (analyze) "EXPLAIN SKIPPING ANALYZE" else "EXPLAIN SKIPPING"

  override protected def work(session: SparkSession): Seq[Row] =
    if (analyze)
      outcomes(session).zipWithIndex.map { case (o, i) =>
        Row.fromSeq(values(i, o.explanation) :+ o.filesWithoutRows.map(Long.box).orNull)
      }
    else
      FileScans.of(session, query).zipWithIndex.map { case (QueryScan(leaf, filters, later), i) =>
        Row.fromSeq(values(i, ScanExplanation.of(leaf, filters, later)))
      }

  private def outcomes(session: SparkSession): Seq[ScanOutcome] = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    val run = state.executePlan(query, CommandExecutionMode.SKIP)
    if (run.analyzed.exists(_.isInstanceOf[Command])) throw ZOrderErrors.notAQuery()
    // Executors may not have our classes, so the job has none.
    SQLExecution.withNewExecutionId(run)(run.executedPlan.execute().count())
    ScanOutcome.of(run.executedPlan)
  }

  private def values(scan: Int, e: ScanExplanation): Seq[Any] = Seq(
    scan,
    e.relation,
    e.filesTotal,
    e.filesKept,
    e.bytesTotal,
    e.bytesKept,
    e.pruningMs,
    e.conjuncts.map(c => Row(c.predicate, c.filesKept.map(Long.box).orNull, c.reason.map(_.toString).orNull))
  )
}

/** `EXPLAIN SKIPPING FILES`: a row for each file of each scan of a query, which is not run. */
final case class ExplainSkippingFilesCommand(query: LogicalPlan) extends NamedCommand {

  override protected def resultColumns: StructType = NamedCommand.columns(
    "scan" -> IntegerType,
    "target?" -> StringType,
    "columns" -> NamedCommand.list(StringType),
    "path" -> StringType,
    "bytes" -> LongType,
    "kept" -> BooleanType
  )

  override def title: String = "EXPLAIN SKIPPING FILES"

  override protected def work(session: SparkSession): Seq[Row] =
    FileScans.of(session, query).zipWithIndex.flatMap { case (QueryScan(leaf, filters, _), i) =>
      val scan = ScanFiles.of(leaf, filters)
      scan.files.map(file => Row(i, scan.target.orNull, scan.columns, file.path, file.bytes, file.kept))
    }
}
