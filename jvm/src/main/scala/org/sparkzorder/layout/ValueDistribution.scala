package org.sparkzorder.layout

import java.util.{Arrays, Comparator}

import scala.reflect.ClassTag

import org.sparkzorder.compat.ByteArrays

/**
 * The distribution of one column's values in a sample, and the place of any value in it.
 *
 * Places number the steps of the distribution in the order of values. Place 0 is null, place 2i+1
 * is the gap below sampled value i, place 2i+2 is sampled value i itself, and the last place is the
 * gap above all values. Everything here is monotone in the value, and null is the smallest value.
 *
 * @param nulls sampled rows in which the column is null
 * @param below below(i) is the number of sampled rows whose value is smaller than sampled value i,
 *   nulls included. The last entry is the size of the sample.
 */
sealed abstract class ValueDistribution(val nulls: Int, below: Array[Int]) extends Serializable {

  /** How many different values the sample has, without null. */
  final def distinct: Int = below.length - 1

  final def total: Int = below(distinct)

  final def places: Int = 2 * distinct + 2

  final def count(i: Int): Int = below(i + 1) - below(i)

  /** The share that each sampled value has in the rows that are not null. */
  final def shares: Iterable[Double] = (0 until distinct).map(count(_).toDouble / (total - nulls))

  /** How many sampled rows have one of the sampled values `from` until `until`. */
  final def countBetween(from: Int, until: Int): Int = if (until > from) below(until) - below(from) else 0

  /**
   * The share of the sample before a place, plus half the share at the place, from 0 to 1.
   *
   * For four nulls and the values 7, 7, 8 and 9: null is at 1/4, 7 at 5/8, values between 7 and 8
   * are at 3/4, and 8 is at 13/16.
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

  /** floor(midCdf * 2^bits), but at most 2^bits - 1. */
  final def id(place: Int, bits: Int): Long = math.min((midCdf(place) * (1L << bits).toDouble).toLong, (1L << bits) - 1)

  /**
   * The same distribution with at most `most` values, so that it takes fewer bytes. Neighbouring values form groups of
   * about equally many rows. The least and the greatest value stay single, and so does a value that many rows have. No
   * group crosses the end of one of the equal shares that `files` files have, so that files can end there exactly.
   *
   * A group of several values becomes one boundary in front of them: the shortest value between them and the group
   * before. It takes fewer bytes than a value of the data. The rows of the group are in the gap behind this boundary,
   * and the share at this gap is that of the middle of the group.
   *
   * For example, 8 rows have the values 1 to 8, and there is room for four boundaries. These are 1, 2, 5 and 8. Then 3
   * and 4 are in the gap behind 2.
   *
   * @param most 3 or more
   * @param files into how many files of equal size the rows are cut; ignored if `most` is less
   */
  def thinned(most: Int, files: Int = 1): ValueDistribution

  /** Groups of neighbouring values; see [[thinned]]. */
  protected final def groups(most: Int, files: Int): ValueGroups = {
    require(most >= 3, s"$most values are too few")
    // A multiple of the files, so that no group crosses the end of a file.
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
    new ValueGroups(starts :+ distinct, nulls +: behind)
  }

  private def startsOf(parts: Int, files: Int): Array[Int] = {
    val starts = Array.newBuilder[Int]
    // A value with rows on both sides of a file's end is in both files. It stays single, so that no
    // other value is in both.
    def isCut(i: Int) = quantile(below(i), files) != quantile(below(i + 1) - 1, files)
    var isAlone = true
    (0 until distinct).foreach { i =>
      val wasAlone = isAlone
      isAlone = i == 0 || i == distinct - 1 || count(i).toLong * parts >= total || parts >= files && isCut(i)
      if (isAlone || wasAlone || quantile(below(i), parts) != quantile(below(i - 1), parts)) starts += i
    }
    starts.result()
  }

  /** The part that a row is in, by its number in order. Each part begins at the row nearest to its exact share. */
  private def quantile(row: Int, parts: Int): Long = Math.floorDiv((2L * row + 1) * parts - 1, 2L * total)
}

/**
 * Neighbouring values of a distribution that are taken together.
 *
 * @param starts the index of the first value of each group, and in the end the number of values
 * @param below `below` of the distribution that has one boundary for each group
 */
private[layout] final class ValueGroups(starts: Array[Int], val below: Array[Int]) {
  private def isSingle(group: Int): Boolean = starts(group + 1) == starts(group) + 1

  /** The boundary of each group: its value if it has one, else one between it and the group before. */
  def boundaries[A: ClassTag](values: Array[A])(between: (A, A) => A): Array[A] =
    Array.tabulate(starts.length - 1) { g =>
      val i = starts(g)
      if (isSingle(g)) values(i) else between(values(i - 1), values(i))
    }
}

final class LongDistribution private[layout] (val values: Array[Long], nulls: Int, below: Array[Int])
    extends ValueDistribution(nulls, below) {

  def place(v: Long): Int = ValueDistribution.placeOf(Arrays.binarySearch(values, v))

  override def thinned(most: Int, files: Int = 1): LongDistribution =
    if (distinct <= most) this
    else {
      val kept = groups(most, files)
      new LongDistribution(kept.boundaries(values)(ValueDistribution.between), nulls, kept.below)
    }
}

/** For a column with the encoding `Bytes`, compared as unsigned bytes. */
final class BytesDistribution private[layout] (val values: Array[Array[Byte]], nulls: Int, below: Array[Int])
    extends ValueDistribution(nulls, below) {

  def place(v: Array[Byte]): Int = ValueDistribution.placeOf(Arrays.binarySearch(values, v, ValueDistribution.unsigned))

  override def thinned(most: Int, files: Int = 1): BytesDistribution =
    if (distinct <= most) this
    else {
      val kept = groups(most, files)
      new BytesDistribution(kept.boundaries(values)(ValueDistribution.between), nulls, kept.below)
    }
}

object ValueDistribution {
  private[layout] val unsigned: Comparator[Array[Byte]] =
    (a: Array[Byte], b: Array[Byte]) => ByteArrays.compareUnsigned(a, b)

  /** Of the numbers above `low` and not above `high`, the one that is divisible by the highest power of two. */
  private[layout] def between(low: Long, high: Long): Long =
    if (low < 0 && high >= 0) 0L else high & -java.lang.Long.highestOneBit(low ^ high)

  /** The shortest bytes above `low` and not above `high`: the beginning of `high`. */
  private[layout] def between(low: Array[Byte], high: Array[Byte]): Array[Byte] =
    Arrays.copyOf(high, math.min(high.length, ByteArrays.mismatch(low, high) + 1))

  private[layout] def placeOf(found: Int): Int = if (found >= 0) 2 * found + 2 else -2 * found - 1

  /** The distribution of encoded values in any order; null for null. */
  def ofEncoded(values: Seq[Any], isLong: Boolean): ValueDistribution = {
    val known = values.filter(_ != null)
    val nulls = values.length - known.length
    if (isLong) ofLongs(known.map(_.asInstanceOf[Long]).toArray, nulls)
    else ofBytes(known.map(_.asInstanceOf[Array[Byte]]).toArray, nulls)
  }

  /** The distribution of sampled values in any order. The array is not changed. */
  def ofLongs(values: Array[Long], nulls: Int): LongDistribution = {
    val sorted = values.clone()
    Arrays.sort(sorted)
    val starts = firsts(sorted.length, (a, b) => sorted(a) == sorted(b))
    new LongDistribution(starts.map(sorted(_)), nulls, below(starts, sorted.length, nulls))
  }

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
