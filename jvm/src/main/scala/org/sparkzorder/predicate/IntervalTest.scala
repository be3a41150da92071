package org.sparkzorder.predicate

import org.sparkzorder.predicate.Outcomes.{False, Null, True}
import org.sparkzorder.stats.OrderedValue

/**
 * The outcomes of a form for values within bounds: the one place that compares bounds with literals. The proofs are at
 * the forms.
 */
private[predicate] sealed abstract class IntervalTest {

  /** For values of which nothing is known but that they are not null. */
  def anywhere: Int
}

private[predicate] abstract class LongTest extends IntervalTest {

  /** For values of [lo, hi]; `within(v, v)` is that of the value v. */
  def within(lo: Long, hi: Long): Int
}

private[predicate] abstract class BytesTest extends IntervalTest {
  def within(lo: Array[Byte], hi: Array[Byte]): Int
}

private[predicate] object IntervalTest {
  import Operator._

  private final val Either = True | False

  private def mask(mayBeTrue: Boolean, mayBeFalse: Boolean): Int =
    (if (mayBeTrue) True else 0) | (if (mayBeFalse) False else 0)

  /** Only for the operators with rules of their own, see [[Comparison]]. */
  def comparison(operator: Operator, value: Value): IntervalTest = value match {
    case LongValue(v) =>
      operator match {
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
    case wrapped: BytesValue =>
      val v = wrapped.bytes
      operator match {
        case Equal | NullSafeEqual =>
          bytesTest { (lo, hi) =>
            val low = OrderedValue.compare(lo, v)
            val high = OrderedValue.compare(hi, v)
            mask(low <= 0 && high >= 0, low != 0 || high != 0)
          }
        case Less => bytesTest((lo, hi) => mask(OrderedValue.compare(lo, v) < 0, OrderedValue.compare(hi, v) >= 0))
        case LessOrEqual =>
          bytesTest((lo, hi) => mask(OrderedValue.compare(lo, v) <= 0, OrderedValue.compare(hi, v) > 0))
        case other => throw new IllegalArgumentException(s"no rule for $other, it is a negation")
      }
  }

  /** None for an empty list: it says nothing of its column's encoding. */
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
        val sorted = values.map { case v: BytesValue => v.bytes; case other => throw mixed(other) }.toArray
        bytesTest(
          (lo, hi) => {
            val at = java.util.Arrays.binarySearch(sorted, lo, order)
            val first = if (at >= 0) at else -at - 1
            val hit = first < sorted.length && OrderedValue.compare(sorted(first), hi) <= 0
            (if (hit) True else 0) | (if (hit && OrderedValue.compare(lo, hi) == 0) 0 else otherwise)
          },
          True | otherwise
        )
    }
  }

  def startsWith(prefix: Array[Byte]): BytesTest = bytesTest { (lo, hi) =>
    val loHas = hasPrefix(lo, prefix)
    mask(
      OrderedValue.compare(hi, prefix) >= 0 && (loHas || OrderedValue.compare(lo, prefix) <= 0),
      !(loHas && hasPrefix(hi, prefix))
    )
  }

  private def hasPrefix(bytes: Array[Byte], prefix: Array[Byte]): Boolean =
    bytes.length >= prefix.length && java.util.Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length)

  private def bytesTest(test: (Array[Byte], Array[Byte]) => Int, unbounded: Int = Either): BytesTest = new BytesTest {
    def anywhere: Int = unbounded
    def within(lo: Array[Byte], hi: Array[Byte]): Int = test(lo, hi)
  }

  private val order: java.util.Comparator[Array[Byte]] = (a, b) => OrderedValue.compare(a, b)

  private def mixed(value: Value) = new IllegalArgumentException(s"IN list of two encodings: $value")
}
