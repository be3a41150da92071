package org.sparkzorder.layout

import java.util.{Arrays, Comparator}

/**
 * The distribution of one column's values in a sample, and the place of any value in it.
 *
 * Places number the steps of the distribution in the order of values: place 0 is null, 2i+1 the gap below sampled value
 * i, 2i+2 sampled value i itself, and the last place the gap above all. Everything here is monotone in the value, null
 * being the smallest.
 *
 * @param nulls sampled rows in which the column is null
 * @param below below(i) sampled rows, nulls among them, are smaller than sampled value i; its last entry is the whole
 *   sample
 */
sealed abstract class ValueDistribution(val nulls: Int, below: Array[Int]) extends Serializable {

  /** Sampled values, without null. */
  final def distinct: Int = below.length - 1

  /** Sampled rows. */
  final def total: Int = below(distinct)

  final def places: Int = 2 * distinct + 2

  /** Sampled rows that hold sampled value i. */
  final def count(i: Int): Int = below(i + 1) - below(i)

  /** Sampled rows that hold a value among the sampled values `from` until `until`. */
  final def countBetween(from: Int, until: Int): Int = if (until > from) below(until) - below(from) else 0

  /**
   * The share of the sample before a place, plus half the share at it, from 0 to 1.
   * With half the rows null, and the values 7, 7, 8 and 9 in the other half: null 1/4, 7 5/8, between 7 and 8 3/4, 8
   * 13/16.
   */
  final def midCdf(place: Int): Double =
    if (total == 0) 0d
    else {
      val i = (place - 1) / 2
      val twice =
        if (place == 0) nulls.toLong
        else if (place % 2 == 1) 2L * below(i)
        else below(i).toLong + below(i + 1)
      twice.toDouble / (2L * total).toDouble
    }

  /** floor(midCdf * 2^bits), kept below 2^bits. */
  final def id(place: Int, bits: Int): Long =
    math.min((midCdf(place) * (1L << bits).toDouble).toLong, (1L << bits) - 1)

  /**
   * The same with `most` values at most, three or more: each stands for the rows of those next to it, of about as many
   * rows each. The least and the greatest value stay, and one that many rows have stands for itself alone.
   */
  def thinned(most: Int): ValueDistribution

  /** The sampled values that stay, and what `below` is of them. */
  protected final def groups(most: Int): (Array[Int], Array[Int]) = {
    require(most >= 3, s"$most values are too few")
    var rows = math.max(1d, (total - nulls).toDouble / most)
    var starts = startsOf(rows)
    while (starts.length > most) {
      rows *= 1.25
      starts = startsOf(rows)
    }
    val ends = starts.drop(1) :+ distinct
    val middles = starts.zip(ends).map { case (from, to) =>
      (from until to).find(i => 2L * below(i + 1) >= below(from).toLong + below(to)).get
    }
    (middles, starts.map(below(_)) :+ total)
  }

  private def startsOf(rows: Double): Array[Int] = {
    val starts = Array.newBuilder[Int]
    var held = Double.PositiveInfinity
    (0 until distinct).foreach { i =>
      val alone = i == 0 || i == distinct - 1 || count(i) >= rows
      if (alone || held + count(i) > rows) {
        starts += i
        held = 0
      }
      held = if (alone) Double.PositiveInfinity else held + count(i)
    }
    starts.result()
  }
}

/** Of a column with the encoding `Longs`. */
final class LongDistribution private[layout] (val values: Array[Long], nulls: Int, below: Array[Int])
    extends ValueDistribution(nulls, below) {

  /** The place of a value that is not null. */
  def place(v: Long): Int = ValueDistribution.placeOf(Arrays.binarySearch(values, v))

  override def thinned(most: Int): LongDistribution =
    if (distinct <= most) this
    else {
      val (kept, sums) = groups(most)
      new LongDistribution(kept.map(values(_)), nulls, sums)
    }
}

/** Of a column with the encoding `Bytes`, compared as unsigned bytes. */
final class BytesDistribution private[layout] (val values: Array[Array[Byte]], nulls: Int, below: Array[Int])
    extends ValueDistribution(nulls, below) {

  /** The place of a value that is not null. */
  def place(v: Array[Byte]): Int =
    ValueDistribution.placeOf(Arrays.binarySearch(values, v, ValueDistribution.unsigned))

  override def thinned(most: Int): BytesDistribution =
    if (distinct <= most) this
    else {
      val (kept, sums) = groups(most)
      new BytesDistribution(kept.map(values(_)), nulls, sums)
    }
}

object ValueDistribution {
  private[layout] val unsigned: Comparator[Array[Byte]] =
    (a: Array[Byte], b: Array[Byte]) => Arrays.compareUnsigned(a, b)

  private[layout] def placeOf(found: Int): Int = if (found >= 0) 2 * found + 2 else -2 * found - 1

  /** Of sampled values in any order; the array is left alone. */
  def ofLongs(values: Array[Long], nulls: Int): LongDistribution = {
    val sorted = values.clone()
    Arrays.sort(sorted)
    val starts = firsts(sorted.length, (a, b) => sorted(a) == sorted(b))
    new LongDistribution(starts.map(sorted(_)), nulls, below(starts, sorted.length, nulls))
  }

  /** Of sampled values in any order; the array is left alone. */
  def ofBytes(values: Array[Array[Byte]], nulls: Int): BytesDistribution = {
    val sorted = values.clone()
    Arrays.sort(sorted, unsigned)
    val starts = firsts(sorted.length, (a, b) => Arrays.equals(sorted(a), sorted(b)))
    new BytesDistribution(starts.map(sorted(_)), nulls, below(starts, sorted.length, nulls))
  }

  private def firsts(n: Int, same: (Int, Int) => Boolean): Array[Int] =
    (0 until n).filter(i => i == 0 || !same(i - 1, i)).toArray

  private def below(starts: Array[Int], n: Int, nulls: Int): Array[Int] = (starts :+ n).map(_ + nulls)
}
