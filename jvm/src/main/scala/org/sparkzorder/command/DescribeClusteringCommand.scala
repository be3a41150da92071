package org.sparkzorder.command

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types._

import org.sparkzorder.footer.files.Footers
import org.sparkzorder.footer.{DataFormat, FileFooter}
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{ExcludedColumns, TableIndex, UnreadableFiles}
import org.sparkzorder.layout.{ClusteringDepth, FileBounds}
import org.sparkzorder.statement.Target
import org.sparkzorder.stats.{ColumnKey, ColumnStats, OrderedValue}
import org.sparkzorder.table.{KeyColumns, PlainTable, TableSideFolder}

/**
 * `DESCRIBE CLUSTERING`: for each column, how many files have bounds that include one of its values. The bounds come
 * from the index, or from the footers of files that the index does not know. No data is read.
 *
 * @param columns names as written; empty for all columns whose values have an order
 */
final case class DescribeClusteringCommand(target: Target, columns: Seq[Seq[String]]) extends NamedCommand {

  override protected def resultColumns: StructType = NamedCommand.columns(
    "column" -> StringType,
    "files" -> LongType,
    "mean_files" -> DoubleType,
    "max_files" -> LongType,
    "skipped_fraction" -> DoubleType,
    "bound_files" -> DoubleType,
    "depth_histogram" -> NamedCommand.list(LongType)
  )

  override def title: String = s"DESCRIBE CLUSTERING ${target.title}"

  override protected def work(session: SparkSession): Seq[Row] = {
    val table = TableRecovery.settled(session, target)
    val asked =
      if (columns.isEmpty) TableIndex.usableColumns(table).filter(c => OrderedValue.encoding(c.dataType).isDefined)
      else KeyColumns.resolveAll(table, columns).map { case (path, dataType) => ColumnKey(path, dataType) }
    val known = statistics(table, asked)
    asked.map { column =>
      val bounds = known.bounds(column)
      val depth = ClusteringDepth.of(bounds, OrderedValue.hasNaN(column.dataType))
      Row(
        column.path.mkString("."),
        known.files,
        depth.mean,
        depth.max,
        if (known.files == 0) 0d else 1 - depth.mean / known.files,
        // What is reached is possible, also where files or values are not as the bound assumes.
        math.min(depth.mean, ClusteringDepth.bound(known.files, asked.size, ClusteringDepth.shares(bounds))),
        depth.histogram
      )
    }
  }

  /**
   * The bounds of the columns that the statement asks for. It reads the footers of files that the
   * index does not know, and of all files for columns that the index was told to leave out. If a
   * column has no statistics in the index for any other reason, the footers have none either.
   */
  private def statistics(table: PlainTable, asked: Seq[ColumnKey]): KnownBounds = {
    val files = table.listed.flatMap(_.files)
    val snapshot = TableIndex.of(table, TableSideFolder.of(table))
    val ordinals = files.map { f =>
      val id = TableIndex.idOf(table, f)
      snapshot.map(_.ordinalOf(id.path, id.length, id.modificationTime)).getOrElse(-1)
    }
    val isExcluded = ExcludedColumns.of(table)
    val leftOut = snapshot.flatMap(TableIndex.restriction).fold(Set.empty[Seq[String]])(told =>
      asked.map(_.path).filterNot(told).toSet
    ) ++ asked.map(_.path).filter(isExcluded)
    val unindexed = asked.filter(c => leftOut(c.path))
    val format = DataFormat.of(table.formatName).get
    def footers(of: Seq[FileStatus], columns: Seq[ColumnKey]): Seq[FileFooter] =
      if (of.isEmpty || columns.isEmpty) Nil
      else UnreadableFiles.translateErrors(table) {
        Footers.readAll(table.session, of, format, table.dataSchema, columns, options = table.relation.options)
      }
    val (indexed, late) = files.zip(ordinals).partition(_._2 >= 0)
    new KnownBounds(
      snapshot,
      indexed.map(_._2),
      footers(indexed.map(_._1), unindexed),
      unindexed.toSet,
      footers(late.map(_._1), asked)
    )
  }
}

/**
 * The bounds of all files, for one column at a time. The bounds of all columns might not fit into the driver's memory.
 *
 * @param indexed ordinals in the index of the files that it knows
 * @param besideIndex footers of these files, for the columns that the index leaves out; empty if it leaves none out
 * @param leftOut the columns that the index was told to leave out
 * @param late footers of the files that the index does not know
 */
private final class KnownBounds(
    snapshot: Option[IndexSnapshot],
    indexed: Seq[Int],
    besideIndex: Seq[FileFooter],
    leftOut: Set[ColumnKey],
    late: Seq[FileFooter]
) {
  val files: Long = indexed.size.toLong + late.size

  /** For each file its bounds, and the number of rows that are not null. */
  def bounds(column: ColumnKey): Seq[(FileBounds, Long)] =
    late.map(of(_, column)) ++
      (if (leftOut(column)) besideIndex.map(of(_, column))
       else snapshot.toSeq.flatMap(s => indexed.map(i => of(s.columnStats(i, column), s.rows(i)))))

  private def of(footer: FileFooter, column: ColumnKey): (FileBounds, Long) = of(footer.stats.get(column), footer.rows)

  private def of(stats: Option[ColumnStats], rows: Long): (FileBounds, Long) = {
    val known = stats.getOrElse(ColumnStats.unknown)
    FileBounds.of(known, rows) -> (rows - math.max(known.nullCount, 0L))
  }
}
