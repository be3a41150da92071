package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.types._

import org.sparkzorder.skipping.ScanExplanation

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
