package org.sparkzorder.membership

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
import org.roaringbitmap.RoaringBitmap

/**
 * Which values a column has in one file. It may have a value too many, but lacks none: 'no' is
 * always right. Nulls and NaN are not values here.
 *
 * Values are in their encoding, see [[org.sparkzorder.stats.OrderedValue]]. Byte strings are known
 * by their hash only, so two strings with one hash are one.
 */
sealed trait Membership {

  /** For a column of numbers. */
  def mayHave(value: Long): Boolean

  /** For a column of byte strings. */
  def mayHave(value: Array[Byte]): Boolean

  /** How many values it is worth to look for, if none of them is there. */
  def mostLookups: Int

  /** Whether it is exact, but for strings with equal hashes. */
  def isSet: Boolean

  /** About how many bytes it takes in memory. */
  def memoryBytes: Long
}

object Membership {

  /** All values, ascending. */
  private[membership] final class Listed(values: Array[Long]) extends Membership {
    def mayHave(value: Long): Boolean = java.util.Arrays.binarySearch(values, value) >= 0
    def mayHave(value: Array[Byte]): Boolean = mayHave(ValueHash.of(value))
    def mostLookups: Int = MostInSet
    def isSet: Boolean = true
    def memoryBytes: Long = 16L + 8L * values.length
  }

  /** All values as distances from the least one. */
  private[membership] final class Bitmap(least: Long, distances: RoaringBitmap) extends Membership {
    def mayHave(value: Long): Boolean = {
      val distance = value - least
      distance >= 0 && distance < (1L << 32) && distances.contains(distance.toInt)
    }
    def mayHave(value: Array[Byte]): Boolean = mayHave(ValueHash.of(value))
    def mostLookups: Int = MostInSet
    def isSet: Boolean = true
    def memoryBytes: Long = distances.getLongSizeInBytes
  }

  /** A Bloom filter of the values' hashes, as Parquet has it. */
  private[membership] final class Filter(bits: BlockSplitBloomFilter) extends Membership {
    def mayHave(value: Long): Boolean = bits.findHash(ValueHash.of(value))
    def mayHave(value: Array[Byte]): Boolean = bits.findHash(ValueHash.of(value))
    def mostLookups: Int = MostInFilter
    def isSet: Boolean = false
    def memoryBytes: Long = bits.getBitsetSize.toLong
  }

  // A look takes some ten nanoseconds, so this is less than the time to open a file.
  private val MostInSet = 100000

  // Of a hundred looks for values that are not there, one finds something.
  private val MostInFilter = 300
}
