package org.sparkzorder.write.encode

import java.util.Arrays

import org.apache.parquet.column.{Encoding, ParquetProperties}
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.plain.{FixedLenByteArrayPlainValuesWriter, PlainValuesWriter}
import org.apache.parquet.io.api.Binary

import org.sparkzorder.write.ByteWords

/**
 * A dictionary of strings and other bytes, which stand one after the other in an array.
 *
 * @param length of each value; None if they may differ
 */
private[encode] final class BytesDictionary(
    length: Option[Int],
    plain: ValuesWriter,
    ofPages: Encoding,
    properties: ParquetProperties
) extends DictionaryValues(plain, ofPages, properties) {
  import BytesDictionary._

  private val prefix = if (length.isDefined) 0 else LengthBytes

  /** The values by their numbers, where each ends, and their hashes. */
  private var content = new Array[Byte](256)
  private var ends = new Array[Int](32)
  private var hashes = new Array[Int](32)

  override def writeBytes(v: Binary): Unit = {
    rawBytes += v.length + LengthBytes
    if (isPlain) plain.writeBytes(v)
    else {
      val buffer = v.toByteBuffer
      if (buffer.hasArray) write(v, buffer.array, buffer.arrayOffset + buffer.position)
      else write(v, v.getBytes, 0)
    }
  }

  private def write(v: Binary, in: Array[Byte], offset: Int): Unit = {
    if (!(last >= 0 && isAt(last, in, offset, v.length))) find(in, offset, v.length)
    if (isPlain) plain.writeBytes(v) else add(last)
  }

  private def find(in: Array[Byte], offset: Int, length: Int): Unit = {
    val hash = ByteWords.hash(in, offset, length)
    var at = hash & (table.length - 1)
    while (table(at) != 0 && !(hashes(table(at) - 1) == hash && isAt(table(at) - 1, in, offset, length))) at = next(at)
    if (table(at) != 0) last = table(at) - 1
    else if (hasRoomFor(prefix + length)) insert(in, offset, length, hash, at)
  }

  private def start(number: Int): Int = if (number == 0) 0 else ends(number - 1)

  private def isAt(number: Int, in: Array[Byte], offset: Int, length: Int): Boolean = {
    val from = start(number)
    ends(number) - from == length && ByteWords.equal(content, from, in, offset, length)
  }

  private def insert(in: Array[Byte], offset: Int, length: Int, hash: Int, at: Int): Unit = {
    val from = start(size)
    if (from + length > content.length)
      content = Arrays.copyOf(content, DictionaryValues.grown(content.length, from + length))
    System.arraycopy(in, offset, content, from, length)
    if (size == ends.length) {
      ends = Arrays.copyOf(ends, DictionaryValues.grown(size, size + 1))
      hashes = Arrays.copyOf(hashes, ends.length)
    }
    ends(size) = from + length
    hashes(size) = hash
    enter(at)
  }

  override protected def placeOf(number: Int): Int = hashes(number) & (table.length - 1)

  override protected def clear(): Unit = {
    super.clear()
    content = new Array[Byte](256)
    ends = new Array[Int](32)
    hashes = new Array[Int](32)
  }

  override protected def writePlain(number: Int, to: ValuesWriter): Unit =
    to.writeBytes(Binary.fromReusedByteArray(content, start(number), ends(number) - start(number)))

  override protected def pageWriter(initialBytes: Int, mostBytes: Int): ValuesWriter = length match {
    case Some(n) => new FixedLenByteArrayPlainValuesWriter(n, initialBytes, mostBytes, properties.getAllocator)
    case None    => new PlainValuesWriter(initialBytes, mostBytes, properties.getAllocator)
  }
}

private object BytesDictionary {

  /** Of a value's length, in front of it. */
  private val LengthBytes = 4
}
