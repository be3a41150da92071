package org.sparkzorder.workload

import java.util.Arrays

import org.sparkzorder.layout.FileBounds
import org.sparkzorder.stats.OrderedValue

/**
 * The place of a value in its column, from 0 to 1, as the files' bounds tell it: the share of the rows below it, those
 * of a file taken to be spread evenly from its least to its greatest value. Monotone in the value.
 *
 * Of two files of 10 rows, with the values from 0 to 100 and from 50 to 150: 0 is at 0, 50 at 1/4, 75 at 1/2.
 *
 * @param places of bounds, ascending
 * @param below the share of the rows below each, half of those that are equal to it among them
 */
final class RankAxis private (places: Array[Double], below: Array[Double], placeOf: Any => Double) {

  /** @param value encoded: a `java.lang.Long` or an `Array[Byte]` */
  def rank(value: Any): Double = {
    val place = placeOf(value)
    val found = Arrays.binarySearch(places, place)
    if (found >= 0) below(found)
    else {
      val above = -found - 1
      if (above == 0) 0d
      else if (above == places.length) 1d
      else {
        val (low, high) = (places(above - 1), places(above))
        below(above - 1) + (below(above) - below(above - 1)) * (place - low) / (high - low)
      }
    }
  }
}

object RankAxis {

  /** Files that are looked at: more tell nothing about 128 steps. */
  private val MaxFiles = 2048

  /**
   * @param files bounds of a column, and the rows in which it is not null, of each file
   * @param floating whether longs stand for floating-point numbers
   * @return None when no file has bounds
   */
  def of(files: IndexedSeq[(FileBounds, Long)], floating: Boolean): Option[RankAxis] = {
    val known = files.filter { case (b, rows) => b != FileBounds.Unknown && b != FileBounds.AllNull && rows > 0 }
    val step = (known.length + MaxFiles - 1) / MaxFiles
    val taken = if (step <= 1) known else known.indices.by(step).map(known)
    if (taken.isEmpty) None
    else {
      val placeOf = places(taken.map(_._1), floating)
      val spans = taken.map {
        case (FileBounds.Longs(min, max), rows) => (placeOf(min), placeOf(max), rows.toDouble)
        case (FileBounds.Bytes(min, max), rows) => (placeOf(min), placeOf(max), rows.toDouble)
        case (other, _)                         => throw new IllegalArgumentException(s"no bounds: $other")
      }
      Some(of(spans, placeOf))
    }
  }

  private def of(spans: Seq[(Double, Double, Double)], placeOf: Any => Double): RankAxis = {
    val places = spans.flatMap { case (low, high, _) => Seq(low, high) }.distinct.sorted.toArray
    // Rows at a place, and rows for each unit of the axis from a place on.
    val at = new Array[Double](places.length)
    val density = new Array[Double](places.length)
    spans.foreach { case (low, high, rows) =>
      val (from, to) = (Arrays.binarySearch(places, low), Arrays.binarySearch(places, high))
      if (from == to) at(from) += rows
      else {
        density(from) += rows / (high - low)
        density(to) -= rows / (high - low)
      }
    }
    val total = spans.map(_._3).sum
    val below = new Array[Double](places.length)
    var sum = 0d
    var rate = 0d
    places.indices.foreach { i =>
      if (i > 0) sum += rate * (places(i) - places(i - 1))
      below(i) = math.min(1d, (sum + at(i) / 2) / total)
      sum += at(i)
      rate = math.max(0d, rate + density(i))
    }
    new RankAxis(places, below, placeOf)
  }

  private def places(bounds: Seq[FileBounds], floating: Boolean): Any => Double = {
    val bytes = bounds.collect { case FileBounds.Bytes(min, max) => Seq(min, max) }.flatten
    if (bytes.nonEmpty) {
      val least = bytes.reduceLeft((a, b) => if (OrderedValue.compare(a, b) <= 0) a else b)
      val most = bytes.reduceLeft((a, b) => if (OrderedValue.compare(a, b) >= 0) a else b)
      val common = Arrays.mismatch(least, most) match {
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

  /** A byte string as a binary fraction, without the bytes that all have in common. */
  private def fraction(v: Array[Byte], common: Int): Double =
    (0 until 6).foldLeft(0d)((sum, i) => sum * 256 + (if (common + i < v.length) v(common + i) & 0xff else 0))
}
