package org.sparkzorder.write.orc

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.util.Random

import org.apache.orc.OrcProto
import org.scalatest.funsuite.AnyFunSuite

/** Bounds that ORC's writer finds by bytes hold for its reader, which compares UTF-16. */
class OrcTextBoundsSuite extends AnyFunSuite {

  private val characters = Seq("a", "é", "\ud7ff", "\ue000", "\uffee", "\uffff", "\ud83d\ude00", "\ud800\udc00", "z")
  private val byBytes: Ordering[String] = (a, b) => Arrays.compareUnsigned(a.getBytes(UTF_8), b.getBytes(UTF_8))

  private def text(random: Random): String =
    Seq.fill(random.nextInt(4))(characters(random.nextInt(characters.length))).mkString

  test("no string between the bounds by bytes is outside of them by UTF-16") {
    val random = new Random(5)
    (1 to 20000).foreach { _ =>
      val some = Seq.fill(1 + random.nextInt(5))(text(random))
      val (low, high) = (OrcTextBounds.low(some.min(byBytes)), OrcTextBounds.high(some.max(byBytes)))
      some.foreach { s =>
        assert(low.compareTo(s) <= 0 && byBytes.lteq(low, s), some)
        assert(high.forall(byBytes.gteq(_, s)), some)
        assert(s.compareTo(high.getOrElse(OrcTextBounds.HighestUtf16)) <= 0, some)
      }
    }
  }

  test("bounds stay exact where both orders agree") {
    val plain = OrcProto.StringStatistics.newBuilder.setMinimum("a\ud7ff").setMaximum("z\uffee")
    OrcTextBounds.widen(plain)
    assert(plain.getMinimum == "a\ud7ff" && plain.getMaximum == "z\uffee")
    val wide = OrcProto.StringStatistics.newBuilder.setMinimum("a\uffee").setMaximum("z\uffee\ud83d\ude00")
    OrcTextBounds.widen(wide)
    assert(wide.getMinimum == "a" && wide.getMaximum == "{" && !wide.hasUpperBound)
    val widest = OrcProto.StringStatistics.newBuilder.setMinimum("a").setMaximum("\ud83d\ude00")
    OrcTextBounds.widen(widest)
    assert(!widest.hasMaximum && widest.getUpperBound == OrcTextBounds.HighestUtf16)
  }
}
