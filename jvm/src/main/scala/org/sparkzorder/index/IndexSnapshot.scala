package org.sparkzorder.index

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.DataType
import org.slf4j.LoggerFactory

import org.sparkzorder.compat._
import org.sparkzorder.footer.WritersTable
import org.sparkzorder.layout.CurveInterval
import org.sparkzorder.membership.ColumnMembership
import org.sparkzorder.stats._

/**
 * An index in memory. Each column is read when it is first used. One that cannot be read is taken as
 * missing, with a warning, so that queries read all files. Safe for use by many threads.
 */
final class IndexSnapshot private[index] (reader: IndexReader, table: FileTable) extends StatsTable {
  import IndexSnapshot.log

  import reader.{footer, source}

  private val byKey: Map[ColumnKey, Lazy[ColumnData]] = footer.columns.map { c =>
    def shown = s"Column ${quoteNameParts(c.key.path)}"
    def read = ColumnPages.read(c.key.dataType, rows, reader.pages(ColumnPages.names(c.name, c.key.dataType)))
    c.key -> new Lazy[ColumnData](shown, read, _.memoryBytes)
  }.toMap

  def name: String = source.name

  // It may be opened once more for another scan of the same query.
  override def equals(other: Any): Boolean = other match {
    case that: IndexSnapshot => (this eq that) || name == that.name && id == that.id
    case _                   => false
  }
  override def hashCode: Int = name.hashCode
  private def id: String = footer.id

  def files: Int = table.files

  def rows: Array[Long] = table.rows

  override lazy val allHaveRows: Boolean = super.allHaveRows

  def columns: Seq[ColumnKey] = footer.columns.map(_.key)

  private[index] def writers: Long = footer.writers

  /** Whether it was made by another table of writers. Then it has no columns until it is made again. */
  def isOutdated: Boolean = writers != WritersTable.Number

  def properties: Map[String, String] = footer.properties

  def ordinalOf(path: String, length: Long, modificationTime: Long): Int =
    table.ordinalOf(path, 0, length, modificationTime, -1)

  /** The same for a path that begins at character `from` of a string. It is faster when `guess` is the file. */
  def ordinalOf(path: String, from: Int, length: Long, modificationTime: Long, guess: Int): Int =
    table.ordinalOf(path, from, length, modificationTime, guess)

  def fileId(i: Int): FileId = table.id(i)

  /** All statistics of a file, without the values of columns. Loads every column. */
  def fileStats(i: Int): FileStats =
    FileStats(rows(i), columns.flatMap(key => byKey(key).get.flatMap(_.of(i)).map(key -> _)).toMap)

  /** The statistics of one column of a file. Loads only this column. */
  def columnStats(i: Int, key: ColumnKey): Option[ColumnStats] = byKey.get(key).flatMap(_.get).flatMap(_.of(i))

  def column(path: Seq[String], dataType: DataType): Option[StatsColumn] =
    byKey.get(ColumnKey(path, dataType)).flatMap(_.get).map(_.stats)

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembership] =
    memberBlocks(ColumnKey(path, dataType))

  def memberColumns: Seq[ColumnKey] = withMembers.map(_.key)

  private def withMembers = footer.columns.filter(c => footer.has(MembershipBlocks.columns(c.name).head))

  private[index] def memberBlocks(key: ColumnKey): Option[MembershipBlocks] = byMember.get(key).flatMap(_.get)

  private val byMember: Map[ColumnKey, Lazy[MembershipBlocks]] = withMembers.map { c =>
    val shown = quoteNameParts(c.key.path)
    def read = MembershipBlocks.read(reader, c.name, shown)
    c.key -> new Lazy[MembershipBlocks](s"The directory of the values of $shown", read, _ => 24L * files)
  }.toMap

  /** The files' intervals of the curves that they were written along; None when no file has one. */
  def intervals: Option[CurveIntervals] = placed.flatMap(_.get)

  private val placed: Option[Lazy[CurveIntervals]] = Option.when(footer.has(CurveIntervals.Columns.head))(
    new Lazy[CurveIntervals]("The intervals", CurveIntervals.read(reader), _.memoryBytes)
  )

  /** What the operation that wrote file i was to do, if an OPTIMIZE did. Unknown if the block cannot be read. */
  def originOf(i: Int): Option[String] = writtenFor.flatMap(_.get).flatMap(_.of(i))

  private val writtenFor: Option[Lazy[FileOrigins]] = Option.when(footer.has(FileOrigins.Columns.head))(
    new Lazy[FileOrigins]("The files' origins", FileOrigins.read(reader), _.memoryBytes)
  )

  def origins(of: Seq[FileId]): Map[FileId, String] = known(of, originOf)

  def places(of: Seq[FileId]): Map[FileId, CurveInterval] =
    intervals.fold(Map.empty[FileId, CurveInterval])(all => known(of, all.of))

  private def known[T](files: Seq[FileId], of: Int => Option[T]): Map[FileId, T] = {
    for {
      id <- files
      ordinal = ordinalOf(id.path, id.length, id.modificationTime)
      if ordinal >= 0
      found <- of(ordinal)
    } yield id -> found
  }.toMap

  /** The same for an index that is made anew. They only tell OPTIMIZE what to rewrite, and skip no files. */
  def hints(of: Seq[FileId]): Map[FileId, CurveInterval] = {
    val known = places(of)
    val frames = known.values.map(_.frame).toVector.distinctBy(_.id).map(f => f.id -> f.notLasting).toMap
    known.map { case (id, interval) => id -> interval.copy(frame = frames(interval.frame.id)) }
  }

  /** A column that is to be copied. It is not kept in memory for that. */
  private[index] def read(key: ColumnKey): Option[ColumnData] = byKey.get(key).flatMap(c => c.loaded.orElse(c.read()))

  /** About how many bytes it takes now. They grow as columns are loaded. */
  def memoryBytes: Long =
    table.memoryBytes + (placed ++ writtenFor ++ byKey.values ++ byMember.values).iterator.map(_.memoryBytes).sum

  private[index] def sourceOnFileSystem: Option[HadoopSource] = source match {
    case s: HadoopSource => Some(s)
    case _               => None
  }

  /** A part of the file, read at the first use. */
  private final class Lazy[T](shown: => String, made: => T, sizeOf: T => Long) {
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
      try Some(made)
      catch {
        // A query must not fail because of its index, whatever the file system throws.
        case NonFatal(e) =>
          // A damaged part stays damaged, but a file system may recover.
          broken = e.isInstanceOf[IndexFormatException]
          log.warn(s"$shown of the index $name cannot be read and is not used: ${e.getMessage}", e)
          None
      }
  }
}

object IndexSnapshot {

  /**
   * Property: a file spells a column's name in another case than the table. A case-sensitive session misses the column.
   */
  val NamesInAnyCase = "namesInAnyCase"
  private val log = LoggerFactory.getLogger(classOf[IndexSnapshot])
}
