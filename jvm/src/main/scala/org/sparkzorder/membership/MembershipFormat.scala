package org.sparkzorder.membership

import java.io.IOException
import java.nio.{BufferUnderflowException, ByteBuffer}

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
import org.apache.spark.util.collection.OpenHashSet
import org.roaringbitmap.{InvalidRoaringFormat, RoaringBitmap}

import org.sparkzorder.compat._

/**
 * A [[Membership]] as bytes: a byte that says its kind, then
 *  - 0: the values in ascending order, 8 bytes each (big-endian);
 *  - 1: the least value, then a Roaring bitmap of the distances from it, in Roaring's own format;
 *  - 2: the blocks of a split block Bloom filter, 32 bytes each, as in the format of Parquet.
 *
 * The smallest one is taken. A set is taken also if it is larger than the filter, but small.
 */
object MembershipFormat {
  private val Listed: Byte = 0
  private val Bitmap: Byte = 1
  private val Filter: Byte = 2

  private val BlockBytes = 32

  /** A set of so many bytes is preferred to a smaller filter, since it is exact. */
  val SmallSet: Int = 4096

  /** Bits of a filter for each value: of a thousand values that are not there, it finds about one. */
  private val BitsPerValue = 16.0

  /** A file with more values has no set. Its task has up to 40 bytes for each in memory. */
  val MostValues: Int = 4 << 20

  /** The most bytes of one file's values. */
  lazy val MostBytes: Int = 1 + filterBytes(MostValues)

  def filterBytes(values: Int): Int = math.max(1, math.ceil(values * BitsPerValue / 8 / BlockBytes).toInt) * BlockBytes

  def isFilter(bytes: Array[Byte]): Boolean = bytes.headOption.contains(Filter)

  /**
   * @param numbers ascending and distinct: the values, or the hashes of byte strings
   * @param areHashes whether they are hashes
   * @param onlyFilter whether a Bloom filter is wanted even if a set is smaller
   */
  def write(numbers: Array[Long], areHashes: Boolean, onlyFilter: Boolean): Array[Byte] = {
    val most = if (onlyFilter) -1 else math.max(filterBytes(numbers.length), SmallSet)
    val listed = Option.when(8L * numbers.length <= most)(8 * numbers.length)
    val distances = if (areHashes || onlyFilter) None else distancesOf(numbers)
    val bitmap = distances.map(d => 8 + d.serializedSizeInBytes).filter(_ <= most)
    (listed, bitmap) match {
      case (Some(l), b) if b.forall(l <= _) =>
        val out = ByteBuffer.allocate(1 + l).put(Listed)
        numbers.foreach(out.putLong)
        out.array
      case (_, Some(b)) =>
        val out = ByteBuffer.allocate(1 + b).put(Bitmap).putLong(numbers.head)
        distances.get.serialize(out)
        out.array
      case _ =>
        val bits = new Array[Byte](filterBytes(numbers.length))
        val filter = new BlockSplitBloomFilter(bits)
        numbers.foreach(n => filter.insertHash(if (areHashes) n else MembershipHash.of(n)))
        Filter +: bits
    }
  }

  private def distancesOf(numbers: Array[Long]): Option[RoaringBitmap] =
    Option.when(numbers.nonEmpty && isNear(numbers.head, numbers.last)) {
      val distances = new RoaringBitmap
      numbers.foreach(n => distances.add((n - numbers.head).toInt))
      distances.runOptimize()
      distances
    }

  private def isNear(least: Long, most: Long): Boolean = most - least >= 0 && most - least < (1L << 32)

  /** @throws IllegalArgumentException unless [[write]] could have made these bytes */
  def read(bytes: Array[Byte]): Membership = {
    def bad(why: String) = throw new IllegalArgumentException(s"a set of values $why")
    if (bytes.isEmpty) bad("without bytes")
    val in = ByteBuffer.wrap(bytes, 1, bytes.length - 1)
    bytes(0) match {
      case Listed =>
        if (in.remaining % 8 != 0) bad(s"of ${in.remaining} bytes")
        val values = Array.fill(in.remaining / 8)(in.getLong)
        if ((1 until values.length).exists(i => values(i - 1) >= values(i))) bad("that is not in order")
        new Membership.Listed(values)
      case Bitmap =>
        try {
          val least = in.getLong
          val distances = new RoaringBitmap
          distances.deserialize(in.slice())
          if (distances.serializedSizeInBytes != in.remaining) bad("that is longer than its contents")
          new Membership.Bitmap(least, distances)
        } catch {
          case e @ (_: IOException | _: BufferUnderflowException | _: InvalidRoaringFormat |
              _: IndexOutOfBoundsException | _: NegativeArraySizeException) =>
            throw new IllegalArgumentException(s"a bitmap that cannot be read: ${e.getMessage}", e)
        }
      case Filter =>
        if (in.remaining == 0 || in.remaining % BlockBytes != 0) bad(s"in a filter of ${in.remaining} bytes")
        val bits = new Array[Byte](in.remaining)
        in.get(bits)
        new Membership.Filter(bits)
      case other => bad(s"of the unknown kind $other")
    }
  }
}

/**
 * Bytes of columns' values: the driver gets those of all files from tasks, and has an index in memory while it writes
 * it.
 */
object MembershipBudget {
  private val Most = 256L << 20
  private val ShareOfHeap = 16
  private val ShareOfResults = 4

  def ofIndex(heap: Long = Runtime.getRuntime.maxMemory): Long = math.min(Most, heap / ShareOfHeap)

  /** Of one column in a file, if a statement makes those of so many files. A job may return `maxResults`, 0 for any. */
  def ofFile(files: Long, columns: Int, maxResults: Long, heap: Long = Runtime.getRuntime.maxMemory): Int = {
    val all = if (maxResults <= 0) ofIndex(heap) else math.min(ofIndex(heap), maxResults / ShareOfResults)
    math.min(all / math.max(1L, files * columns), MembershipFormat.MostBytes.toLong).toInt
  }
}

/** Collects the values of a column of a file, of byte strings their hashes. Not thread-safe. */
private[sparkzorder] final class MembershipBuilder(
    kind: MembershipKind,
    areHashes: Boolean,
    mostBytes: Int = MembershipFormat.MostBytes
) {
  private var numbers = new OpenHashSet[Long](64)
  private var last = 0L
  private var isFirst = true

  /** A value that is no byte string. */
  def add(value: Long): Unit = if (numbers != null && (isFirst || value != last)) {
    // Rows are often sorted by the column.
    last = value
    isFirst = false
    numbers.add(value)
    if (numbers.size > MembershipFormat.MostValues) numbers = null
  }

  def add(base: AnyRef, offset: Long, length: Int): Unit = add(MembershipHash.of(base, offset, length))

  def add(bytes: Array[Byte]): Unit = add(MembershipHash.of(bytes))

  /** None if there are too many values. */
  def result(): Option[Array[Byte]] = Option(numbers).map { found =>
    val sorted = found.iterator.toArray
    java.util.Arrays.sort(sorted)
    MembershipFormat.write(sorted, areHashes, kind == MembershipKind.Bloom)
  }.filter(_.length <= mostBytes)
}
