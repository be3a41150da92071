package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types._

import org.sparkzorder.footer.{DataFormat, Footers}
import org.sparkzorder.layout.{ClusteringDepth, FileBounds}
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, OrderedValue}
import org.sparkzorder.table.{KeyColumns, PlainTable, Target}

/**
 * `DESCRIBE CLUSTERING`: a row per column, how many files hold a value of it within their bounds. Of the index where it
 * has a file's statistics, else of the file's footer; no data is read.
 *
 * @param columns names as written; none for all that have an order
 */
final case class DescribeClusteringCommand(target: Target, columns: Seq[Seq[String]]) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(DescribeClusteringCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val table = Operations.settled(session, target)
    val asked =
      if (columns.isEmpty) TableIndex.usableColumns(table).filter(c => OrderedValue.encoding(c.dataType).isDefined)
      else KeyColumns.resolveAll(table, columns).map { case (path, dataType) => ColumnKey(path, dataType) }
    val files = statistics(table, asked)
    val bound = ClusteringDepth.bound(files.size.toLong, asked.size)
    asked.map { column =>
      val bounds = files.map { f =>
        val stats = f.columns.getOrElse(column, ColumnStats.unknown)
        FileBounds.of(stats, f.rows) -> (f.rows - math.max(stats.nullCount, 0L))
      }
      val depth = ClusteringDepth.of(bounds, OrderedValue.hasNaN(column.dataType))
      Row(
        column.path.mkString("."),
        files.size.toLong,
        depth.mean,
        depth.max,
        if (files.isEmpty) 0d else 1 - depth.mean / files.size,
        bound,
        depth.histogram
      )
    }
  }

  private def statistics(table: PlainTable, asked: Seq[ColumnKey]): Seq[FileStats] = {
    val snapshot = TableIndex.of(table, Operations.folder(table))
    val files = table.listed.flatMap(_.files)
    val known = files.map { f =>
      val id = TableIndex.idOf(table, f)
      snapshot.flatMap { s =>
        val ordinal = s.ordinalOf(id.path, id.length, id.modificationTime)
        if (ordinal < 0) None else Some(s.fileStats(ordinal)).filter(stats => asked.forall(stats.columns.contains))
      }
    }
    val unknown = files.zip(known).collect { case (f, None) => f }
    val format = DataFormat.of(table.formatName).get
    val footers =
      UnreadableFiles.told(table)(Footers.readAll(table.session, unknown, format, table.dataSchema, asked))
    known.flatten ++ footers.map(f => FileStats(f.rows, f.stats))
  }
}

object DescribeClusteringCommand {
  private val schema = new StructType()
    .add("column", StringType, nullable = false)
    .add("files", LongType, nullable = false)
    .add("mean_files", DoubleType, nullable = false)
    .add("max_files", LongType, nullable = false)
    .add("skipped_fraction", DoubleType, nullable = false)
    .add("bound_files", DoubleType, nullable = false)
    .add("depth_histogram", ArrayType(LongType, containsNull = false), nullable = false)
}
