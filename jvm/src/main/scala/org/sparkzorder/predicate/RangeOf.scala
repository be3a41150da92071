package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.DataType

/**
 * An expression over columns whose least and greatest value in a file follow from the bounds of the columns there. It
 * is interval arithmetic (R. E. Moore, Interval Analysis, 1966), with Spark's own functions.
 */
private[predicate] sealed trait RangeOf extends Product with Serializable {
  def dataType: DataType
  def parts: Seq[RangeOf] = Nil
  def columns: Set[Column] = parts.flatMap(_.columns).toSet

  /** The number of its parts at any depth, itself included. */
  def size: Int = 1 + parts.map(_.size).sum
}

private[predicate] final case class ColumnRange(column: Column) extends RangeOf {
  override def dataType: DataType = column.dataType
  override def columns: Set[Column] = Set(column)
}

private[predicate] final case class LiteralRange(literal: Literal) extends RangeOf {
  override def dataType: DataType = literal.dataType
}

/**
 * A function that is null if one of its arguments is, and is [[PiecewiseMonotone]].
 *
 * @param function over references to the arguments
 * @param checked the same function, but failing where a value leaves its type; None if it does so itself, or never
 */
private[predicate] final case class FunctionRange(
    function: Expression,
    checked: Option[Expression],
    override val parts: Seq[RangeOf]
) extends RangeOf {
  override def dataType: DataType = function.dataType
}

/** `IF` and `CASE`: each row has the value of one of these. */
private[predicate] final case class ChoiceRange(override val parts: Seq[RangeOf], dataType: DataType) extends RangeOf

/** `COALESCE`: the first of these that is not null. */
private[predicate] final case class FirstRange(override val parts: Seq[RangeOf], dataType: DataType) extends RangeOf

/** `LEAST` and `GREATEST` of those that are not null. */
private[predicate] final case class ExtremeRange(override val parts: Seq[RangeOf], isLeast: Boolean, dataType: DataType)
    extends RangeOf
