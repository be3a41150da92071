package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.DataType

import org.sparkzorder.stats.{Encoding, OrderedValue}

/**
 * Encoded bounds of ranges.
 *
 * @param isAscending whether the bounds are in ascending order and none is null
 */
sealed abstract class RangeBounds(val isAscending: Boolean) extends Serializable {

  /** How many bounds are smaller than an encoded value. */
  def id(encoded: Any): Int
}

/** Bounds of a type whose encoded values are longs. */
final class LongBounds(bounds: Array[Long], isAscending: Boolean) extends RangeBounds(isAscending) {
  override def id(encoded: Any): Int = id(encoded.asInstanceOf[java.lang.Long].longValue)

  /**
   * A binary search without a branch that depends on the values: arithmetic chooses the half to go
   * on with.
   */
  def id(value: Long): Int = {
    var from = 0
    var length = bounds.length
    while (length > 1) {
      val half = length >>> 1
      from += (if (bounds(from + half - 1) < value) half else 0)
      length -= half
    }
    if (length == 1 && bounds(from) < value) from + 1 else from
  }
}

/** Bounds of a type whose encoded values are byte strings. */
final class BytesBounds(bounds: Array[Array[Byte]], isAscending: Boolean) extends RangeBounds(isAscending) {
  override def id(encoded: Any): Int = {
    val value = encoded.asInstanceOf[Array[Byte]]
    var from = 0
    var until = bounds.length
    while (from < until) {
      val middle = (from + until) >>> 1
      if (OrderedValue.compare(bounds(middle), value) < 0) from = middle + 1 else until = middle
    }
    from
  }
}

object RangeBounds {

  /** @param elements values of the type */
  def of(dataType: DataType, elements: ArrayData): RangeBounds = {
    val known = (0 until elements.numElements()).filterNot(elements.isNullAt)
    val encoded = known.map(i => OrderedValue.encode(dataType, elements.get(i, dataType)))
    val complete = known.length == elements.numElements()
    def ascending[T](values: Seq[T])(smaller: (T, T) => Boolean): Boolean =
      complete && values.zip(values.drop(1)).forall { case (a, b) => !smaller(b, a) }
    OrderedValue.encoding(dataType) match {
      case Some(Encoding.Longs) =>
        val longs = encoded.map(_.asInstanceOf[java.lang.Long].longValue)
        new LongBounds(longs.toArray, ascending(longs)(_ < _))
      case _ =>
        val bytes = encoded.map(_.asInstanceOf[Array[Byte]])
        new BytesBounds(bytes.toArray, ascending(bytes)(OrderedValue.compare(_, _) < 0))
    }
  }
}
