package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/**
 * Interleaves the bits of several numbers.
 *
 * One byte of each of n numbers makes 8 n bits, which are whole bytes of the result. So a table can
 * say where the bits of a byte go. For n = 3 and the bits 10000001 of the first number it says
 * {{{
 *   100 000 000 000 000 000 000 100
 * }}}
 * The bits of the second and third number go one and two bits further to the right.
 */
private[functions] object NumberInterleaver {

  /**
   * Adds a function to the generated code that interleaves at most [[InterleaveTables.MAX_INPUTS]] numbers, each
   * left-aligned in a long. The function has no loop, and makes no array but the result.
   *
   * @param widths the bytes of each number, 1 to 8
   * @return the name of the function
   */
  def unrolled(ctx: CodegenContext, widths: Seq[Int]): String = {
    val own = classOf[InterleaveTables].getName
    // One byte of each number that has one left makes a block of bits.
    val rounds = (0 until widths.max).map(k => widths.indices.filter(widths(_) > k))
    val starts = rounds.scanLeft(0)(_ + _.length)
    val blocks = rounds.zipWithIndex.map { case (numbers, k) =>
      numbers.zipWithIndex.map { case (number, i) =>
        s"$own.OF_${numbers.length}[((int) (n$number >>> ${56 - 8 * k}) & 0xff) + ${256 * i}]"
      }.mkString(s"long b$k = ", " | ", ";")
    }
    val size = widths.sum
    def word(from: Int): String = rounds.indices.map(k => k -> 8 * (starts(k) - from)).collect {
      case (k, shift) if shift >= 0 && shift < 64                   => s"(b$k >>> $shift)"
      case (k, shift) if shift < 0 && -shift < 8 * rounds(k).length => s"(b$k << ${-shift})"
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
         |private byte[] $name(${widths.indices.map(i => s"long n$i").mkString(", ")}) {
         |  byte[] out = new byte[$size];
         |  ${blocks.mkString("\n")}
         |  ${words.mkString("\n")}
         |  $last
         |  return out;
         |}""".stripMargin
    )
  }

  /** Writes the interleaved bits of n bytes, as many whole bytes as there is room for. */
  def round(bytes: Array[Int], n: Int, out: Array[Byte], at: Int): Unit =
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

  /** Writes the first n bytes of a block. It may write 8 bytes if there is room: later rounds overwrite the rest. */
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
