package org.sparkzorder.write

import java.util.Arrays

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class ByteWordsSuite extends AnyFunSuite {

  /** The bytes at some place within a longer array, with others around them. */
  private def placed(random: Random, bytes: Array[Byte]): (Array[Byte], Int) = {
    val from = random.nextInt(20)
    val array = new Array[Byte](from + bytes.length + random.nextInt(20))
    random.nextBytes(array)
    System.arraycopy(bytes, 0, array, from, bytes.length)
    (array, from)
  }

  test("bytes are equal exactly if each byte is, and then so are their hashes") {
    val random = new Random(7)
    for (n <- 1 to 200000) {
      val one = new Array[Byte](random.nextInt(40))
      random.nextBytes(one)
      val other = one.clone
      if (n % 2 == 0 && one.nonEmpty) {
        val at = random.nextInt(one.length)
        other(at) = (other(at) ^ (1 << random.nextInt(8))).toByte
      }
      val ((a, fromA), (b, fromB)) = (placed(random, one), placed(random, other))
      val same = Arrays.equals(one, other)
      assert(ByteWords.equal(a, fromA, b, fromB, one.length) == same, (one.toSeq, other.toSeq))
      val areHashesEqual = ByteWords.hash(a, fromA, one.length) == ByteWords.hash(b, fromB, other.length)
      assert(areHashesEqual == same, (one.toSeq, other.toSeq))
    }
  }

  test("hashes of similar values are spread") {
    def slots(values: Seq[String]): Int = values.map { v =>
      val bytes = v.getBytes("UTF-8")
      ByteWords.hash(bytes, 0, bytes.length) & (4 * values.length - 1)
    }.distinct.length
    val numbers = 0 until 16384
    val kinds =
      Seq[Int => String](_.toString, n => f"Customer#$n%09d", n => "a" * (n % 128) + n / 128, n => f"$n%08d" * 3)
    // Of n values in 4 n slots, 4 n (1 - exp(-1/4)) have the slot to themselves or are the first in it: 88 %.
    kinds.foreach(kind => assert(slots(numbers.map(kind)) > 0.86 * numbers.length, kind(5)))
  }
}
