package org.sparkzorder.footer.orc

import java.time.{LocalDateTime, ZoneId, ZoneOffset}
import java.util.TimeZone

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.orc.{OrcFile, TypeDescription}
import org.apache.orc.TypeDescription.Category

import org.sparkzorder.compat._
import org.sparkzorder.footer.TimestampSearch

/** A wall clock that a rewrite would change: the zone has it twice, or not at all. */
final case class AmbiguousClock(column: Seq[String], zone: ZoneId, twice: Boolean)

/** Timestamps as an ORC file stores them: seconds, and nanoseconds beside them. */
private[footer] object OrcTimestamps {

  /** Columns of instants and of wall clocks at any depth, each with the names of the fields on the way to it. */
  def columns(schema: TypeDescription): Seq[(Seq[String], TypeDescription)] = below(schema, Nil)

  private def below(t: TypeDescription, names: List[String]): Seq[(Seq[String], TypeDescription)] =
    t.getCategory match {
      case Category.TIMESTAMP | Category.TIMESTAMP_INSTANT => Seq(names.reverse -> t)
      case Category.STRUCT                                 =>
        t.getFieldNames.asScala.toVector.zip(t.getChildren.asScala).flatMap { case (n, child) =>
          below(child, n :: names)
        }
      case _ => Option(t.getChildren).toSeq.flatMap(_.asScala).flatMap(below(_, names))
    }

  /** The first column with a value that is not a whole number of microseconds. */
  def firstFiner(conf: Configuration, file: FileStatus): Option[Seq[String]] =
    Using.resource(new TimestampColumn(conf, file, isWanted = _ => true, asStored = false)) { values =>
      values.batches.flatMap(_.collectFirst {
        case (column, Some((v, count))) if exists(v, count)(i => TimestampSearch.isFiner(v.nanos(i).toLong)) => column
      }).nextOption()
    }

  /**
   * The first column with a wall clock that does not stay the same instant, or the same clock, when this JVM writes it.
   * With daylight saving a zone has no 02:30 in a night in March, and two in a night in October.
   *
   * @param writer the time zone of the file, None when it is not known
   */
  def firstAmbiguous(conf: Configuration, file: FileStatus, writer: Option[ZoneId]): Option[AmbiguousClock] = {
    def values(asStored: Boolean) =
      new TimestampColumn(conf, file, isWanted = _.getCategory == Category.TIMESTAMP, asStored)
    Using.resource(values(asStored = true)) { stored =>
      Using.resource(values(asStored = false)) { read =>
        stored.batches.zip(read.batches).flatMap { case (a, b) =>
          a.iterator.zip(b.iterator).flatMap {
            case ((column, Some((x, count))), (_, Some((y, _)))) =>
              if (exists(x, count)(i => isOther(x, y, i)))
                Some(AmbiguousClock(column, TimeZone.getDefault.toZoneId, false))
              else
                writer.filter(zone => exists(x, count)(i => isTwice(x, i, zone))).map(AmbiguousClock(column, _, true))
            case _ => None
          }.nextOption()
        }.nextOption()
      }
    }
  }

  private def exists(vector: TimestampColumnVector, count: Int)(test: Int => Boolean): Boolean =
    (0 until (if (vector.isRepeating) math.min(1, count) else count)).exists { i =>
      (vector.noNulls || !vector.isNull(i)) && test(i)
    }

  /** Whether the clock of this JVM shows another time than the one that is stored. */
  private def isOther(stored: TimestampColumnVector, read: TimestampColumnVector, i: Int): Boolean =
    read.time(i) + TimeZone.getDefault.getOffset(read.time(i)) != stored.time(i)

  private def isTwice(stored: TimestampColumnVector, i: Int, zone: ZoneId): Boolean = {
    val clock = LocalDateTime.ofEpochSecond(Math.floorDiv(stored.time(i), 1000L), 0, ZoneOffset.UTC)
    zone.getRules.getValidOffsets(clock).size > 1
  }

  /**
   * The values of a file's timestamp columns, batch after batch: for each column its vector and the
   * number of its values.
   *
   * @param asStored whether wall clocks come as if their zone was UTC, else as this JVM reads them
   */
  private final class TimestampColumn(
      conf: Configuration,
      file: FileStatus,
      isWanted: TypeDescription => Boolean,
      asStored: Boolean
  ) extends AutoCloseable {
    private val reader = OrcFile.createReader(file.getPath, OrcFile.readerOptions(conf).useUTCTimestamp(asStored))
    private val schema = reader.getSchema
    private val wanted = columns(schema).filter { case (_, t) => isWanted(t) }
    private val rows = {
      val included = new Array[Boolean](schema.getMaximumId + 1)
      wanted.foreach { case (_, t) =>
        Iterator.iterate(t)(_.getParent).takeWhile(_ != null).foreach(up => included(up.getId) = true)
      }
      reader.rows(reader.options().include(included))
    }

    def batches: Iterator[Seq[(Seq[String], Option[(TimestampColumnVector, Int)])]] = {
      val batch = schema.createRowBatch()
      Iterator.continually(rows.nextBatch(batch)).takeWhile(identity)
        .map(_ => wanted.map { case (names, t) => names -> vectorsOf(schema, batch, t) })
    }

    override def close(): Unit =
      try rows.close()
      finally reader.close()
  }

  /** A column's values of this batch, and their number: inside of lists and maps there may be more values than rows. */
  private def vectorsOf(
      schema: TypeDescription,
      batch: VectorizedRowBatch,
      column: TypeDescription
  ): Option[(TimestampColumnVector, Int)] = {
    val path = Iterator.iterate(column)(_.getParent).takeWhile(_ ne schema).toList.reverse
    // A file may consist of one column without a struct around it.
    val start: (ColumnVector, List[TypeDescription], Int) =
      if (path.isEmpty) (batch.cols(0), Nil, batch.size)
      else if (schema.getCategory == Category.STRUCT)
        (batch.cols(schema.getChildren.indexWhere(path.head)), path, batch.size)
      else (batch.cols(0), schema :: path, batch.size)
    def down(vector: ColumnVector, path: List[TypeDescription], count: Int): Option[(TimestampColumnVector, Int)] =
      (vector, path) match {
        case (t: TimestampColumnVector, _)               => Some((t, count))
        case (s: StructColumnVector, self :: next :: to) =>
          down(s.fields(self.getChildren.indexWhere(next)), next :: to, count)
        case (u: UnionColumnVector, self :: next :: to) =>
          down(u.fields(self.getChildren.indexWhere(next)), next :: to, count)
        case (l: ListColumnVector, _ :: next :: to)   => down(l.child, next :: to, l.childCount)
        case (m: MapColumnVector, self :: next :: to) =>
          down(if (self.getChildren.get(0) eq next) m.keys else m.values, next :: to, m.childCount)
        case _ => None
      }
    down(start._1, start._2, start._3)
  }

  private implicit class Children(children: java.util.List[TypeDescription]) {
    def indexWhere(child: TypeDescription): Int = children.asScala.indexWhere(_ eq child)
  }
}
