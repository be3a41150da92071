package org.sparkzorder.command

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types._

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.stats.{ColumnKey, ColumnStats, OrderedValue}
import org.sparkzorder.table.{KeyColumns, PlainTable, Target}

/**
 * `DESCRIBE SKIPPING INDEX`: a row per file of the table and indexed column.
 *
 * @param columns names as written; none for all that the index has
 */
final case class DescribeSkippingIndexCommand(target: Target, columns: Seq[Seq[String]]) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(DescribeSkippingIndexCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val table = Operations.settled(session, target)
    val snapshot =
      TableIndex.of(table, Operations.folder(table)).getOrElse(throw ZOrderErrors.indexNotFound(table.name))
    val seenPaths = (0 until snapshot.files).iterator.map(snapshot.fileId(_).path).toSet
    val ordinals = table.dataSchema.fieldNames.zipWithIndex.reverseIterator.toMap
    val all = snapshot.columns.sortBy(c => (ordinals.getOrElse(c.path.head, -1), c.path.mkString(".")))
    val shown = if (columns.isEmpty) all else all.filter(KeyColumns.named(table, columns))
    for {
      folder <- table.listed
      file <- folder.files
      row <- rows(table, snapshot, shown, seenPaths, file)
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
    val rows = Option.when(ordinal >= 0)(snapshot.rows(ordinal))
    columns.map { key =>
      val column = rows.flatMap(_ => snapshot.columnStats(ordinal, key))
      val status = rows match {
        case None    => if (seenPaths.contains(path)) "stale" else "missing"
        case Some(n) => column.fold("missing")(statusOf(n, key, _))
      }
      def bound(value: ColumnStats => Any): String =
        column.filter(_.hasBounds).map(c => OrderedValue.display(key.dataType, value(c))).orNull
      Row(
        path,
        file.getLen,
        rows.map(Long.box).orNull,
        key.path.mkString("."),
        key.dataType.sql,
        bound(_.min),
        bound(_.max),
        column.map(_.nullCount).filter(_ >= 0).map(Long.box).orNull,
        status
      )
    }
  }

  private def statusOf(rows: Long, key: ColumnKey, c: ColumnStats): String =
    if (c.nullCount >= 0 && OrderedValue.encoding(key.dataType).isEmpty) "indexed"
    else if (c.hasBounds || c.nullCount == rows || (c.nullCount >= 0 && c.nullCount + c.nanCount == rows))
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
