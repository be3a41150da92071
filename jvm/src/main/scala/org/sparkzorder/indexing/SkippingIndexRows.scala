package org.sparkzorder.indexing

import java.util
import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.compat._
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileId, OrderedValue}
import org.sparkzorder.table.PlainTable

/**
 * The contents of an index as a table, with a row for each file and column. The rows of a slice of
 * the files are made when its task is sent, so the driver holds those of a few slices at a time.
 */
private[sparkzorder] final class SkippingIndexRows(table: PlainTable, snapshot: IndexSnapshot, columns: Seq[ColumnKey])
    extends Table
    with SupportsRead
    with ScanBuilder
    with Scan
    with Batch {
  import SkippingIndexRows._

  private val files: Array[FileStatus] = table.listed.iterator.flatMap(_.files).toArray
  // Loads the columns now, since the next operation replaces the index file that they are in.
  columns.foreach(c => snapshot.column(c.path, c.dataType))

  private lazy val seenPaths = (0 until snapshot.files).iterator.map(snapshot.fileId(_).path).toSet

  /** The texts of a column's name and type, shared by the rows of a slice. */
  private val texts = columns.map(key => (key, text(key.path.mkString(".")), text(key.dataType.sql)))

  override def name: String = s"skipping index of ${table.name}"

  override def schema: StructType = SkippingIndexRows.schema

  override def capabilities: util.Set[TableCapability] = Set(TableCapability.BATCH_READ).asJava

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = this

  override def build(): Scan = this

  override def readSchema(): StructType = schema

  override def toBatch: Batch = this

  override def planInputPartitions(): Array[InputPartition] = {
    val filesOfSlice = math.max(1, RowsOfSlice / math.max(1, columns.size))
    files.grouped(filesOfSlice).map(new Slice(_, this)).toArray
  }

  override def createReaderFactory(): PartitionReaderFactory = RowsReader

  private def rowsOf(file: FileStatus): Seq[InternalRow] = {
    val path = table.names.of(file.getPath)
    val ordinal = snapshot.ordinalOf(path, file.getLen, file.getModificationTime)
    val rows = Option.when(ordinal >= 0)(snapshot.rows(ordinal))
    val pathText = text(path)
    texts.map { case (key, nameText, typeText) =>
      val column = rows.flatMap(_ => snapshot.columnStats(ordinal, key))
      val status = rows match {
        case None                           => if (seenPaths.contains(path)) "stale" else "missing"
        case Some(_) if snapshot.isOutdated => "stale"
        case Some(n)                        => column.fold("missing")(statusOf(n, key, _))
      }
      def bound(value: ColumnStats => Any): UTF8String =
        column.filter(_.hasBounds).map(c => text(OrderedValue.display(key.dataType, value(c)))).orNull
      InternalRow(
        pathText,
        file.getLen,
        rows.orNull,
        nameText,
        typeText,
        bound(_.min),
        bound(_.max),
        column.map(_.nullCount).filter(_ >= 0).orNull,
        text(status)
      )
    }
  }
}

private[sparkzorder] object SkippingIndexRows {

  /** This makes some hundred kilobytes for a task. */
  private val RowsOfSlice = 2000

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

  private def text(s: String): UTF8String = UTF8String.fromString(s)

  private def statusOf(rows: Long, key: ColumnKey, c: ColumnStats): String =
    if (c.nullCount >= 0 && OrderedValue.encoding(key.dataType).isEmpty) "indexed"
    else if (c.hasBounds || c.nullCount == rows || (c.nullCount >= 0 && c.nullCount + c.nanCount == rows))
      "indexed"
    else if (c.nullCount >= 0) "unusable: no bounds"
    else "unusable: neither bounds nor null count"

  /** Some files of the table. When a slice is serialized for a task, its rows take its place. */
  private final class Slice(files: Array[FileStatus], of: SkippingIndexRows) extends InputPartition {
    private def writeReplace(): AnyRef = SliceRows(files.flatMap(of.rowsOf))
  }

  private final case class SliceRows(rows: Array[InternalRow]) extends InputPartition

  private object RowsReader extends PartitionReaderFactory {
    override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
      case SliceRows(rows) =>
        new PartitionReader[InternalRow] {
          private var at = -1
          override def next(): Boolean = {
            at += 1
            at < rows.length
          }
          override def get(): InternalRow = rows(at)
          override def close(): Unit = ()
        }
      case other => throw new IllegalStateException(s"$other was not sent to a task")
    }
  }
}

/** Bounds of key columns from the index alone. No other column is loaded. One that the index lacks is unknown. */
private[sparkzorder] final class IndexedBounds(snapshot: => Option[IndexSnapshot], keys: IndexedSeq[ColumnKey]) {
  private lazy val index = snapshot

  def of(file: FileId): IndexedSeq[FileBounds] = {
    val known = index.map(s => (s, s.ordinalOf(file.path, file.length, file.modificationTime))).filter(_._2 >= 0)
    keys.map { key =>
      known.flatMap { case (s, ordinal) => s.columnStats(ordinal, key).map(FileBounds.of(_, s.rows(ordinal))) }
        .getOrElse(FileBounds.Unknown)
    }
  }
}
