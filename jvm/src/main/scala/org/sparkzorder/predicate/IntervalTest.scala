package org.sparkzorder.predicate

import java.lang.{Long => JLong}

import org.sparkzorder.predicate.Outcomes.{False, Null, True}
import org.sparkzorder.stats.{ByteString, ByteStrings}

/**
 * The outcomes of a form of [[StatsPredicate]] for values within bounds. Only this file compares
 * bounds with literals. The proofs are in the comments of the forms.
 *
 * @param anywhere for values that are not null; nothing else is known about them
 */
private[predicate] sealed abstract class IntervalTest(val anywhere: Int)

private[predicate] abstract class LongTest(anywhere: Int) extends IntervalTest(anywhere) {

  /** For values from lo to hi, both included. */
  def within(lo: Long, hi: Long): Int
}

private[predicate] abstract class BytesTest(anywhere: Int) extends IntervalTest(anywhere) {

  /** For values between the bounds of file i. */
  def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int
}

private[predicate] object IntervalTest {
  import Operator._

  private final val Either = True | False

  private def mask(mayBeTrue: Boolean, mayBeFalse: Boolean): Int =
    (if (mayBeTrue) True else 0) | (if (mayBeFalse) False else 0)

  /** Only for `=`, `<=>`, `<` and `<=`; the others are negations of these, see [[Comparison]]. */
  def comparison(operator: Operator, value: Value): IntervalTest = {
    val outcomes = rule(operator)
    value match {
      case LongValue(v) =>
        new LongTest(Either) {
          def within(lo: Long, hi: Long): Int = outcomes(at(JLong.compare(lo, v), JLong.compare(hi, v)))
        }
      case b: BytesValue =>
        val v = new ByteString(b.bytes)
        new BytesTest(Either) {
          def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int = outcomes(at(lo.compare(i, v), hi.compare(i, v)))
        }
    }
  }

  /** The outcomes by the signs of the lower and of the upper bound, when they are compared with the value. */
  private def rule(operator: Operator): Array[Int] = {
    val signs = for (lo <- Seq(-1, 0, 1); hi <- Seq(-1, 0, 1)) yield (lo, hi)
    signs.map { case (lo, hi) =>
      operator match {
        case Equal | NullSafeEqual => mask(lo <= 0 && hi >= 0, lo != 0 || hi != 0)
        case Less                  => mask(lo < 0, hi >= 0)
        case LessOrEqual           => mask(lo <= 0, hi > 0)
        case other                 => throw new IllegalArgumentException(s"no rule for $other, it is a negation")
      }
    }.toArray
  }

  private def at(lo: Int, hi: Int): Int = 4 + 3 * Integer.signum(lo) + Integer.signum(hi)

  /** None for an empty list: without a value the column's encoding is not known. */
  def in(values: Vector[Value], hasNull: Boolean): Option[IntervalTest] = {
    val otherwise = if (hasNull) Null else False
    values.headOption.map {
      case _: LongValue =>
        val sorted = values.map { case LongValue(v) => v; case other => throw mixed(other) }.toArray
        new LongTest(True | otherwise) {
          def within(lo: Long, hi: Long): Int = {
            val at = java.util.Arrays.binarySearch(sorted, lo)
            val first = if (at >= 0) at else -at - 1
            val hit = first < sorted.length && sorted(first) <= hi
            (if (hit) True else 0) | (if (hit && lo == hi) 0 else otherwise)
          }
        }
      case _: BytesValue =>
        val sorted =
          values.map { case v: BytesValue => new ByteString(v.bytes); case other => throw mixed(other) }.toArray
        new BytesTest(True | otherwise) {
          def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int = {
            val first = notBelow(sorted, lo, i)
            val hit = first < sorted.length && hi.compare(i, sorted(first)) >= 0
            val only = hit && lo.compare(i, sorted(first)) == 0 && hi.compare(i, sorted(first)) == 0
            (if (hit) True else 0) | (if (only) 0 else otherwise)
          }
        }
    }
  }

  /** The index of the first sorted value that is not below the string of file i. */
  private def notBelow(sorted: Array[ByteString], strings: ByteStrings, i: Int): Int = {
    var from = 0
    var until = sorted.length
    while (from < until) {
      val middle = (from + until) >>> 1
      if (strings.compare(i, sorted(middle)) > 0) from = middle + 1 else until = middle
    }
    from
  }

  def startsWith(prefix: Array[Byte]): BytesTest = new BytesTest(Either) {
    private val p = new ByteString(prefix)
    def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int = {
      val loHas = lo.startsWith(i, prefix)
      mask(hi.compare(i, p) >= 0 && (loHas || lo.compare(i, p) <= 0), !(loHas && hi.startsWith(i, prefix)))
    }
  }

  private def mixed(value: Value) = new IllegalArgumentException(s"IN list of two encodings: $value")
}
