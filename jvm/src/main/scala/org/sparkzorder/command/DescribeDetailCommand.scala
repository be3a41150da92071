package org.sparkzorder.command

import java.sql.Timestamp

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types._

import org.sparkzorder.commit.log.History
import org.sparkzorder.compat._
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.memory.learn.PendingScans
import org.sparkzorder.optimize.LastLayout
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{FolderColumns, TableSideFolder}

/**
 * `DESCRIBE DETAIL`: one row about the table. It has the columns of Delta's result that make sense
 * here, and the version. Columns that only a catalog knows are null if the statement names a path.
 */
final case class DescribeDetailCommand(target: Target) extends NamedCommand {

  override protected def resultColumns: StructType = NamedCommand.columns(
    "format" -> StringType,
    "name?" -> StringType,
    "description?" -> StringType,
    "location" -> StringType,
    "createdAt?" -> TimestampType,
    "lastModified?" -> TimestampType,
    "partitionColumns" -> NamedCommand.list(StringType),
    "clusteringColumns" -> NamedCommand.list(StringType),
    "numFiles" -> LongType,
    "sizeInBytes" -> LongType,
    "properties" -> MapType(StringType, StringType),
    "version" -> LongType,
    "rememberedFilters" -> LongType,
    "rememberedBytes" -> LongType
  )

  override def title: String = s"DESCRIBE DETAIL ${target.title}"

  override protected def work(session: SparkSession): Seq[Row] = {
    val table = TableRecovery.settled(session, target, FolderColumns.Nothing)
    val files = table.listed.flatMap(_.files)
    val layout = LastLayout.of(History.newestFirst(TableSideFolder.of(table)).map(_.record))
    val catalog = table.catalogTable
    val remembered = PendingScans.sizeOf(table.root)
    Seq(Row(
      table.formatName,
      catalog.map(_.identifier.unquotedString).orNull,
      catalog.flatMap(_.comment).orNull,
      table.root.toString,
      catalog.map(t => new Timestamp(t.createTime)).orNull,
      files.map(_.getModificationTime).maxOption.map(new Timestamp(_)).orNull,
      table.partitionSchema.fieldNames.toSeq,
      layout.fold(Seq.empty[String])(_.columns.map { case (path, _) => JoinSpec.shown(path).mkString(".") }),
      files.size.toLong,
      files.map(_.getLen).sum,
      catalog.fold(Map.empty[String, String])(_.properties),
      TableSideFolder.look(table).version,
      remembered.filters.toLong,
      remembered.bytes
    ))
  }
}
