package org.sparkzorder.predicate

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.{expressions => catalyst}
import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Expression, Literal}
import org.apache.spark.sql.types._

/** The tests of functions of strings, and of the texts of numbers. */
private[predicate] object StringFunctions {

  /** None for an expression of which no tests are known. */
  def of(e: Expression, operands: Operands): Option[StringTests] = {
    def column(child: Expression) = operands.comparableColumn(child).filter(_.dataType == StringType)
    e match {
      case catalyst.StringTrim(child, None)      => column(child).map(new OfTrimmed(_, left = true))
      case catalyst.StringTrimLeft(child, None)  => column(child).map(new OfTrimmed(_, left = true))
      case catalyst.StringTrimRight(child, None) => column(child).map(new OfTrimmed(_, left = false))
      case u: catalyst.Upper                     => column(u.child).map(new CaseFolded(_, upper = true))
      case l: catalyst.Lower                     => column(l.child).map(new CaseFolded(_, upper = false))
      case catalyst.Concat(parts)                => concatenated(parts, column(_))
      case c: Cast if c.dataType == StringType   =>
        operands.comparableColumn(c.child).filter(i => Integers(i.dataType)).map(new OfInteger(_))
      case _ =>
        operands.operand(e).toOption.collect {
          case Operand(column, None) if column.dataType == StringType => new OfColumn(column)
          case Operand(_, Some(of: PaddedColumn))                     => new OfPadded(of)
        }
    }
  }

  private val Integers: Set[DataType] = Set(ByteType, ShortType, IntegerType, LongType)

  private final class OfColumn(column: Column) extends StringTests {
    def equal(text: String): StatsPredicate = Comparison(column, Operator.Equal, new BytesValue(text.getBytes(UTF_8)))
    def startsWith(prefix: String): StatsPredicate = StringTests.startsWith(column, prefix)
  }

  private final class OfPadded(column: PaddedColumn) extends StringTests {
    def equal(text: String): StatsPredicate = column.equal(text.getBytes(UTF_8))
    def startsWith(prefix: String): StatsPredicate = column.startsWith(prefix.getBytes(UTF_8))
  }

  /** Without the spaces at its end, and with `left` at its start: then it begins with a space, or as the result does. */
  private final class OfTrimmed(column: Column, left: Boolean) extends StringTests {
    def equal(text: String): StatsPredicate = startsWith(text)
    def startsWith(prefix: String): StatsPredicate = {
      val same = StringTests.startsWith(column, prefix)
      StringTests.onlyWhere(
        if (left) Or(same, StringTests.startsWith(column, " ")) else same,
        "only the start of a trimmed string is used"
      )
    }
  }

  private def concatenated(parts: Seq[Expression], column: Expression => Option[Column]): Option[StringTests] = {
    def isText(e: Expression) = e match {
      case l: Literal => l.dataType == StringType && ColumnFunction.isText(l)
      case _          => false
    }
    def joined(texts: Seq[Expression]) = texts.map(_.asInstanceOf[Literal].value.toString).mkString
    val (before, rest) = parts.span(isText)
    rest match {
      case child +: after if after.forall(isText) =>
        column(child).map(new OfConcatenated(joined(before), _, joined(after)))
      case _ => None
    }
  }

  /** A column between two texts. */
  private final class OfConcatenated(before: String, column: Column, after: String) extends StringTests {
    private val middle = new OfColumn(column)

    def equal(text: String): StatsPredicate =
      if (text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after))
        middle.equal(text.substring(before.length, text.length - after.length))
      else ColumnFunction.falseUnlessNull(column)

    def startsWith(prefix: String): StatsPredicate =
      if (before.startsWith(prefix)) ColumnFunction.trueUnlessNull(column)
      else if (!prefix.startsWith(before)) ColumnFunction.falseUnlessNull(column)
      else {
        val rest = prefix.substring(before.length)
        // The column may end within the prefix.
        val ends = rest.indices.filterNot(i => Character.isLowSurrogate(rest.charAt(i)))
        ends.filter(i => after.startsWith(rest.substring(i))).map(i => middle.equal(rest.substring(0, i)))
          .foldLeft(middle.startsWith(rest))(Or(_, _))
      }
  }

  /** An integer as text: no two have the same. */
  private final class OfInteger(column: Column) extends StringTests {
    def equal(text: String): StatsPredicate = {
      val value = Cast(Literal(text), column.dataType, None, EvalMode.TRY).eval()
      if (value != null && value.toString == text) Comparison(column, Operator.Equal, Value.of(column.dataType, value))
      else ColumnFunction.falseUnlessNull(column)
    }
    def startsWith(prefix: String): StatsPredicate =
      Unknown(Reason(ReasonCode.FunctionOfColumn, "numbers are not in the order of their texts"))
  }
}
