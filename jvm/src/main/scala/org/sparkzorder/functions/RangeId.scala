package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{TypeCheckResult, TypeCoercion}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, ImplicitCastInputTypes}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, DataType, IntegerType}

import org.sparkzorder.stats.{Encoding, OrderedValue}

/**
 * The SQL function `range_id(x, bounds)`: how many of the bounds are smaller than x, and 0 for null. So a bound belongs
 * to the range that it ends. Spark's range partitioning numbers its partitions in the same way.
 *
 * @param left the value
 * @param right a constant array of the value's type, ascending
 */
final case class RangeId(left: Expression, right: Expression) extends BinaryExpression with ImplicitCastInputTypes {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "range_id"

  /** If the value and the bounds are numbers of different types, both are cast to a common type. */
  override def inputTypes: Seq[DataType] = (left.dataType, right.dataType) match {
    case (value, ArrayType(element, containsNull)) if value != element =>
      TypeCoercion.findWiderTypeWithoutStringPromotion(Seq(value, element)).fold(Seq.empty[DataType]) { common =>
        Seq(common, ArrayType(common, containsNull))
      }
    case _ => Nil
  }

  override def checkInputDataTypes(): TypeCheckResult = (left.dataType, right.dataType) match {
    case (value, _) if OrderedValue.encoding(value).isEmpty =>
      WrongArgument.hasType("first", WrongArgument.OrderedTypes, left)
    case (value, ArrayType(element, _)) if value == element =>
      if (!right.foldable) WrongArgument.notConstant("bounds", right)
      else if (right.eval() == null) WrongArgument.isNull("bounds")
      else if (!bounds.isAscending) WrongArgument.because("The bounds must be in ascending order and must not be null")
      else TypeCheckResult.TypeCheckSuccess
    case (value, _) => WrongArgument.hasType("second", WrongArgument.nameOf(ArrayType(value)), right)
  }

  @transient private lazy val bounds = RangeBoundaries.of(left.dataType, right.eval().asInstanceOf[ArrayData])

  override def eval(input: InternalRow): Any = {
    val value = left.eval(input)
    if (value == null) 0 else bounds.id(OrderedValue.encode(left.dataType, value))
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val value = left.genCode(ctx)
    val longs = classOf[LongBoundaries].getName
    val of = ctx.addReferenceObj("bounds", bounds, classOf[RangeBoundaries].getName)
    val id = OrderedLong.code(left.dataType, value.value.code) match {
      case Some(long) => s"(($longs) $of).id($long)"
      case None       =>
        val dataType = ctx.addReferenceObj("dataType", left.dataType, classOf[DataType].getName)
        val encoder = OrderedValue.getClass.getName.stripSuffix("$")
        s"$of.id($encoder.encode($dataType, ${value.value}))"
    }
    ev.copy(
      code = code"""
        ${value.code}
        int ${ev.value} = ${value.isNull} ? 0 : $id;""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): RangeId =
    copy(newLeft, newRight)
}

/** Encoded bounds of ranges, and whether they are in ascending order and none is null. */
sealed abstract class RangeBoundaries(val isAscending: Boolean) extends Serializable {

  /** How many bounds are smaller than an encoded value. */
  def id(encoded: Any): Int
}

final class LongBoundaries(bounds: Array[Long], isAscending: Boolean) extends RangeBoundaries(isAscending) {
  override def id(encoded: Any): Int = id(encoded.asInstanceOf[java.lang.Long].longValue)

  /** A binary search without a branch that depends on the values: arithmetic chooses the half to go on with. */
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

final class BytesBoundaries(bounds: Array[Array[Byte]], isAscending: Boolean) extends RangeBoundaries(isAscending) {
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

object RangeBoundaries {

  /** @param elements values of the type */
  def of(dataType: DataType, elements: ArrayData): RangeBoundaries = {
    val known = (0 until elements.numElements()).filterNot(elements.isNullAt)
    val encoded = known.map(i => OrderedValue.encode(dataType, elements.get(i, dataType)))
    val complete = known.length == elements.numElements()
    def ascending[T](values: Seq[T])(smaller: (T, T) => Boolean): Boolean =
      complete && values.zip(values.drop(1)).forall { case (a, b) => !smaller(b, a) }
    OrderedValue.encoding(dataType) match {
      case Some(Encoding.Longs) =>
        val longs = encoded.map(_.asInstanceOf[java.lang.Long].longValue)
        new LongBoundaries(longs.toArray, ascending(longs)(_ < _))
      case _ =>
        val bytes = encoded.map(_.asInstanceOf[Array[Byte]])
        new BytesBoundaries(bytes.toArray, ascending(bytes)(OrderedValue.compare(_, _) < 0))
    }
  }
}
