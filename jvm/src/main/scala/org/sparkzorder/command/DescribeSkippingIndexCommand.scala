package org.sparkzorder.command

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types._

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, OrderedValue}
import org.sparkzorder.table.{PlainTable, Target}

/** `DESCRIBE SKIPPING INDEX`: a row per file of the table and indexed column. */
final case class DescribeSkippingIndexCommand(target: Target) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(DescribeSkippingIndexCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val table = Operations.settled(session, target)
    val snapshot =
      TableIndex.of(table, Operations.folder(table)).getOrElse(throw ZOrderErrors.indexNotFound(table.name))
    val seenPaths = (0 until snapshot.files).iterator.map(snapshot.fileId(_).path).toSet
    val ordinals = table.dataSchema.fieldNames.zipWithIndex.reverseIterator.toMap
    val columns = snapshot.columns.sortBy(c => (ordinals.getOrElse(c.path.head, -1), c.path.mkString(".")))
    for {
      folder <- table.listed
      file <- folder.files
      row <- rows(table, snapshot, columns, seenPaths, file)
    } yield row
  }

  private def rows(
      table: PlainTable,
      snapshot: IndexSnapshot,
      columns: Seq[ColumnKey],
      seenPaths: Set[String],
      file: FileStatus
  ): Seq[Row] = {
    val path = table.names.of(file.getPath)
    val ordinal = snapshot.ordinalOf(path, file.getLen, file.getModificationTime)
    val stats = if (ordinal < 0) None else Some(snapshot.fileStats(ordinal))
    columns.map { key =>
      val column = stats.flatMap(_.columns.get(key))
      val status = stats match {
        case None    => if (seenPaths.contains(path)) "stale" else "missing"
        case Some(f) => column.fold("missing")(statusOf(f, key, _))
      }
      def bound(value: ColumnStats => Any): String =
        column.filter(_.hasBounds).map(c => OrderedValue.display(key.dataType, value(c))).orNull
      Row(
        path,
        file.getLen,
        stats.map(s => Long.box(s.rows)).orNull,
        key.path.mkString("."),
        key.dataType.sql,
        bound(_.min),
        bound(_.max),
        column.map(_.nullCount).filter(_ >= 0).map(Long.box).orNull,
        status
      )
    }
  }

  private def statusOf(file: FileStats, key: ColumnKey, c: ColumnStats): String =
    if (c.nullCount >= 0 && OrderedValue.encoding(key.dataType).isEmpty) "indexed"
    else if (c.hasBounds || c.nullCount == file.rows || (c.nullCount >= 0 && c.nullCount + c.nanCount == file.rows))
      "indexed"
    else if (c.nullCount >= 0) "unusable: no bounds"
    else "unusable: neither bounds nor null count"
}

object DescribeSkippingIndexCommand {
  private val schema = new StructType()
    .add("path", StringType, nullable = false)
    .add("bytes", LongType, nullable = false)
    .add("rows", LongType)
    .add("column", StringType, nullable = false)
    .add("data_type", StringType, nullable = false)
    .add("min", StringType)
    .add("max", StringType)
    .add("null_count", LongType)
    .add("status", StringType, nullable = false)
}
