package org.sparkzorder.command

import java.sql.Timestamp

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types._

import org.sparkzorder.commit.{History, Trash}
import org.sparkzorder.table.{PlainTables, Target}

/** `DESCRIBE HISTORY`: a row per committed operation, newest first, with what its retired files take that are kept. */
final case class DescribeHistoryCommand(target: Target) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(DescribeHistoryCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val table = PlainTables.resolve(session, target)
    Operations.recover(table)
    val folder = Operations.folder(table)
    val history = History.read(folder)
    val trash = Trash.all(folder, history).filter(_.record.isDefined).map(t => t.version -> t).toMap
    history.map { entry =>
      val r = entry.record
      val retired = trash.get(r.version)
      val metrics = r.metrics ++ entry.publishMillis.map("publishMillis" -> _.toString) ++ Map(
        "numTrashFiles" -> retired.fold(0)(_.files.size).toString,
        "trashBytes" -> retired.fold(0L)(_.bytes).toString
      )
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
