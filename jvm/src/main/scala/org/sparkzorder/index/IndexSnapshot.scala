package org.sparkzorder.index

import scala.util.control.NonFatal

import org.apache.spark.sql.types.DataType
import org.slf4j.LoggerFactory

import org.sparkzorder.stats._

/**
 * An index in memory: its files at once, its columns when they are first asked for. Safe for use by many threads.
 * A column that cannot be read is as if it were not there, so that its files are read; a warning names the index.
 */
final class IndexSnapshot private[index] (source: BlockSource, footer: IndexFooter, table: FileTable)
    extends StatsTable {
  import IndexSnapshot.log

  private val byKey: Map[ColumnKey, Lazy] = footer.columns.map(c => c.key -> new Lazy(c)).toMap

  /** The index file. */
  def name: String = source.name

  def files: Int = table.files

  def rows: Array[Long] = table.rows

  def columns: Seq[ColumnKey] = footer.columns.map(_.key)

  def properties: Map[String, String] = footer.properties

  /** The file that is known under this path, length and modification time; -1 when it is not known. */
  def ordinalOf(path: String, length: Long, modificationTime: Long): Int =
    table.ordinalOf(path, length, modificationTime)

  def fileId(i: Int): FileId = table.id(i)

  /** All that is known of a file. Loads every column. */
  def fileStats(i: Int): FileStats =
    FileStats(rows(i), columns.flatMap(key => byKey(key).get.flatMap(_.of(i)).map(key -> _)).toMap)

  def column(path: Seq[String], dataType: DataType): Option[StatsColumn] =
    byKey.get(ColumnKey(path, dataType)).flatMap(_.get).map(_.stats)

  /** Where files lie along the curves that they were written along; None when none is known to. */
  def intervals: Option[CurveIntervals] = placed

  @volatile private var intervalBytes = 0L

  private lazy val placed: Option[CurveIntervals] = footer.intervals.flatMap { at =>
    try {
      val read = CurveIntervals.fromRaw(files, Block.unpack(footer.id, at, source.read(at.offset, at.length)))
      intervalBytes = read.memoryBytes
      Some(read)
    } catch {
      // A query must not fail on account of its index, whatever the file system throws.
      case NonFatal(e) =>
        log.warn(s"The intervals of the index $name cannot be read and are not used: ${e.getMessage}", e)
        None
    }
  }

  /** A column for copying, which is not kept in memory on that account. */
  private[index] def read(key: ColumnKey): Option[ColumnData] = byKey.get(key).flatMap(c => c.loaded.orElse(c.read()))

  /** Bytes that it takes now, near enough; more once more columns are loaded. */
  def memoryBytes: Long = table.memoryBytes + intervalBytes + byKey.valuesIterator.map(_.memoryBytes).sum

  private[index] def sourceOnFileSystem: Option[HadoopSource] = source match {
    case s: HadoopSource => Some(s)
    case _               => None
  }

  private final class Lazy(column: IndexedColumn) {
    @volatile private var data: ColumnData = null
    @volatile private var bytes = 0L
    @volatile private var broken = false

    def loaded: Option[ColumnData] = Option(data)

    def memoryBytes: Long = bytes

    def get: Option[ColumnData] = loaded.orElse(synchronized {
      loaded.orElse {
        val got = read()
        got.foreach { d =>
          bytes = d.memoryBytes
          data = d
        }
        got
      }
    })

    def read(): Option[ColumnData] = if (broken) None
    else {
      val at = column.block
      try {
        val raw = Block.unpack(footer.id, at, source.read(at.offset, at.length))
        Some(ColumnBlock.read(column.key.dataType, rows, raw))
      } catch {
        // A query must not fail on account of its index, whatever the file system throws.
        case NonFatal(e) =>
          // What is garbled stays so; a file system may recover.
          broken = e.isInstanceOf[IndexFormatException]
          val shown = column.key.path.map(p => s"`$p`").mkString(".")
          log.warn(s"Column $shown of the index $name cannot be read, its statistics are not used: ${e.getMessage}", e)
          None
      }
    }
  }
}

private object IndexSnapshot {
  private val log = LoggerFactory.getLogger(classOf[IndexSnapshot])
}
