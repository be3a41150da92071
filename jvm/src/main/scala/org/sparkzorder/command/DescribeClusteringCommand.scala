package org.sparkzorder.command

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types._

import org.sparkzorder.footer.{DataFormat, FileFooter, Footers}
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

  /**
   * By the index, of the columns asked for alone. Footers are read of files that it does not know, and where it was told to
   * leave a column out: a column without statistics in it has none in the footers either.
   */
  private def statistics(table: PlainTable, asked: Seq[ColumnKey]): Seq[FileStats] = {
    val files = table.listed.flatMap(_.files)
    val snapshot = TableIndex.of(table, Operations.folder(table))
    val known = files.map { f =>
      val id = TableIndex.idOf(table, f)
      snapshot.flatMap(s => Some(s.ordinalOf(id.path, id.length, id.modificationTime)).filter(_ >= 0).map(s -> _))
    }
    val isExcluded = ExcludedColumns.of(table)
    val leftOut = snapshot.flatMap(TableIndex.restriction).fold(Set.empty[Seq[String]])(told =>
      asked.map(_.path).filterNot(told).toSet
    ) ++ asked.map(_.path).filter(isExcluded)
    val unindexed = asked.filter(c => leftOut(c.path))
    val format = DataFormat.of(table.formatName).get
    def footers(of: Seq[FileStatus], columns: Seq[ColumnKey]): Seq[FileFooter] =
      if (of.isEmpty || columns.isEmpty) Nil
      else UnreadableFiles.told(table)(Footers.readAll(table.session, of, format, table.dataSchema, columns))
    val late = footers(files.zip(known).collect { case (f, None) => f }, asked).map(f => FileStats(f.rows, f.stats))
    val indexed = known.flatten.map { case (s, i) =>
      FileStats(s.rows(i), asked.flatMap(c => s.columnStats(i, c).map(c -> _)).toMap)
    }
    val more = footers(files.zip(known).collect { case (f, Some(_)) => f }, unindexed).map(_.stats)
    late ++ (if (more.isEmpty) indexed
             else indexed.zip(more).map { case (f, m) => f.copy(columns = f.columns ++ m) })
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
