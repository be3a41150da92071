package org.sparkzorder.predicate

import org.sparkzorder.predicate.Outcomes.{False, Null, True}
import org.sparkzorder.stats.{ByteString, ByteStrings}

/**
 * The outcomes of a form of [[StatsPredicate]] for values within bounds. Only this file compares
 * bounds with literals. The proofs are in the comments of the forms.
 */
private[predicate] sealed abstract class IntervalTest {

  /** For values that are not null; nothing else is known about them. */
  def anywhere: Int
}

private[predicate] abstract class LongTest extends IntervalTest {

  /** For values from lo to hi, both included. */
  def within(lo: Long, hi: Long): Int
}

private[predicate] abstract class BytesTest extends IntervalTest {

  /** For values between the bounds of file i. */
  def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int
}

private[predicate] object IntervalTest {
  import Operator._

  private final val Either = True | False

  private def mask(mayBeTrue: Boolean, mayBeFalse: Boolean): Int =
    (if (mayBeTrue) True else 0) | (if (mayBeFalse) False else 0)

  /** Only for `=`, `<=>`, `<` and `<=`; the others are negations of these, see [[Comparison]]. */
  def comparison(operator: Operator, value: Value): IntervalTest = value match {
    case LongValue(v)  => comparisonOfLongs(operator, v)
    case v: BytesValue => comparisonOfBytes(operator, new ByteString(v.bytes))
  }

  private def comparisonOfLongs(operator: Operator, v: Long): LongTest = operator match {
    case Equal | NullSafeEqual =>
      new LongTest {
        def anywhere: Int = Either
        def within(lo: Long, hi: Long): Int = mask(lo <= v && v <= hi, lo != v || hi != v)
      }
    case Less =>
      new LongTest {
        def anywhere: Int = Either
        def within(lo: Long, hi: Long): Int = mask(lo < v, hi >= v)
      }
    case LessOrEqual =>
      new LongTest {
        def anywhere: Int = Either
        def within(lo: Long, hi: Long): Int = mask(lo <= v, hi > v)
      }
    case other => throw new IllegalArgumentException(s"no rule for $other, it is a negation")
  }

  private def comparisonOfBytes(operator: Operator, v: ByteString): BytesTest = operator match {
    case Equal | NullSafeEqual =>
      new BytesTest {
        def anywhere: Int = Either
        def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int = {
          val low = lo.compare(i, v)
          val high = hi.compare(i, v)
          mask(low <= 0 && high >= 0, low != 0 || high != 0)
        }
      }
    case Less =>
      new BytesTest {
        def anywhere: Int = Either
        def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int =
          mask(lo.compare(i, v) < 0, hi.compare(i, v) >= 0)
      }
    case LessOrEqual =>
      new BytesTest {
        def anywhere: Int = Either
        def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int =
          mask(lo.compare(i, v) <= 0, hi.compare(i, v) > 0)
      }
    case other => throw new IllegalArgumentException(s"no rule for $other, it is a negation")
  }

  /** None for an empty list: without a value the column's encoding is not known. */
  def in(values: Vector[Value], hasNull: Boolean): Option[IntervalTest] = {
    val otherwise = if (hasNull) Null else False
    values.headOption.map {
      case _: LongValue =>
        val sorted = values.map { case LongValue(v) => v; case other => throw mixed(other) }.toArray
        new LongTest {
          def anywhere: Int = True | otherwise
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
        new BytesTest {
          def anywhere: Int = True | otherwise
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

  def startsWith(prefix: Array[Byte]): BytesTest = new BytesTest {
    private val p = new ByteString(prefix)
    def anywhere: Int = Either
    def within(lo: ByteStrings, hi: ByteStrings, i: Int): Int = {
      val loHas = lo.startsWith(i, prefix)
      mask(hi.compare(i, p) >= 0 && (loHas || lo.compare(i, p) <= 0), !(loHas && hi.startsWith(i, prefix)))
    }
  }

  private def mixed(value: Value) = new IllegalArgumentException(s"IN list of two encodings: $value")
}
