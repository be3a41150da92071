package org.sparkzorder.write.encode

import java.util.Arrays

import org.apache.parquet.bytes.{BytesInput, BytesUtils, CapacityByteArrayOutputStream}
import org.apache.parquet.column.{Encoding, ParquetProperties}
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridEncoder

/**
 * Writes values of a column as their numbers in a dictionary while that makes its pages smaller, and as plain values
 * afterwards. It decides as parquet-java's `FallbackValuesWriter` does, and writes the same bytes. It takes less time:
 * a dictionary is two arrays, bytes are compared by words, and a value that equals the one before is not looked up.
 *
 * A dictionary belongs to one row group.
 *
 * @param plain for the values that are not in the dictionary
 * @param ofPages encoding of a page with numbers
 */
private[encode] abstract class DictionaryValues(
    protected val plain: ValuesWriter,
    ofPages: Encoding,
    properties: ParquetProperties
) extends ValuesWriter {

  /** Whether pages are plain from this one on. */
  protected final var isPlain = false

  protected final var size = 0

  /** A hash table of the values' numbers, plus one. */
  protected final var table = new Array[Int](64)

  /** The number of the last value; -1 before the first one. */
  protected final var last = -1

  /** As many bytes as the values of this page have without a dictionary. */
  protected final var rawBytes = 0L

  private val numbers = new PageNumbers
  private val dictionary = new DictionarySize
  private def mostBytes: Int = properties.getDictionaryPageSizeThreshold

  /** Writes the plain value that has a number. */
  protected def writePlain(number: Int, to: ValuesWriter): Unit

  /** A writer of the dictionary's own page. */
  protected def pageWriter(initialBytes: Int, mostBytes: Int): ValuesWriter

  /** Where the search for the value with this number begins in the table. */
  protected def placeOf(number: Int): Int

  protected def clear(): Unit = {
    size = 0
    last = -1
    table = new Array[Int](64)
  }

  protected final def next(place: Int): Int = (place + 1) & (table.length - 1)

  /** Gives the next number to a new value, whose search ended at this free place of the table. */
  protected final def enter(place: Int): Unit = {
    last = size
    size += 1
    table(place) = size
    if (2 * size > table.length) {
      table = new Array[Int](2 * table.length)
      (0 until size).foreach { number =>
        var free = placeOf(number)
        while (table(free) != 0) free = next(free)
        table(free) = number + 1
      }
    }
  }

  /** Takes the number of a value. */
  protected final def add(number: Int): Unit = numbers.add(number)

  /** Whether the dictionary may have one more value. If not, this page and all others are plain. */
  protected final def hasRoomFor(valueBytes: Int): Boolean = {
    if (dictionary.bytes + valueBytes > mostBytes) fallBack() else dictionary.bytes += valueBytes
    !isPlain
  }

  /** Makes this page plain, and all others of the row group. */
  protected final def giveUp(): Unit = if (!isPlain) fallBack()

  private def fallBack(): Unit = {
    var i = 0
    while (i < numbers.count) {
      writePlain(numbers.values(i), plain)
      i += 1
    }
    isPlain = true
    numbers.count = 0
    numbers.values = new Array[Int](256)
    if (dictionary.usedSize == 0) {
      clear()
      dictionary.bytes = 0
    }
  }

  /** Parquet ends a page when the plain values have a certain size. */
  override def getBufferedSize: Long = rawBytes

  override def getBytes: BytesInput =
    if (isPlain) plain.getBytes
    else {
      val page = encoded
      if (numbers.areFirst && page.size + dictionary.bytes >= rawBytes) {
        fallBack()
        plain.getBytes
      } else {
        dictionary.usedSize = size
        dictionary.usedBytes = dictionary.bytes
        page
      }
    }

  private def encoded: BytesInput = {
    val width = BytesUtils.getWidthFromMaxInt(size - 1)
    val slab = CapacityByteArrayOutputStream.initialSlabSizeHeuristic(64, mostBytes, 10)
    val encoder = new RunLengthBitPackingHybridEncoder(width, slab, mostBytes, properties.getAllocator)
    numbers.open ::= (() => encoder.close())
    val values = numbers.values
    var i = 0
    while (i < numbers.count) {
      encoder.writeInt(values(i))
      i += 1
    }
    BytesInput.concat(BytesInput.from(Array(width.toByte)), encoder.toBytes)
  }

  override def getEncoding: Encoding = if (isPlain) plain.getEncoding else ofPages

  override def reset(): Unit = {
    rawBytes = 0
    numbers.count = 0
    numbers.areFirst = false
    numbers.free()
    if (isPlain) plain.reset()
  }

  override def toDictPageAndClose(): DictionaryPage =
    if (dictionary.usedSize == 0) null
    else {
      val usedSize = dictionary.usedSize
      val page = pageWriter(Math.toIntExact(dictionary.usedBytes), mostBytes)
      numbers.open ::= (() => page.close())
      (0 until usedSize).foreach(writePlain(_, page))
      new DictionaryPage(page.getBytes, usedSize, if (ofPages == Encoding.RLE_DICTIONARY) Encoding.PLAIN else ofPages)
    }

  override def resetDictionary(): Unit = {
    plain.resetDictionary()
    clear()
    dictionary.bytes = 0
    dictionary.usedSize = 0
    isPlain = false
    numbers.areFirst = true
  }

  override def close(): Unit = {
    numbers.free()
    plain.close()
  }

  override def getAllocatedSize: Long = if (isPlain) plain.getAllocatedSize else 4L * numbers.count + dictionary.bytes

  override def memUsageString(prefix: String): String =
    s"$prefix dictionary of $size values, ${dictionary.bytes} bytes, and ${numbers.count} numbers\n" +
      plain.memUsageString(prefix)
}

/** The numbers of the values of a page. They `areFirst` if it is the first page of its row group. */
private final class PageNumbers {
  var values = new Array[Int](256)
  var count = 0
  var areFirst = true

  /** What must be closed when the page is written. */
  var open = List.empty[() => Unit]

  def add(number: Int): Unit = {
    if (count == values.length) values = Arrays.copyOf(values, DictionaryValues.grown(count, count + 1))
    values(count) = number
    count += 1
  }

  def free(): Unit = {
    open.foreach(_())
    open = Nil
  }
}

/** Bytes of a dictionary. It is in use as it was at the end of the last page with numbers. */
private final class DictionarySize {
  var bytes = 0L
  var usedSize = 0
  var usedBytes = 0L
}

private[encode] object DictionaryValues {

  /** A length to which an array of this length grows, if it must have room for so many. */
  def grown(length: Int, needed: Int): Int = math.max(needed, math.min(2L * length, Int.MaxValue - 8L).toInt)
}
