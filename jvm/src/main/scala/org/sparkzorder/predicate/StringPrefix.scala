package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, Substring}
import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.stats.ByteBounds

/**
 * `substring(c, 1, n)`, which is also `left(c, n)`: the first n characters.
 *
 * Spark takes the length of a character from its first byte alone, whatever follows. So if two strings agree in their
 * first k bytes, Spark cuts these into characters in the same way, up to and including the character of byte k. Let v
 * be valid UTF-8 of m characters, w its first n characters, and f(x) the first n characters of x:
 *
 *  - m <= n: `f(x) < v` is `x < v`. If x and v first differ in byte k, this byte is in one of the
 *    first n characters of v. So f(x) has byte k, and compares with v as x does. If x begins with
 *    v, then f(x) begins with v, and neither f(x) nor x is less than v. If v begins with x and is
 *    longer, then f(x) = x.
 *  - m < n: `f(x) = v` is `x = v`, since an x that begins with v and is longer has at least one
 *    more character. So `f(x) <= v` is `x <= v`.
 *  - m = n: `f(x) = v` means that x begins with v. `f(x) <= v` is `x < after(v)`, the first string
 *    above all those.
 *  - m > n: f(x) has fewer characters than v and is never v. `f(x) < v` is `f(x) <= w`: while f(x)
 *    and w differ, they compare as f(x) and v do. That is the case above.
 *
 * An x that ends within a character of w is outside of the domain, if w begins with x. There Spark
 * takes bytes from behind the string, so its result is not known.
 */
private[predicate] final class StringPrefix(val column: Column, n: Int) extends ColumnFunction {
  import ColumnFunction._

  override def accepts(v: Literal): Boolean = isText(v)

  protected def domain: Option[StatsPredicate] = None

  override protected def domain(v: Literal): Option[StatsPredicate] = {
    val w = head(text(v)).getBytes
    val broken = (1 until w.length).filter(i => (w(i) & 0xc0) == 0x80).map(i => new BytesValue(w.take(i)): Value)
    if (broken.isEmpty) None else Some(Not(In.of(column, broken, hasNull = false)))
  }

  protected def less(v: Literal): StatsPredicate =
    if (text(v).numChars > n) lessOrEqual(v) else Comparison(column, Operator.Less, bytes(text(v)))

  protected def lessOrEqual(v: Literal): StatsPredicate =
    if (text(v).numChars < n) Comparison(column, Operator.LessOrEqual, bytes(text(v)))
    else Comparison(column, Operator.Less, new BytesValue(ByteBounds.after(head(text(v)).getBytes)))

  protected def equal(v: Literal): StatsPredicate = text(v).numChars - n match {
    case 0                => StartsWith(column, bytes(text(v)))
    case more if more > 0 => falseUnlessNull(column)
    case _                => Comparison(column, Operator.Equal, bytes(text(v)))
  }

  private def text(v: Literal) = v.value.asInstanceOf[UTF8String]
  private def head(text: UTF8String) = text.substringSQL(1, n)
  private def bytes(text: UTF8String) = new BytesValue(text.getBytes)
}

private[predicate] object StringPrefix {

  def of(e: Expression, columnOf: Expression => Option[Column]): Option[StringPrefix] = e match {
    case Substring(c, Literal(0 | 1, IntegerType), Literal(n: Int, IntegerType)) if n > 0 && c.dataType == StringType =>
      columnOf(c).filter(_.dataType == StringType).map(new StringPrefix(_, n))
    case _ => None
  }
}

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

  private val ByRows =
    Unknown(Reason(ReasonCode.FunctionOfColumn, "the blanks at the end of a CHAR value are compared row by row"))

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
