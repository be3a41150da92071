package org.sparkzorder.layout

import java.nio.ByteBuffer
import java.util.Arrays

import org.sparkzorder.compat._
import org.sparkzorder.stats.OrderedValue

/**
 * How many files have a value within their bounds. Only the bounds are known, so the rows of a file
 * are taken to be spread evenly from its least to its greatest value.
 *
 * @param mean the files with the value of a row that is drawn at random
 * @param max the files with the value that most files have
 * @param histogram about how many rows have a value that 0, 1, 2.. and up to max files have
 */
final case class ClusteringDepth(mean: Double, max: Long, histogram: IndexedSeq[Long]) {

  /** This and more rows, whose value so many files have. */
  private def and(rows: Double, files: Int): ClusteringDepth = {
    val before = histogram.sum.toDouble
    val all = histogram.padTo(files + 1, 0L)
    ClusteringDepth(
      (mean * before + files * rows) / (before + rows),
      math.max(max, files.toLong),
      all.updated(files, all(files) + math.round(rows))
    )
  }
}

object ClusteringDepth {

  /**
   * The length of the axis of all values of a column. Bounds are told apart well, and sums of doubles are exact enough.
   */
  private val Span = (1L << 30).toDouble

  /**
   * @param files for each file, the bounds of a column and the number of rows in which it is not null
   * @param floating whether longs are encoded floating-point numbers, see [[OrderedValue.ofDouble]]
   */
  def of(files: Seq[(FileBounds, Long)], floating: Boolean = false): ClusteringDepth = {
    val nans = files.collect { case (b: FileBounds.LongsOrNaN, rows) => b.share * rows }
    val others = ofOthers(files.map { case (bounds, rows) => withoutNaN(bounds, rows) }, floating)
    if (nans.sum == 0) others else others.and(nans.sum, nans.size + files.count(_._1 == FileBounds.Unknown))
  }

  private def withoutNaN(bounds: FileBounds, rows: Long): (FileBounds, Long) = bounds match {
    case FileBounds.LongsOrNaN(Some(numbers), share) => numbers -> math.round(rows * (1 - share))
    case FileBounds.LongsOrNaN(None, _)              => FileBounds.AllNull -> 0L
    case other                                       => other -> rows
  }

  private def ofOthers(files: Seq[(FileBounds, Long)], floating: Boolean): ClusteringDepth = {
    val everywhere = files.count(_._1 == FileBounds.Unknown)
    val axis = Axis.of(files.map(_._1), floating)
    if (axis.points == 0) {
      val rows = files.collect { case (FileBounds.Unknown, rows) => rows }.sum
      val histogram = if (everywhere == 0) IndexedSeq.empty else IndexedSeq.fill(everywhere)(0L) :+ rows
      ClusteringDepth(everywhere.toDouble, everywhere.toLong, histogram)
    } else new Sweep(axis, files, everywhere).result
  }

  /**
   * The least mean that so many files can have for each of some independent columns that queries ask for equally often.
   * A file's share of the rows is not more than the product of its shares of the columns. So each column has `files`^(1
   * / `columns`) slices, and a lookup reads the files of one of them, or of all that have its value.
   *
   * For example, two columns have four slices each in 16 files, and a lookup reads the four files of a slice. If half
   * of the rows have one value, it has two slices, so a lookup of it reads eight files.
   *
   * @param shares of the rows that frequent values have; values that have less than a slice do not matter
   */
  def bound(files: Long, columns: Int, shares: Iterable[Double] = Nil): Double =
    if (files == 0 || columns == 0) 0d
    else {
      val slices = math.pow(files.toDouble, 1d / columns)
      files / slices * (1 + shares.iterator.filter(_ * slices > 1).map(s => s * (s * slices - 1)).sum)
    }

  /**
   * The shares of the rows that values have at least, by files that hold one value alone.
   *
   * @param files for each file, the bounds of a column and the number of rows in which it is not null
   */
  def shares(files: Seq[(FileBounds, Long)]): Iterable[Double] = {
    val all = files.iterator.map(_._2).sum.toDouble
    files.collect {
      case (FileBounds.Longs(min, max), rows) if min == max              => (min: Any) -> rows
      case (FileBounds.Bytes(min, max), rows) if Arrays.equals(min, max) => ByteBuffer.wrap(min) -> rows
    }.groupMapReduce(_._1)(_._2)(_ + _).values.map(_ / all)
  }

