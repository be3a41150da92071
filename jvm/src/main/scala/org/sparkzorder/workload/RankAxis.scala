package org.sparkzorder.workload

import java.util.Arrays

import org.sparkzorder.compat.ByteArrays
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats._

/**
 * The rank of a value in its column: the share of the rows that are below the value, from 0 to 1. It is computed from
 * the files' bounds, as if the rows of a file were spread evenly from its least to its greatest value. The rank is
 * monotone in the value.
 *
 * For example, two files have 10 rows each, with values from 0 to 100 and from 50 to 150. Then 0 has the rank 0, 50 has
 * 1/4 and 75 has 1/2.
 *
 * @param points the bounds as numbers, ascending
 * @param below for each point, the share of the rows below it, with half of the rows that are equal to it
 */
final class RankAxis private (points: Array[Double], below: Array[Double], pointOf: Any => Double) {

  /** @param value encoded: a `java.lang.Long` or an `Array[Byte]` */
  def rank(value: Any): Double = {
    val point = pointOf(value)
    val found = Arrays.binarySearch(points, point)
    if (found >= 0) below(found)
    else {
      val above = -found - 1
      if (above == 0) 0d
      else if (above == points.length) 1d
      else {
        val (low, high) = (points(above - 1), points(above))
        below(above - 1) + (below(above) - below(above - 1)) * (point - low) / (high - low)
      }
    }
  }
}

object RankAxis {

  /** At most about so many files are used: more would not change a rank by a step, of which there are 128. */
  private val MaxFiles = 2048

  /**
   * @param files for each file, the bounds of a column and the number of rows in which it is not null
   * @param floating whether longs are encoded floating-point numbers
   * @return None when no file has bounds
   */
  def of(files: IndexedSeq[(FileBounds, Long)], floating: Boolean): Option[RankAxis] = {
    val known = files.filter { case (b, rows) => b != FileBounds.Unknown && b != FileBounds.AllNull && rows > 0 }
    val step = (known.length + MaxFiles - 1) / MaxFiles
    val taken = if (step <= 1) known else known.indices.by(step).map(known)
    if (taken.isEmpty) None
    else {
      val pointOf = points(taken.map(_._1), floating)
      val spans = taken.map {
        case (FileBounds.Longs(min, max), rows) => Span(pointOf(min), pointOf(max), rows.toDouble)
        case (FileBounds.Bytes(min, max), rows) => Span(pointOf(min), pointOf(max), rows.toDouble)
        case (other, _)                         => throw new IllegalArgumentException(s"no bounds: $other")
      }
      Some(of(spans, pointOf))
    }
  }

  /** The rows of a file, with the points of its bounds. */
  private final case class Span(low: Double, high: Double, rows: Double)

  private def of(spans: Seq[Span], pointOf: Any => Double): RankAxis = {
    val points = spans.flatMap(s => Seq(s.low, s.high)).distinct.sorted.toArray
    // The rows at each point, and by how much the density of rows changes there.
    val at = new Array[Double](points.length)
    val change = new Array[Double](points.length)
    spans.foreach { s =>
      val (from, to) = (Arrays.binarySearch(points, s.low), Arrays.binarySearch(points, s.high))
      if (from == to) at(from) += s.rows
      else {
        change(from) += s.rows / (s.high - s.low)
        change(to) -= s.rows / (s.high - s.low)
      }
    }
    val total = spans.map(_.rows).sum
    val below = new Array[Double](points.length)
    var sum = 0d
    var density = 0d
    points.indices.foreach { i =>
      if (i > 0) sum += density * (points(i) - points(i - 1))
      below(i) = math.min(1d, (sum + at(i) / 2) / total)
      sum += at(i)
      density = math.max(0d, density + change(i))
    }
    new RankAxis(points, below, pointOf)
  }

  /** The function that makes numbers of encoded values, in their order. */
  private def points(bounds: Seq[FileBounds], floating: Boolean): Any => Double = {
    val bytes = bounds.collect { case FileBounds.Bytes(min, max) => Seq(min, max) }.flatten
    if (bytes.nonEmpty) {
      val least = bytes.reduceLeft((a, b) => if (OrderedValue.compare(a, b) <= 0) a else b)
      val most = bytes.reduceLeft((a, b) => if (OrderedValue.compare(a, b) >= 0) a else b)
      val common = ByteArrays.mismatch(least, most) match {
        case -1 => least.length
        case n  => n
      }
      (value: Any) => {
        val v = value.asInstanceOf[Array[Byte]]
        if (OrderedValue.compare(v, least) <= 0) fraction(least, common)
        else if (OrderedValue.compare(v, most) >= 0) fraction(most, common)
        else fraction(v, common)
      }
    } else if (floating) (value: Any) => finite(OrderedValue.toDouble(value.asInstanceOf[Long])) / 4
    else (value: Any) => value.asInstanceOf[Long].toDouble / 4
  }

  private def finite(v: Double): Double =
    if (v.isNaN) Double.MaxValue else math.max(-Double.MaxValue, math.min(Double.MaxValue, v))

  /** A byte string as a binary fraction, without the first bytes that all have in common. */
  private def fraction(v: Array[Byte], common: Int): Double =
    (0 until 6).foldLeft(0d)((sum, i) => sum * 256 + (if (common + i < v.length) v(common + i) & 0xff else 0))
}

/**
 * The axes of a table's columns, made of the table's statistics.
 *
 * A column has an axis only if the statistics have its bounds in every file that has a value of it. So if a file hides
 * its values by encryption, or the column is kept out of the statistics, ranks do not reveal them either.
 */
object ColumnAxes {

  def of(statistics: StatsTable, column: Column): Option[RankAxis] =
    statistics.column(column.path, column.dataType).flatMap { c =>
      val files = (0 until statistics.files).map(i => bounds(c, i, statistics.rows(i)))
      if (files.exists { case (b, rows) => b == FileBounds.Unknown && rows > 0 }) None
      else RankAxis.of(files, OrderedValue.hasNaN(column.dataType))
    }

  private def bounds(c: StatsColumn, i: Int, rows: Long): (FileBounds, Long) = {
    val nulls = c.nullCounts(i)
    val of =
      if (!c.bounded.get(i)) {
        val nan = if (c.nanCounts == null) 0L else math.max(c.nanCounts(i), 0L)
        if (math.max(nulls, 0L) + nan >= rows) FileBounds.AllNull else FileBounds.Unknown
      } else
        c match {
          case l: LongStatsColumn  => FileBounds.Longs(l.min(i), l.max(i))
          case b: BytesStatsColumn => FileBounds.Bytes(b.min(i), b.max(i))
        }
    of -> (rows - math.max(nulls, 0L))
  }
}
