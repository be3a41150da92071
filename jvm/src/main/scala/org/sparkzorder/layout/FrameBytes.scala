package org.sparkzorder.layout

import java.io.{DataInput, DataOutput, IOException}
import java.util.Arrays

import org.sparkzorder.compat.ByteArrays

/**
 * A frame's boundaries and curve as bytes. Sorted values are written as differences, in as many bytes as these need.
 * Bytes that are read are not trusted: unless [[write]] could have written them, reading fails.
 */
object FrameBytes {
  private val Bits = 0
  private val Hilbert = 1
  private val Longs = 0

  /** Byte strings, each as the number of first bytes that it shares with the one before, and its other bytes. */
  private val Strings = 1

  /** Strings may take so many times the bytes that they are read from, so that no small file can fill the memory. */
  private val MostExpansion = 16

  /** More columns than a table can be clustered by. */
  val MaxColumns = 64

  def write(out: DataOutput, distributions: IndexedSeq[ValueDistribution], curve: Curve): Unit = {
    curve match {
      case plan: BitPlan =>
        out.writeByte(Bits)
        writePlan(out, plan)
      case h: HilbertCurve =>
        out.writeByte(Hilbert)
        writePlan(out, h.lead)
        out.writeByte(h.members.length)
        h.members.foreach(out.writeByte(_))
        out.writeByte(h.levels)
      case other => throw new IllegalArgumentException(s"no known curve: ${other.getClass.getName}")
    }
    distributions.foreach { d =>
      out.writeByte(d match { case _: LongDistribution => Longs; case _: BytesDistribution => Strings })
      writeNumber(out, d.nulls.toLong)
      writeNumber(out, d.distinct.toLong)
      (0 until d.distinct).foreach(i => writeNumber(out, d.count(i).toLong))
      d match {
        case l: LongDistribution =>
          l.values.indices.foreach(i => writeNumber(out, l.values(i) - (if (i == 0) 0L else l.values(i - 1))))
        case b: BytesDistribution => foreachShared(b) { (v, shared) =>
            writeNumber(out, shared.toLong)
            writeNumber(out, (v.length - shared).toLong)
            out.write(v, shared, v.length - shared)
          }
      }
    }
  }

  /** How many bytes [[write]] makes of a column's boundaries. */
  def size(d: ValueDistribution): Long = {
    var sum = 1L + length(d.nulls.toLong) + length(d.distinct.toLong)
    var i = 0
    while (i < d.distinct) {
      sum += length(d.count(i).toLong)
      i += 1
    }
    d match {
      case l: LongDistribution =>
        i = 0
        while (i < d.distinct) {
          sum += length(l.values(i) - (if (i == 0) 0L else l.values(i - 1)))
          i += 1
        }
      case b: BytesDistribution => foreachShared(b)((v, shared) => sum += sizeOf(shared, v.length - shared))
    }
    sum
  }

  /**
   * Calls `f` with each value, and with how many of its first bytes it shares with the value
   * before. If that would save more than [[MostExpansion]] allows, no byte is shared.
   */
  private def foreachShared(d: BytesDistribution)(f: (Array[Byte], Int) => Unit): Unit = {
    var last = Array.emptyByteArray
    var (encoded, expanded) = (0L, 0L)
    d.values.foreach { v =>
      val common = ByteArrays.mismatch(last, v).max(0)
      expanded += v.length
      val shared = if (expanded <= MostExpansion * (encoded + sizeOf(common, v.length - common))) common else 0
      f(v, shared)
      encoded += sizeOf(shared, v.length - shared)
      last = v
    }
  }

  private def sizeOf(shared: Int, rest: Int): Long = length(shared.toLong) + length(rest.toLong) + rest.toLong

  private def writePlan(out: DataOutput, plan: BitPlan): Unit = {
    out.writeByte(plan.columns)
    out.writeByte(plan.totalBits)
    plan.sequence.foreach(out.writeByte(_))
  }