  /**
   * The values of a column in pieces: the least bound, the values between it and the next bound, the next bound, and so
   * on, up to the greatest bound. The depth is the same everywhere in a piece.
   *
   * @param lengths the lengths of the pieces
   * @param ranges for each file that has bounds, the pieces of its lower and its upper bound
   */
  private final case class Axis(lengths: Array[Double], ranges: Seq[Option[(Int, Int)]]) {
    def points: Int = (lengths.length + 1) / 2
  }

  private object Axis {

    def of(bounds: Seq[FileBounds], floating: Boolean): Axis = {
      val longs = bounds.collect { case FileBounds.Longs(min, max) => Seq(min, max) }.flatten.distinct.sorted.toArray
      val bytes = distinct(bounds.collect { case FileBounds.Bytes(min, max) => Seq(min, max) }.flatten.toArray)
      val places =
        if (bytes.nonEmpty) placesOf(bytes)
        else if (floating) longs.map(v => finite(OrderedValue.toDouble(v)) / 4)
        else longs.map(_.toDouble / 4)
      def placeOf(v: Array[Byte]): Int =
        Arrays.binarySearch(bytes, v, (a: Array[Byte], b: Array[Byte]) => OrderedValue.compare(a, b))
      val ranges = bounds.map {
        case FileBounds.Longs(min, max) =>
          Some((2 * Arrays.binarySearch(longs, min), 2 * Arrays.binarySearch(longs, max)))
        case FileBounds.Bytes(min, max) => Some((2 * placeOf(min), 2 * placeOf(max)))
        case _                          => None
      }
      // A whole number has a length, as there are only so many between two bounds. A value of another type has none.
      Axis(lengthsOf(places, if (bytes.isEmpty && !floating) 0.25 else 0d), ranges)
    }

    private def lengthsOf(places: Array[Double], value: Double): Array[Double] =
      if (places.isEmpty) Array.emptyDoubleArray
      else {
        val span = places.last - places.head + value
        val scale = if (span > 0) Span / span else 1d
        Array.tabulate(2 * places.length - 1) { i =>
          if (i % 2 == 0) math.max(value * scale, 1d)
          else math.max((places(i / 2 + 1) - places(i / 2) - value) * scale, 0d)
        }
      }

    private def finite(v: Double): Double = math.max(-Double.MaxValue, math.min(Double.MaxValue, v))

    private def distinct(bytes: Array[Array[Byte]]): Array[Array[Byte]] = {
      Arrays.sort(bytes, OrderedValue.compare(_, _))
      bytes.indices.filter(i => i == 0 || !Arrays.equals(bytes(i - 1), bytes(i))).map(bytes(_)).toArray
    }

    /** Byte strings as binary fractions, without the first bytes that all have in common. */
    private def placesOf(sorted: Array[Array[Byte]]): Array[Double] = {
      val common = ByteArrays.mismatch(sorted.head, sorted.last) match {
        case -1 => sorted.head.length
        case n  => n
      }
      sorted.map { v =>
        (0 until 7).foldLeft(0d)((sum, i) => sum * 256 + (if (common + i < v.length) v(common + i) & 0xff else 0))
      }
    }
  }

  private final class Sweep(axis: Axis, files: Seq[(FileBounds, Long)], everywhere: Int) {
    private val pieces = axis.lengths.length
    private val before = axis.lengths.scanLeft(0d)(_ + _)
    private val depths = new Array[Int](pieces + 1)
    private val density = new Array[Double](pieces + 1)
    private val constant = new Array[Long](pieces)
    files.zip(axis.ranges).foreach {
      case ((_, rows), Some((low, high))) =>
        depths(low) += 1
        depths(high + 1) -= 1
        if (low == high) constant(low) += rows
        else {
          val share = rows / (before(high + 1) - before(low))
          density(low) += share
          density(high + 1) -= share
        }
      case _ => ()
    }

    def result: ClusteringDepth = {
      var depth = 0
      var rows = 0d
      val ofDepth = new Array[Double](files.length + 1)
      var max = 0
      for (i <- 0 until pieces) {
        depth += depths(i)
        rows += density(i)
        // Rounding may leave a small negative number.
        ofDepth(depth + everywhere) += math.max(rows, 0d) * axis.lengths(i) + constant(i)
        max = math.max(max, depth + everywhere)
      }
      val all = ofDepth.sum
      val mean = if (all == 0) 0d else ofDepth.indices.map(d => d * ofDepth(d)).sum / all
      ClusteringDepth(mean, max.toLong, ofDepth.take(max + 1).map(math.round).toIndexedSeq)
    }
  }
}
