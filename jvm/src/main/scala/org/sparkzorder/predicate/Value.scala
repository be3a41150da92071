package org.sparkzorder.predicate

import java.util.Arrays

import org.apache.spark.sql.types.DataType

import org.sparkzorder.stats.OrderedValue

/**
 * A literal in the encoding of its column's type, see [[OrderedValue]]. Two of them are equal if their contents are.
 */
sealed trait Value

final case class LongValue(value: Long) extends Value

/** The array must not be changed. */
final class BytesValue(val bytes: Array[Byte]) extends Value with Serializable {
  override def equals(other: Any): Boolean = other match {
    case that: BytesValue => Arrays.equals(bytes, that.bytes)
    case _                => false
  }
  override def hashCode: Int = Arrays.hashCode(bytes)
  override def toString: String = bytes.map(b => f"$b%02x").mkString("BytesValue(", "", ")")
}

object Value {

  /**
   * A Catalyst value that is not null, encoded as a value of `dataType`.
   *
   * @throws IllegalArgumentException if the type has no statistics or cannot hold the value exactly
   */
  def of(dataType: DataType, catalystValue: Any): Value = encoded(OrderedValue.encode(dataType, catalystValue))

  def encoded(value: Any): Value = value match {
    case long: java.lang.Long => LongValue(long)
    case bytes: Array[Byte]   => new BytesValue(bytes)
    case other                => throw new IllegalArgumentException(s"neither long nor bytes: $other")
  }

  /** The order of a column's values. All values of one column have the same encoding. */
  implicit val ordering: Ordering[Value] = (x: Value, y: Value) =>
    (x, y) match {
      case (LongValue(a), LongValue(b))   => java.lang.Long.compare(a, b)
      case (a: BytesValue, b: BytesValue) => OrderedValue.compare(a.bytes, b.bytes)
      case _ => throw new IllegalArgumentException(s"values of different encodings: $x, $y")
    }
}

sealed abstract class Operator(val symbol: String) extends Product with Serializable {

  def swapped: Operator = this match {
    case Operator.Less           => Operator.Greater
    case Operator.LessOrEqual    => Operator.GreaterOrEqual
    case Operator.Greater        => Operator.Less
    case Operator.GreaterOrEqual => Operator.LessOrEqual
    case symmetric               => symmetric
  }

  override def toString: String = symbol
}

object Operator {
  case object Equal extends Operator("=")
  case object NullSafeEqual extends Operator("<=>")
  case object NotEqual extends Operator("<>")
  case object Less extends Operator("<")
  case object LessOrEqual extends Operator("<=")
  case object Greater extends Operator(">")
  case object GreaterOrEqual extends Operator(">=")

  val all: Seq[Operator] = Seq(Equal, NullSafeEqual, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual)
}

/** A column, or a field of a struct, by its names, which may have dots; with the type that its statistics have. */
final case class Column(path: Seq[String], dataType: DataType)
