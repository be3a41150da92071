package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.types._

import org.sparkzorder.skipping.ScanFiles

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
