package org.sparkzorder.conf

import org.scalatest.funsuite.AnyFunSuite

class ByteSizesSuite extends AnyFunSuite {
  test("a size is a number of bytes, or has a unit of 1024: in any case, with or without a space, B or iB") {
    val sizes = Seq("0" -> 0L, "7 bytes" -> 7L, "7b" -> 7L, "9223372036854775807" -> Long.MaxValue) ++
      Seq("134217728" -> (128L << 20), "128MB" -> (128L << 20), " 1 GB " -> (1L << 30), "1GiB" -> (1L << 30)) ++
      Seq("512k" -> (512L << 10), "1.5 m" -> (3L << 19), "2tb" -> (2L << 40))
    sizes.foreach { case (text, bytes) => assert(ByteSizes.parse(text).contains(bytes), text) }
  }

  test("a text that is not a whole number of bytes is not a size") {
    val texts = "MB -1 -1MB 1,5MB 1.3 0.0001k 1e9 8192pb 9223372036854775808 1bb 1bib".split(' ').toSeq
    (texts ++ Seq("", "1 parsec", "1 M B")).foreach(text => assert(ByteSizes.parse(text).isEmpty, text))
  }

  test("sizes for people have one decimal, and none below a KiB") {
    val sizes =
      Seq(0L -> "0 B", 602L -> "602 B", 1024L -> "1.0 KiB", 1288490189L -> "1.2 GiB", Long.MaxValue -> "8192.0 PiB")
    sizes.foreach { case (bytes, text) => assert(ByteSizes.rounded(bytes) == text) }
  }
}
