package org.sparkzorder.index

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.DataType
import org.slf4j.LoggerFactory

import org.sparkzorder.layout.CurveInterval
import org.sparkzorder.stats._

/**
 * An index in memory: its files at once, its columns when they are first asked for. Safe for use by many threads.
 * A column that cannot be read is as if it were not there, so that its files are read; a warning names the index.
 */
final class IndexSnapshot private[index] (source: BlockSource, footer: IndexFooter, table: FileTable)
    extends StatsTable {
  import IndexSnapshot.log

  private val byKey: Map[ColumnKey, Lazy[ColumnData]] = footer.columns.map { c =>
    def shown = s"Column ${quoteNameParts(c.key.path)}"
    c.key -> new Lazy[ColumnData](c.block, shown, ColumnBlock.read(c.key.dataType, rows, _), _.memoryBytes)
  }.toMap

  /** The index file. */
  def name: String = source.name

  def files: Int = table.files

  def rows: Array[Long] = table.rows

  override lazy val allHaveRows: Boolean = super.allHaveRows

  def columns: Seq[ColumnKey] = footer.columns.map(_.key)

  def properties: Map[String, String] = footer.properties

  /** The file that is known under this path, length and modification time; -1 when it is not known. */
  def ordinalOf(path: String, length: Long, modificationTime: Long): Int =
    table.ordinalOf(path, 0, length, modificationTime, -1)

  /** The same of the path that begins at a character of a string; faster when the file is the one guessed. */
  def ordinalOf(path: String, from: Int, length: Long, modificationTime: Long, guess: Int): Int =
    table.ordinalOf(path, from, length, modificationTime, guess)

  def fileId(i: Int): FileId = table.id(i)

  /** All that is known of a file. Loads every column. */
  def fileStats(i: Int): FileStats =
    FileStats(rows(i), columns.flatMap(key => byKey(key).get.flatMap(_.of(i)).map(key -> _)).toMap)

  /** What is known of one column of a file. Loads this column alone. */
  def columnStats(i: Int, key: ColumnKey): Option[ColumnStats] = byKey.get(key).flatMap(_.get).flatMap(_.of(i))

  def column(path: Seq[String], dataType: DataType): Option[StatsColumn] =
    byKey.get(ColumnKey(path, dataType)).flatMap(_.get).map(_.stats)

  /** Where files lie along the curves that they were written along; None when none is known to. */
  def intervals: Option[CurveIntervals] = placed.flatMap(_.get)

  private val placed: Option[Lazy[CurveIntervals]] = footer.intervals.map(at =>
    new Lazy[CurveIntervals](
      at,
      "What is known of files' places along a curve",
      CurveIntervals.fromRaw(files, _),
      _.memoryBytes
    )
  )

  /**
   * The intervals of these files for an index that is made anew, of which no reader may conclude anything: they tell what
   * to rewrite.
   */
  def hints(of: Seq[FileId]): Map[FileId, CurveInterval] = {
    val known = for {
      all <- intervals.toSeq
      id <- of
      ordinal = ordinalOf(id.path, id.length, id.modificationTime)
      if ordinal >= 0
      interval <- all.of(ordinal)
    } yield id -> interval
    val frames = known.map(_._2.frame).distinctBy(_.id).map(f => f.id -> f.notLasting).toMap
    known.map { case (id, interval) => id -> interval.copy(frame = frames(interval.frame.id)) }.toMap
  }

  /** A column for copying, which is not kept in memory on that account. */
  private[index] def read(key: ColumnKey): Option[ColumnData] = byKey.get(key).flatMap(c => c.loaded.orElse(c.read()))

  /** Bytes that it takes now, near enough; more once more columns are loaded. */
  def memoryBytes: Long =
    table.memoryBytes + placed.fold(0L)(_.memoryBytes) + byKey.valuesIterator.map(_.memoryBytes).sum

  private[index] def sourceOnFileSystem: Option[HadoopSource] = source match {
    case s: HadoopSource => Some(s)
    case _               => None
  }

  /** A block's contents, once somebody has asked for them. */
  private final class Lazy[T](at: Block, shown: => String, made: Array[Byte] => T, sizeOf: T => Long) {
    @volatile private var data: Option[T] = None
    @volatile private var bytes = 0L
    @volatile private var broken = false

    def loaded: Option[T] = data

    def memoryBytes: Long = bytes

    def get: Option[T] = loaded.orElse(synchronized {
      loaded.orElse {
        val got = read()
        got.foreach(d => bytes = sizeOf(d))
        data = got
        got
      }
    })

    def read(): Option[T] = if (broken) None
    else
      try Some(made(Block.unpack(footer.id, at, source.read(at.offset, at.length))))
      catch {
        // A query must not fail on account of its index, whatever the file system throws.
        case NonFatal(e) =>
          // What is garbled stays so; a file system may recover.
          broken = e.isInstanceOf[IndexFormatException]
          log.warn(s"$shown of the index $name cannot be read and is not used: ${e.getMessage}", e)
          None
      }
  }
}

object IndexSnapshot {

  /** Property: some file spells a column in another case than the table, so that a case-sensitive session misses it. */
  val NamesInAnyCase = "namesInAnyCase"
  private val log = LoggerFactory.getLogger(classOf[IndexSnapshot])
}
