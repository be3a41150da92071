package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/**
 * Interleaves the bits of several numbers, without an array for each number.
 *
 * One byte of each of n numbers makes 8 n bits, which are whole bytes of the result. So a table can
 * say where the bits of a byte go. For n = 3 and the bits 10000001 of the first number it says
 * {{{
 *   100 000 000 000 000 000 000 100
 * }}}
 * The bits of the second and third number go one and two bits further to the right.
 *
 * @param widths the bytes of each number, 1 to 8
 */
final class NumberInterleaver(widths: Array[Int]) extends Serializable {
  private val length = widths.sum
  private val rounds = widths.max
  // For each round, how many numbers still have a byte.
  private val left = Array.tabulate(rounds)(round => widths.count(_ > round))
  private val isUniform = widths.forall(_ == rounds) && widths.length <= InterleaveTables.MAX_INPUTS

  /** @param values the bytes of each number, left-aligned in a long */
  def apply(values: Array[Long]): Array[Byte] = {
    val out = new Array[Byte](length)
    if (isUniform) uniform(values, out) else general(values, out)
    out
  }

  private def uniform(values: Array[Long], out: Array[Byte]): Unit = {
    val n = values.length
    val table = InterleaveTables.of(n)
    var at = 0
    var shift = 56
    while (at < out.length) {
      var block = 0L
      var i = 0
      while (i < n) {
        block |= table(((values(i) >>> shift).toInt & 0xff) + 256 * i)
        i += 1
      }
      NumberInterleaver.put(out, at, block, n)
      at += n
      shift -= 8
    }
  }

  private def general(values: Array[Long], out: Array[Byte]): Unit = {
    val bytes = new Array[Int](values.length)
    var at = 0
    var round = 0
    while (round < rounds) {
      var n = 0
      var i = 0
      while (i < values.length) {
        if (widths(i) > round) {
          bytes(n) = (values(i) >>> (56 - 8 * round)).toInt & 0xff
          n += 1
        }
        i += 1
      }
      NumberInterleaver.round(bytes, left(round), out, at)
      at += left(round)
      round += 1
    }
  }
}

object NumberInterleaver {

  /** The most bytes of a result for which code without a loop is generated. */
  private val MaxUnrolled = 64

  /** Whether generated code makes the result of numbers of these widths without a loop. */
  private[functions] def canUnroll(widths: Seq[Int]): Boolean =
    widths.length <= InterleaveTables.MAX_INPUTS && widths.distinct.length == 1 && widths.sum <= MaxUnrolled

  /**
   * Adds a function to the generated code that does the same as [[NumberInterleaver.apply]] for n
   * numbers.
   *
   * @param width the bytes of each number
   * @return the name of the function
   */
  private[functions] def unrolled(ctx: CodegenContext, n: Int, width: Int): String = {
    val own = classOf[InterleaveTables].getName
    val numbers = (0 until n).map(i => s"n$i")
    // One byte of each number makes a block of 8 n bits.
    val blocks = (0 until width).map { k =>
      numbers.zipWithIndex.map { case (number, i) =>
        s"$own.OF_$n[((int) ($number >>> ${56 - 8 * k}) & 0xff) + ${256 * i}]"
      }.mkString(s"long b$k = ", " | ", ";")
    }
    val size = n * width
    def word(from: Int): String = (0 until width).map(k => k -> 8 * (n * k - from)).collect {
      case (k, shift) if shift >= 0 && shift < 64    => s"(b$k >>> $shift)"
      case (k, shift) if shift < 0 && -shift < 8 * n => s"(b$k << ${-shift})"
    }.mkString(" | ")
    val words = (0 to size - 8 by 8).map(at => s"$own.putLong(out, $at, ${word(at)});")
    val rest = size % 8
    val last =
      if (rest == 0) ""
      else s"long last = ${word(size - rest)};" +
        (0 until rest).map(i => s"out[${size - rest + i}] = (byte) (last >>> ${56 - 8 * i});").mkString("\n")
    val name = ctx.freshName("interleaved")
    // If the generated class is full, Spark puts the function in another class.
    ctx.addNewFunction(
      name,
      s"""
         |private byte[] $name(${numbers.map(x => s"long $x").mkString(", ")}) {
         |  byte[] out = new byte[$size];
         |  ${blocks.mkString("\n")}
         |  ${words.mkString("\n")}
         |  $last
         |  return out;
         |}""".stripMargin
    )
  }

  /** Writes the interleaved bits of n bytes, as many whole bytes as there is room for. */
  private[functions] def round(bytes: Array[Int], n: Int, out: Array[Byte], at: Int): Unit =
    if (n <= InterleaveTables.MAX_INPUTS) {
      val table = InterleaveTables.of(n)
      var block = 0L
      var i = 0
      while (i < n) {
        block |= table(bytes(i) + 256 * i)
        i += 1
      }
      put(out, at, block, n)
    } else {
      val room = 8 * math.min(n, out.length - at)
      var place = 0
      while (place < room) {
        val bit = (bytes(place % n) >>> (7 - place / n)) & 1
        out(at + (place >>> 3)) = (out(at + (place >>> 3)) | (bit << (7 - (place & 7)))).toByte
        place += 1
      }
    }

  /**
   * Writes the first n bytes of a block. It may write 8 bytes if there is room: later rounds
   * overwrite the rest.
   */
  private def put(out: Array[Byte], at: Int, block: Long, n: Int): Unit =
    if (at + 8 <= out.length) InterleaveTables.putLong(out, at, block)
    else {
      val room = math.min(n, out.length - at)
      var i = 0
      while (i < room) {
        out(at + i) = (block >>> (56 - 8 * i)).toByte
        i += 1
      }
    }
}
