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
   * The same with about `most` values at most, for files that are cut at so many quantiles of the rows. Values come together in
   * groups of as many rows each, and no group goes over a quantile where a file may end, so a file's end is exact also when
   * it has few values. The least and the greatest value stay, and one that many rows have stays by itself.
   *
   * A group of several values becomes one boundary in front of them: the shortest value between them and the group before, which
   * takes fewer bytes than a value of the data. The rows of the group are in the gap behind it, and the share at this gap is
   * that at the middle of the group.
   *
   * Of 8 rows with the values 1 to 8 and room for four boundaries, these are 1, 2, 6 and 8 or so: 3, 4 and 5 are in the gap
   * behind 2.
   *
   * @param most 3 or more
   * @param files equal shares of the rows that the groups go with, if there is room for a boundary of each
   */
  def thinned(most: Int, files: Int = 1): ValueDistribution

  /**
   * The groups: the first value of each, and at last the number of values. Of each whether it is one value, and what `below`
   * is behind it.
   */
  protected final def groups(most: Int, files: Int): (Array[Int], Array[Int]) = {
    require(most >= 3, s"$most values are too few")
    def wholeFiles(parts: Int) = if (parts > files) parts - parts % files else parts
    var parts = wholeFiles(most)
    var starts = startsOf(parts, files)
    while (starts.length > most && parts > 1) {
      parts = math.max(1, wholeFiles(math.min(parts - 1, (parts * 0.9).toInt)))
      starts = startsOf(parts, files)
    }
    val ends = starts.drop(1) :+ distinct
    val behind = starts.zip(ends).map { case (from, to) =>
      if (to == from + 1) below(to) else ((below(from).toLong + below(to) + 1) / 2).toInt
    }
    (starts :+ distinct, nulls +: behind)
  }

  private def startsOf(parts: Int, files: Int): Array[Int] = {
    val starts = Array.newBuilder[Int]
    // A value with rows on both sides of a file's end is one that both files have: no others shall be.
    def isCut(i: Int) = quantile(below(i), files) != quantile(below(i + 1) - 1, files)
    var isAlone = true
    (0 until distinct).foreach { i =>
      val wasAlone = isAlone
      isAlone = i == 0 || i == distinct - 1 || count(i).toLong * parts >= total || parts >= files && isCut(i)
      if (isAlone || wasAlone || quantile(below(i), parts) != quantile(below(i - 1), parts)) starts += i
    }
    starts.result()
  }

  /** The part that a row of this number in order is in, where parts begin at the row nearest to their share. */
  private def quantile(row: Int, parts: Int): Long = Math.floorDiv((2L * row + 1) * parts - 1, 2L * total)
}

/** Of a column with the encoding `Longs`. */
final class LongDistribution private[layout] (val values: Array[Long], nulls: Int, below: Array[Int])
    extends ValueDistribution(nulls, below) {

  /** The place of a value that is not null. */
  def place(v: Long): Int = ValueDistribution.placeOf(Arrays.binarySearch(values, v))

  override def thinned(most: Int, files: Int = 1): LongDistribution =
    if (distinct <= most) this
    else {
      val (starts, sums) = groups(most, files)
      val kept = starts.indices.init.map { g =>
        val from = starts(g)
        if (starts(g + 1) == from + 1) values(from) else ValueDistribution.between(values(from - 1), values(from))
      }
      new LongDistribution(kept.toArray, nulls, sums)
    }
}

/** Of a column with the encoding `Bytes`, compared as unsigned bytes. */
final class BytesDistribution private[layout] (val values: Array[Array[Byte]], nulls: Int, below: Array[Int])
    extends ValueDistribution(nulls, below) {

  /** The place of a value that is not null. */
  def place(v: Array[Byte]): Int =
    ValueDistribution.placeOf(Arrays.binarySearch(values, v, ValueDistribution.unsigned))

  override def thinned(most: Int, files: Int = 1): BytesDistribution =
    if (distinct <= most) this
    else {
      val (starts, sums) = groups(most, files)
      val kept = starts.indices.init.map { g =>
        val from = starts(g)
        if (starts(g + 1) == from + 1) values(from) else ValueDistribution.between(values(from - 1), values(from))
      }
      new BytesDistribution(kept.toArray, nulls, sums)
    }
}

object ValueDistribution {
  private[layout] val unsigned: Comparator[Array[Byte]] =
    (a: Array[Byte], b: Array[Byte]) => Arrays.compareUnsigned(a, b)

  /** The number above `low` and at most `high` that most powers of two divide. */
  private[layout] def between(low: Long, high: Long): Long =
    if (low < 0 && high >= 0) 0L else high & -java.lang.Long.highestOneBit(low ^ high)

  /** The shortest bytes above `low` and at most `high`, which begin like it. */
  private[layout] def between(low: Array[Byte], high: Array[Byte]): Array[Byte] =
    Arrays.copyOf(high, math.min(high.length, Arrays.mismatch(low, high) + 1))

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
