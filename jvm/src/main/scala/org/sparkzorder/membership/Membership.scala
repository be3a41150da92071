package org.sparkzorder.membership

import java.nio.{ByteBuffer, ByteOrder, IntBuffer}
import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform
import org.roaringbitmap.RoaringBitmap

/**
 * Which values a column has in one file. It may have a value too many, but lacks none: 'no' is
 * always right. Nulls and NaN are not values here. Safe for use by many threads.
 *
 * Values are in their encoding, see [[org.sparkzorder.stats.OrderedValue]]. Byte strings are known
 * by their hash only, so two strings with one hash are one.
 */
sealed trait Membership {

  /** Of a value, or for a byte string its hash, and of its hash. */
  def mayHave(number: Long, hash: Long): Boolean
}

object Membership {

  /** @param values ascending */
  private[membership] final class Listed(values: Array[Long]) extends Membership {
    def mayHave(number: Long, hash: Long): Boolean = java.util.Arrays.binarySearch(values, number) >= 0
  }

  /** All values as distances from the least one. */
  private[membership] final class Bitmap(least: Long, distances: RoaringBitmap) extends Membership {
    def mayHave(number: Long, hash: Long): Boolean = {
      val distance = number - least
      distance >= 0 && distance < (1L << 32) && distances.contains(distance.toInt)
    }
  }

  /**
   * A Bloom filter of the values' hashes. Parquet's own class writes it. It cannot look for values in several threads
   * at once, so this does, by the [[https://parquet.apache.org/docs/file-format/bloomfilter/ format of Parquet]].
   *
   * @param bytes blocks of 32
   */
  private[membership] final class Filter(bytes: Array[Byte]) extends Membership {
    private val words: IntBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer
    private val blocks = bytes.length / 32L

    def mayHave(number: Long, hash: Long): Boolean = {
      val first = (((hash >>> 32) * blocks) >>> 32).toInt * 8
      val key = hash.toInt
      var i = 0
      while (i < 8 && (words.get(first + i) & (1 << ((key * Salts(i)) >>> 27))) != 0) i += 1
      i == 8
    }
  }

  private val Salts =
    Array(0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31)

  /** In a set, it is not worth to look for more values than this, if none of them is there. */
  val MostInSet = 100000

  /** The same for a filter: of a thousand looks for values that are not there, about one finds something. */
  val MostInFilter = 3000
}

/** Which values one column has in each of many files. Files are known by their ordinals. */
trait ColumnMembership {

  /** Whether what is known of a file is a Bloom filter. */
  def isFilter(file: Int): Boolean

  /**
   * Gives the values of a file, or None if they are not known. It is to be called for files in
   * ascending order, so that what lies together is read at once.
   *
   * @param wanted the files that may be asked for
   */
  def reader(wanted: BitSet): Int => Option[Membership]
}

/** How the values of a column are kept for each file. */
sealed abstract class MembershipKind(val name: String) extends Serializable
object MembershipKind {

  /** A set, or a Bloom filter where this is much smaller. */
  case object Values extends MembershipKind("VALUES")

  case object Bloom extends MembershipKind("BLOOM")

  val all: Seq[MembershipKind] = Seq(Values, Bloom)

  def of(name: String): Option[MembershipKind] = all.find(_.name == name)
}

/** The hashes that filters and sets of strings are made of. They are in files, so they must stay as they are. */
private[sparkzorder] object MembershipHash {
  private val Seed = 42L

  def of(value: Long): Long = XXH64.hashLong(value, Seed)

  def of(bytes: Array[Byte]): Long = of(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length)

  def of(base: AnyRef, offset: Long, length: Int): Long = XXH64.hashUnsafeBytes(base, offset, length, Seed)
}
