package org.sparkzorder.predicate

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Expression, Literal}
import org.apache.spark.sql.catalyst.{expressions => catalyst}
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
        operands.comparableColumn(c.child).filter(i => NumericSteps.Integers(i.dataType)).map(new OfInteger(_))
      case _ =>
        operands.operand(e).toOption.collect {
          case Operand(column, None) if column.dataType == StringType => new OfColumn(column)
          case Operand(_, Some(of: PaddedColumn))                     => new OfPadded(of)
        }
    }
  }

  private final class OfColumn(column: Column) extends StringTests {
    def equal(text: String): StatsPredicate = Comparison(column, Operator.Equal, new BytesValue(text.getBytes(UTF_8)))
    def startsWith(prefix: String): StatsPredicate = StringTests.startsWith(column, prefix)
  }

  private final class OfPadded(column: PaddedColumn) extends StringTests {
    def equal(text: String): StatsPredicate = column.equal(text.getBytes(UTF_8))
    def startsWith(prefix: String): StatsPredicate = column.startsWith(prefix.getBytes(UTF_8))
  }

  /** Without the spaces at its end, with `left` at its start: then it begins with a space, or as the result does. */
  private final class OfTrimmed(column: Column, left: Boolean) extends StringTests {
    def equal(text: String): StatsPredicate = startsWith(text)
    def startsWith(prefix: String): StatsPredicate = {
      val same = StringTests.startsWith(column, prefix)
      val begins = if (left) Or(same, StringTests.startsWith(column, " ")) else same
      StringTests.onlyWhere(begins, "only the start of a trimmed string is used")
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

/**
 * `upper(c)` or `lower(c)`. If the result begins with a text, then the column begins with one of the strings whose
 * characters are mapped to those of the text.
 *
 * Only printable ASCII characters without i and j are looked at: for all others the mapping depends on the language or
 * on the neighbours. Which characters are mapped to these is the same in all versions of Unicode (its stability policy
 * for case pairs). As soon as one of them is mapped to several characters (the sharp s to SS), the text ends.
 */
private[predicate] final class CaseFolded(column: Column, upper: Boolean) extends StringTests {
  import CaseFolded._

  def equal(text: String): StatsPredicate = startsWith(text)

  def startsWith(prefix: String): StatsPredicate = {
    val originals = if (upper) ofUpper else ofLower
    var known = Seq("")
    var i = 0
    var goesOn = true
    while (goesOn && i < prefix.length && isPlain(prefix(i))) {
      val of = originals.getOrElse(prefix(i), Nil)
      val longer = known.flatMap(start => of.map(o => start + o.character))
      goesOn = longer.size <= MostStarts && of.forall(_.isOne)
      if (longer.size <= MostStarts) known = longer
      i += 1
    }
    known.map(StringTests.startsWith(column, _)).reduceOption(Or(_, _)).fold(ColumnFunction.falseUnlessNull(column))(
      StringTests.onlyWhere(_, "only the start of a text in one case is used")
    )
  }
}

private object CaseFolded {

  /** @param isOne whether it is mapped to one character */
  private final case class Original(character: Char, isOne: Boolean)

  private val MostStarts = 64

  private def isPlain(c: Char): Boolean = c >= ' ' && c <= '~' && !"iIjJ".contains(c)

  private lazy val ofUpper = originals(_.toUpperCase(Locale.ROOT))
  private lazy val ofLower = originals(_.toLowerCase(Locale.ROOT))

  /** Of all characters that are mapped to a text that begins with a plain one, by that one. */
  private def originals(mapped: String => String): Map[Char, Seq[Original]] =
    (Char.MinValue to Char.MaxValue).filterNot(Character.isSurrogate).flatMap { c =>
      val to = mapped(c.toString)
      if (isPlain(to.head)) Some(to.head -> Original(c, to.length == 1)) else None
    }.groupBy(_._1).map { case (c, of) => c -> of.map(_._2) }
}