  /**
   * @param size the most bytes that can be read
   * @throws java.io.IOException when these are not the bytes of a frame
   */
  def read(in: DataInput, size: Int): (IndexedSeq[ValueDistribution], Curve) =
    try {
      val curve = in.readByte().toInt match {
        case Bits    => readPlan(in)
        case Hilbert =>
          val lead = readPlan(in)
          val members = Array.fill(in.readUnsignedByte())(in.readUnsignedByte())
          val levels = in.readUnsignedByte()
          check(members.length >= 1 && members.distinct.length == members.length, "members of a curve")
          check(members.forall(_ < lead.columns), "a member of a curve")
          check(levels >= 1 && members.length * levels + lead.totalBits <= BitPlan.MaxTotalBits, "levels of a curve")
          new HilbertCurve(lead, members, levels)
        case other => throw new IOException(s"no known curve: $other")
      }
      (IndexedSeq.fill(curve.columns)(readDistribution(in, size)), curve)
    } catch { case e: IllegalArgumentException => throw new IOException("not a frame", e) }

  private def readPlan(in: DataInput): BitPlan = {
    val columns = in.readUnsignedByte()
    check(columns <= MaxColumns, "a number of columns")
    BitPlan.ofSequence(IndexedSeq.fill(in.readUnsignedByte())(in.readUnsignedByte()), columns)
  }

  private def readDistribution(in: DataInput, size: Int): ValueDistribution = {
    val kind = in.readByte().toInt
    val nulls = number(in, Int.MaxValue)
    // Each value takes at least two bytes.
    val n = number(in, size / 2)
    val below = readCounts(in, nulls, n)
    kind match {
      case Longs   => new LongDistribution(readLongs(in, n), nulls, below)
      case Strings => new BytesDistribution(readStrings(in, n, size), nulls, below)
      case other   => throw new IOException(s"no known kind of values: $other")
    }
  }

  private def readCounts(in: DataInput, nulls: Int, n: Int): Array[Int] = {
    val below = new Array[Int](n + 1)
    below(0) = nulls
    var i = 0
    while (i < n) {
      below(i + 1) = below(i) + number(in, Int.MaxValue - below(i))
      check(below(i + 1) > below(i), "a value that no row has")
      i += 1
    }
    below
  }

  private def readLongs(in: DataInput, n: Int): Array[Long] = {
    val values = new Array[Long](n)
    var i = 0
    while (i < n) {
      values(i) = readNumber(in) + (if (i == 0) 0L else values(i - 1))
      check(i == 0 || values(i) > values(i - 1), "values out of order")
      i += 1
    }
    values
  }

  private def readStrings(in: DataInput, n: Int, size: Int): Array[Array[Byte]] = {
    val values = new Array[Array[Byte]](n)
    var encoded = 0L
    var expanded = 0L
    var i = 0
    while (i < n) {
      val last = if (i == 0) Array.emptyByteArray else values(i - 1)
      val shared = number(in, last.length)
      val rest = number(in, size)
      encoded += sizeOf(shared, rest)
      expanded += shared + rest
      check(expanded <= MostExpansion * encoded, "values that share too much")
      values(i) = Arrays.copyOf(Arrays.copyOf(last, shared), shared + rest)
      in.readFully(values(i), shared, rest)
      check(i == 0 || ValueDistribution.unsigned.compare(values(i), values(i - 1)) > 0, "values out of order")
      i += 1
    }
    values
  }

  private def number(in: DataInput, max: Int): Int = {
    val n = readNumber(in)
    check(n >= 0 && n <= max, s"a number of $n")
    n.toInt
  }

  /** Seven bits in each byte, the lowest first. The eighth bit says that more bytes follow. */
  private def writeNumber(out: DataOutput, n: Long): Unit = {
    var left = n
    while ((left & ~0x7fL) != 0) {
      out.writeByte(((left & 0x7f) | 0x80).toInt)
      left >>>= 7
    }
    out.writeByte(left.toInt)
  }

  /** How many bytes [[writeNumber]] needs. */
  private def length(n: Long): Int = math.max(1, (70 - java.lang.Long.numberOfLeadingZeros(n)) / 7)

  private def readNumber(in: DataInput): Long = {
    var n = 0L
    var shift = 0
    var b = in.readByte()
    while (b < 0) {
      n |= (b & 0x7fL) << shift
      shift += 7
      check(shift < 64, "a long number")
      b = in.readByte()
    }
    n | (b.toLong << shift)
  }

  private def check(condition: Boolean, what: => String): Unit =
    if (!condition) throw new IOException(s"not a frame: $what")
}
