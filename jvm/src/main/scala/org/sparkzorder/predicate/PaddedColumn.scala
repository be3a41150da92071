package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A column of type `CHAR(n)` as Spark reads it. Files may lack the blanks at the end of a value, so
 * Spark appends them: f(x) is x and as many blanks as it lacks, perhaps none.
 *
 * Strings are compared by their bytes. Let v be a literal, and w what v has before its first byte
 * that is a blank or below:
 *
 *  - x <= f(x), since f(x) begins with x. So `f(x) < v` implies `x < v`, and `f(x) <= v` implies
 *    `x <= v`.
 *  - `x < w` implies `f(x) < v`. If x and w differ in a byte, f(x) and v differ there in the same
 *    way. Otherwise w begins with x and is longer. Then f(x) either ends there, or has a blank where
 *    v has a byte above it.
 *  - `f(x) = v` implies `x >= r`, with r being v without the blanks at its end: x is v without some
 *    of them.
 *  - f(x) begins with p if and only if x does, where p does not end with a blank: the last byte of p
 *    is none that was appended. Otherwise x begins with p without the blanks at its end, if f(x)
 *    begins with p.
 *
 * Between these bounds the rows decide.
 */
private[predicate] final class PaddedColumn(val column: Column) extends ColumnFunction {
  import PaddedColumn._

  override def accepts(v: Literal): Boolean = ColumnFunction.isText(v)

  protected def domain: Option[StatsPredicate] = None

  protected def less(v: Literal): StatsPredicate = upTo(Operator.Less, bytesOf(v))

  protected def lessOrEqual(v: Literal): StatsPredicate = upTo(Operator.LessOrEqual, bytesOf(v))

  protected def equal(v: Literal): StatsPredicate = equal(bytesOf(v))

  private def upTo(operator: Operator, v: Array[Byte]): StatsPredicate = {
    val w = v.takeWhile(b => (b & 0xff) > Blank)
    Or(compared(Operator.Less, w), And(compared(operator, v), ByRows))
  }

  def equal(v: Array[Byte]): StatsPredicate =
    And(And(compared(Operator.GreaterOrEqual, trimmed(v)), compared(Operator.LessOrEqual, v)), ByRows)

  /** `f(column)` begins with `prefix`. */
  def startsWith(prefix: Array[Byte]): StatsPredicate = {
    val begins = StartsWith(column, new BytesValue(trimmed(prefix)))
    if (prefix.lastOption.contains(Blank)) And(begins, ByRows) else begins
  }

  private def compared(operator: Operator, bytes: Array[Byte]) = Comparison(column, operator, new BytesValue(bytes))
}

private[predicate] object PaddedColumn {
  private val Blank = ' '.toByte

  private val ByRows = Unknown(Reason(
    ReasonCode.FunctionOfColumn,
    "the blanks at the end of a CHAR value are compared row by row"
  ))

  private def bytesOf(v: Literal): Array[Byte] = v.value.asInstanceOf[UTF8String].getBytes

  private def trimmed(bytes: Array[Byte]): Array[Byte] = bytes.take(bytes.lastIndexWhere(_ != Blank) + 1)

  /** What Spark's rule `ApplyCharTypePadding` makes of a `CHAR(n)` column. */
  def of(e: Expression, columnOf: Expression => Option[Column]): Option[PaddedColumn] = e match {
    case call: StaticInvoke
        if call.staticObject == classOf[CharVarcharCodegenUtils] && call.functionName == "readSidePadding" &&
          call.arguments.size == 2 =>
      columnOf(call.arguments.head).filter(_.dataType == StringType).map(new PaddedColumn(_))
    case _ => None
  }
}
