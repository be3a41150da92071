package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/**
 * Bits of several numbers in turns, without an array for each number.
 *
 * A byte of each of n numbers makes 8 n bits of the result, which end with a byte. So a table says for a byte where its
 * bits go: for n = 3 the bits 10000001 go to 100 000 000 000 000 000 000 100, and those of the second and third number
 * one and two places further.
 *
 * @param widths bytes of each number, 1 to 8
 */
final class BitTurns(widths: Array[Int]) extends Serializable {
  private val length = widths.sum
  private val rounds = widths.max
  // Numbers that have bytes left, by round.
  private val left = Array.tabulate(rounds)(round => widths.count(_ > round))
  private val isUniform = widths.forall(_ == rounds) && widths.length <= BitPlaces.MAX_INPUTS

  /** @param values left-aligned, with the unsigned order of their bytes */
  def apply(values: Array[Long]): Array[Byte] = {
    val out = new Array[Byte](length)
    if (isUniform) uniform(values, out) else general(values, out)
    out
  }

  private def uniform(values: Array[Long], out: Array[Byte]): Unit = {
    val n = values.length
    val places = BitPlaces.of(n)
    var at = 0
    var shift = 56
    while (at < out.length) {
      var block = 0L
      var i = 0
      while (i < n) {
        block |= places(((values(i) >>> shift).toInt & 0xff) + 256 * i)
        i += 1
      }
      BitTurns.put(out, at, block, n)
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
      BitTurns.round(bytes, left(round), out, at)
      at += left(round)
      round += 1
    }
  }
}

object BitTurns {

  /** Bytes of a result that generated code is made for. */
  private val MaxGenerated = 64

  /** Whether generated code makes the result of numbers of these widths without a loop. */
  private[functions] def areFew(widths: Seq[Int]): Boolean =
    widths.length <= BitPlaces.MAX_INPUTS && widths.distinct.length == 1 && widths.sum <= MaxGenerated

  /**
   * A function of generated code that takes n numbers as [[BitTurns.apply]] does.
   *
   * @param width bytes of each number
   * @return what to call
   */
  private[functions] def generated(ctx: CodegenContext, n: Int, width: Int): String = {
    val own = classOf[BitPlaces].getName
    val numbers = (0 until n).map(i => s"n$i")
    // A byte of each number makes a block of 8 n bits.
    val blocks = (0 until width).map { k =>
      numbers.zipWithIndex.map { case (number, i) =>
        s"$own.OF_$n[((int) ($number >>> ${56 - 8 * k}) & 0xff) + ${256 * i}]"
      }.mkString(s"long b$k = ", " | ", ";")
    }
    val size = n * width
    def word(from: Int): String = (0 until width).map(k => k -> 8 * (n * k - from)).collect {
      case (k, places) if places >= 0 && places < 64    => s"(b$k >>> $places)"
      case (k, places) if places < 0 && -places < 8 * n => s"(b$k << ${-places})"
    }.mkString(" | ")
    val words = (0 to size - 8 by 8).map(at => s"$own.putLong(out, $at, ${word(at)});")
    val rest = size % 8
    val last =
      if (rest == 0) ""
      else s"long last = ${word(size - rest)};" +
        (0 until rest).map(i => s"out[${size - rest + i}] = (byte) (last >>> ${56 - 8 * i});").mkString("\n")
    val name = ctx.freshName("inTurns")
    // Elsewhere than in the class that is made now, when that is full.
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

  /** Puts the bits of n bytes in turns behind each other, as many whole bytes as there is room for. */
  private[functions] def round(bytes: Array[Int], n: Int, out: Array[Byte], at: Int): Unit =
    if (n <= BitPlaces.MAX_INPUTS) {
      val places = BitPlaces.of(n)
      var block = 0L
      var i = 0
      while (i < n) {
        block |= places(bytes(i) + 256 * i)
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

  /** The first n bytes of a block. More are written where there is room, since later rounds write over them. */
  private def put(out: Array[Byte], at: Int, block: Long, n: Int): Unit =
    if (at + 8 <= out.length) BitPlaces.putLong(out, at, block)
    else {
      val room = math.min(n, out.length - at)
      var i = 0
      while (i < room) {
        out(at + i) = (block >>> (56 - 8 * i)).toByte
        i += 1
      }
    }
}
