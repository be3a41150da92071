package org.sparkzorder.index

import java.io.ByteArrayOutputStream
import java.nio.{ByteBuffer, ByteOrder}
import java.util.{Arrays, BitSet}

import org.apache.parquet.bytes.BytesUtils

import org.sparkzorder.compat.ByteArrays

/**
 * A data page of Parquet before compression (version 1, encoding `PLAIN`), of an optional column with one row for each
 * file: a bit for each file that tells whether it has a value (to Parquet, definition levels in a single run), and then
 * the values. Reading more or fewer bytes than there are throws an [[IndexFormatException]].
 */
private[index] final class PlainPage(raw: Array[Byte], files: Int) {
  private val in = ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN)

  private def check(condition: Boolean, why: String): Unit =
    if (!condition) throw new IndexFormatException(s"a page of ${raw.length} bytes $why")

  /** The files that have a value. */
  val has: BitSet = {
    val head = PlainPage.head(files)
    val until = head.length + PlainPage.bitBytes(files)
    val isOfThese = raw.length >= until && ByteArrays.equals(raw, 0, head.length, head, 0, head.length)
    check(isOfThese, s"is not one of $files files")
    val bits = BitSet.valueOf(Arrays.copyOfRange(raw, head.length, until))
    check(bits.length <= files, "has values of files that are not there")
    in.position(until)
    bits
  }

  private val count = has.cardinality

  /** @param missing the number of a file that has none */
  def longs(missing: Long): Array[Long] = {
    check(in.remaining == 8L * count, s"has not $count numbers")
    val v = new Array[Long](files)
    if (count == files) in.asLongBuffer.get(v)
    else {
      Arrays.fill(v, missing)
      PlainPage.foreach(has)(v(_) = in.getLong)
    }
    v
  }

  def ints(): Array[Long] = {
    check(in.remaining == 4L * count, s"has not $count numbers")
    val v = new Array[Long](files)
    PlainPage.foreach(has)(v(_) = in.getInt.toLong)
    v
  }

  /** All bytes, and where those of each file begin. The last number is the end. */
  def bytes(): (Array[Byte], Array[Int]) = {
    check(4L * count <= in.remaining, "is too short for so many values")
    val all = new Array[Byte](in.remaining - 4 * count)
    val starts = new Array[Int](files + 1)
    var i = 0
    while (i < files) {
      val length = if (!has.get(i)) 0 else if (in.remaining < 4) -1 else in.getInt
      check(length >= 0 && length <= in.remaining && length <= all.length - starts(i), "has a value that is too long")
      in.get(all, starts(i), length)
      starts(i + 1) = starts(i) + length
      i += 1
    }
    check(in.remaining == 0, "is longer than its values")
    (all, starts)
  }
}

private[index] object PlainPage {

  def longs(files: Int, has: BitSet, value: Int => Long): Array[Byte] =
    page(files, has, 8L * has.cardinality)((out, i) => out.putLong(value(i)))

  def ints(files: Int, has: BitSet, value: Int => Int): Array[Byte] =
    page(files, has, 4L * has.cardinality)((out, i) => out.putInt(value(i)))

  def bytes(files: Int, has: BitSet, value: Int => Array[Byte]): Array[Byte] = {
    var size = 4L * has.cardinality
    foreach(has)(i => size += value(i).length)
    page(files, has, size) { (out, i) =>
      val v = value(i)
      out.putInt(v.length).put(v)
    }
  }

  private def page(files: Int, has: BitSet, size: Long)(put: (ByteBuffer, Int) => Any): Array[Byte] = {
    val (start, bits) = (head(files), bitBytes(files))
    val total = start.length + bits + size
    require(total <= Block.MaxSize, s"$total bytes are too many for a column of an index")
    val out = ByteBuffer.allocate(total.toInt).order(ByteOrder.LITTLE_ENDIAN)
    out.put(start).put(Arrays.copyOf(has.toByteArray, bits))
    foreach(has)(put(out, _))
    out.array
  }

  /** The length of the levels, and that of their run in eights. The last bit says that there is a bit for each file. */
  private def head(files: Int): Array[Byte] = {
    val run = new ByteArrayOutputStream
    BytesUtils.writeUnsignedVarInt(bitBytes(files) << 1 | 1, run)
    val out = ByteBuffer.allocate(4 + run.size).order(ByteOrder.LITTLE_ENDIAN)
    out.putInt(run.size + bitBytes(files)).put(run.toByteArray).array
  }

  private def bitBytes(files: Int): Int = (files + 7) >>> 3

  def foreach(bits: BitSet)(f: Int => Unit): Unit = {
    var i = bits.nextSetBit(0)
    while (i >= 0) {
      f(i)
      i = bits.nextSetBit(i + 1)
    }
  }

  /** The files from 0 for which something is true. */
  def where(files: Int)(f: Int => Boolean): BitSet = {
    val bits = new BitSet(files)
    (0 until files).foreach(i => if (f(i)) bits.set(i))
    bits
  }
}
