package org.sparkzorder.predicate

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.expressions.Literal

import org.sparkzorder.stats.OrderedValue

/**
 * A function f of one column whose comparison with a literal is a comparison of the column. Within
 * its [[domain]], f is null where the column is null, and nowhere else.
 */
private[predicate] trait ColumnFunction {
  import ColumnFunction._

  def column: Column

  /** Whether f can be compared with this literal of its type. */
  def accepts(v: Literal): Boolean = true

  /** The values of the column for which f is as described here; null for a null row. None for all values. */
  protected def domain: Option[StatsPredicate]

  // `f(x) < v`, `f(x) <= v` and `f(x) = v` for an x of the domain, and null for a null x. `v` is not null.
  protected def less(v: Literal): StatsPredicate
  protected def lessOrEqual(v: Literal): StatsPredicate
  protected def equal(v: Literal): StatsPredicate

  /** The domain, where it depends on the literal. */
  protected def domain(v: Literal): Option[StatsPredicate] = domain

  /** `f(column) operator literal` for a literal of the function's type that is not null. */
  final def comparison(operator: Operator, literal: Literal): StatsPredicate = within(
    domain(literal),
    operator match {
      case Operator.Less           => less(literal)
      case Operator.LessOrEqual    => lessOrEqual(literal)
      case Operator.Greater        => Not(lessOrEqual(literal))
      case Operator.GreaterOrEqual => Not(less(literal))
      case Operator.Equal          => equal(literal)
      case Operator.NotEqual       => Not(equal(literal))
      case Operator.NullSafeEqual  =>
        equal(literal) match {
          case Comparison(c, Operator.Equal, v) => Comparison(c, Operator.NullSafeEqual, v)
          // The other form is null for null rows only. With this they are false.
          case other => And(IsNotNull(column), other)
        }
    }
  )

  final def isNull: StatsPredicate = within(domain, IsNull(column))
}

private[predicate] object ColumnFunction {

  /** False for every value of the column, null for null rows. */
  def falseUnlessNull(column: Column): StatsPredicate = And(IsNull(column), Const.Null)

  /** True for every value of the column, null for null rows. */
  def trueUnlessNull(column: Column): StatsPredicate = Or(IsNotNull(column), Const.Null)

  def isText(literal: Literal): Boolean = OrderedValue.isText(literal.value)

  private def within(domain: Option[StatsPredicate], predicate: StatsPredicate): StatsPredicate =
    domain.fold(predicate)(Within(_, predicate))
}

/** Tests of a string by the sorted bytes of a column. The texts are valid UTF-8. Null where the string is null. */
private[predicate] trait StringTests {
  def equal(text: String): StatsPredicate
  def startsWith(prefix: String): StatsPredicate
}

private[predicate] object StringTests {

  def startsWith(column: Column, prefix: String): StatsPredicate =
    StartsWith(column, new BytesValue(prefix.getBytes(UTF_8)))

  /** May be true where `p` may, and false anywhere; null where `p` is. */
  def onlyWhere(p: StatsPredicate, what: String): StatsPredicate =
    And(p, Unknown(Reason(ReasonCode.FunctionOfColumn, what)))
}
