package org.sparkzorder.command

import java.sql.Timestamp

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types._

import org.sparkzorder.commit.History
import org.sparkzorder.table.{PlainTables, Target}

/** `DESCRIBE HISTORY`: a row per committed operation, newest first. */
final case class DescribeHistoryCommand(target: Target) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(DescribeHistoryCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val table = PlainTables.resolve(session, target)
    Operations.recover(table)
    History.read(Operations.folder(table)).map { entry =>
      val r = entry.record
      val metrics = r.metrics ++ entry.publishMillis.map("publishMillis" -> _.toString)
      Row(r.version, new Timestamp(r.timestamp), r.userId, r.operation, r.parameters, metrics, entry.state)
    }
  }
}

object DescribeHistoryCommand {
  private val schema = new StructType()
    .add("version", LongType, nullable = false)
    .add("timestamp", TimestampType, nullable = false)
    .add("userId", StringType)
    .add("operation", StringType, nullable = false)
    .add("operationParameters", MapType(StringType, StringType))
    .add("operationMetrics", MapType(StringType, StringType))
    .add("state", StringType, nullable = false)
}
