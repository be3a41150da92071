package org.sparkzorder.predicate

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.{expressions => catalyst}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal}
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

/**
 * Translates conditions of Catalyst, as the optimizer leaves them, to predicates over statistics.
 * Each predicate represents its condition, in the sense of [[StatsPredicate]].
 */
object CatalystTranslator {

  /**
   * A part that cannot be used becomes [[Unknown]] with a reason. A condition that is not
   * deterministic is unknown as a whole: skipping rows would change its outcome for others.
   *
   * @param columnOf the path of an attribute in the files, or why it has no statistics there
   */
  def translate(expr: Expression, columnOf: AttributeReference => Either[Reason, Seq[String]]): StatsPredicate = {
    val translator = new CatalystTranslator(new Operands(columnOf))
    if (expr.deterministic) translator.condition(expr) else translator.unknown(expr)
  }
}

private final class CatalystTranslator(operands: Operands) {
  import Operands.mismatch

  private val ranges = new Ranges(operands)
  private val strings = new StringConditions(operands)

  def unknown(e: Expression): StatsPredicate = Unknown(operands.reasonAgainst(e))

  private var steps = 0

  /** The parts of a choice may be looked at more than once, so there is a limit. */
  def condition(e: Expression): StatsPredicate = {
    steps += 1
    if (steps > MostSteps) unknown(e)
    else
      Branches.ofCondition(e).fold(plain(e)) { b =>
        Choice(condition(b.condition), condition(b.first), condition(b.second))
      }
  }

  private def plain(e: Expression): StatsPredicate = e match {
    case catalyst.And(left, right)              => And(condition(left), condition(right))
    case catalyst.Or(left, right)               => Or(condition(left), condition(right))
    case catalyst.Not(child)                    => Not(condition(child))
    case Literal(value, BooleanType | NullType) => Const(Option(value).map(_.asInstanceOf[Boolean]))
    case catalyst.IsNull(child)                 => nullTest(child)
    case catalyst.IsNotNull(child)              =>
      nullTest(child) match {
        case IsNull(column) => IsNotNull(column)
        case other          => Not(other)
      }
    case catalyst.EqualTo(left, right)             => comparison(e, Operator.Equal, left, right)
    case catalyst.EqualNullSafe(left, right)       => comparison(e, Operator.NullSafeEqual, left, right)
    case catalyst.LessThan(left, right)            => comparison(e, Operator.Less, left, right)
    case catalyst.LessThanOrEqual(left, right)     => comparison(e, Operator.LessOrEqual, left, right)
    case catalyst.GreaterThan(left, right)         => comparison(e, Operator.Greater, left, right)
    case catalyst.GreaterThanOrEqual(left, right)  => comparison(e, Operator.GreaterOrEqual, left, right)
    case catalyst.In(child, list) if list.nonEmpty =>
      val literals = list.collect { case l: Literal => l }
      if (literals.size < list.size) list.map(v => condition(catalyst.EqualTo(child, v))).reduce(Or(_, _))
      else
        literals.find(l => !isNull(l) && l.dataType != child.dataType).filter(_ => operands.operand(child).isRight)
          .fold(in(child, literals.map(_.value)))(mismatch(child, _))
    case catalyst.InSet(child, values) if values.nonEmpty => inSet(e, child, values)
    // In Spark `isnan(null)` is false, and so is `null <=> NaN`.
    case catalyst.IsNaN(child)          => compared(child, Operator.NullSafeEqual, nan(child.dataType))
    case _ if strings.of(e).isDefined   => strings.of(e).get
    case _ if e.dataType == BooleanType =>
      operands.operand(e) match {
        case Right(Operand(column, None)) => Comparison(column, Operator.Equal, Value.of(BooleanType, true))
        case Right(_)                     => unknown(e)
        case Left(reason)                 => Unknown(reason)
      }
    case _ => unknown(e)
  }

  /** `child IS NULL`, for a column or a condition. */
  private def nullTest(child: Expression): StatsPredicate = operands.nullTest(child) match {
    case Right(test)  => test
    case Left(reason) =>
      child match {
        case _ if child.dataType != BooleanType =>
          // An expression is null where its comparison with itself is.
          ofRanges(child, Operator.Equal, child).fold[StatsPredicate](Unknown(reason))(Undefined(_))
        case _ => Undefined(condition(child))
      }
  }

  private def comparison(e: Expression, operator: Operator, left: Expression, right: Expression): StatsPredicate =
    (left, right) match {
      case (_: Literal, _: Literal) => constant(e)
      case (_, literal: Literal)    => compared(left, operator, literal)
      case (literal: Literal, _)    => compared(right, operator.swapped, literal)
      case _                        => ofRanges(left, operator, right).getOrElse(unusable(e, Seq(left, right)))
    }

  private def constant(e: Expression): StatsPredicate =
    try Const(Option(e.eval()).map(_.asInstanceOf[Boolean]))
    catch { case NonFatal(_) => unknown(e) }

  private def ofRanges(left: Expression, operator: Operator, right: Expression): Option[StatsPredicate] =
    for (a <- ranges.of(left); b <- ranges.of(right) if a.dataType == b.dataType && (a.columns ++ b.columns).nonEmpty)
      yield RangeComparison(a, operator, b)

  /** Two structs are equal only if all their fields are, where nulls are equal. A null struct gives null. */
  private def struct(e: Expression, fields: InternalRow, of: StructType): StatsPredicate = {
    val equal = of.fields.indices.map { i =>
      val value = Literal(fields.get(i, of(i).dataType), of(i).dataType)
      condition(catalyst.EqualNullSafe(catalyst.GetStructField(e, i), value))
    }
    val mayBe = Unknown(Reason(ReasonCode.TypeWithoutStatistics, "fields of a struct say where it may be equal"))
    Or(And(equal.reduceOption(And(_, _)).getOrElse(Const.True), mayBe), And(Const.Null, mayBe))
  }

  private def isNull(literal: Literal): Boolean = literal.value == null

  private def compared(e: Expression, operator: Operator, literal: Literal): StatsPredicate =
    if (isNull(literal)) {
      // Every comparison with null is null, except `<=>`, which tests for null.
      if (operator == Operator.NullSafeEqual) nullTest(e) else Const.Null
    } else {
      operands.operand(e) match {
        case Left(reason) =>
          (operator, literal, e.dataType) match {
            // A condition that is compared with true or false, as in `(a > 1) = false`.
            case (Operator.Equal, Literal(truth: Boolean, BooleanType), BooleanType) =>
              if (truth) condition(e) else Not(condition(e))
            case (Operator.NullSafeEqual, Literal(truth: Boolean, BooleanType), BooleanType) =>
              IsTrue(if (truth) condition(e) else Not(condition(e)))
            case (Operator.Equal, Literal(fields: InternalRow, of: StructType), _)     => struct(e, fields, of)
            case (Operator.Equal, text, _) if strings.equal(e, text).isDefined         => strings.equal(e, text).get
            case (Operator.NullSafeEqual, text, _) if strings.equal(e, text).isDefined =>
              IsTrue(strings.equal(e, text).get)
            case _ => ofRanges(e, operator, literal).getOrElse(Unknown(reason))
          }
        case Right(_) if literal.dataType != e.dataType => mismatch(e, literal)
        case Right(Operand(_, Some(f)))                 =>
          if (f.accepts(literal)) f.comparison(operator, literal) else mismatch(e, literal)
        case Right(Operand(column, None)) =>
          exact(column, literal.value).fold(mismatch(e, literal))(Comparison(column, operator, _))
      }
    }

  /** @param all values of the type of `child`, perhaps thousands */
  private def in(child: Expression, all: Iterable[Any]): StatsPredicate = {
    val values = all.filter(_ != null)
    val hasNull = values.size < all.size
    def literals = values.toSeq.map(Literal(_, child.dataType))
    operands.operand(child) match {
      case Left(reason)                 => inRange(child, literals, hasNull).getOrElse(Unknown(reason))
      case Right(Operand(column, None)) =>
        val encoded = values.iterator.map(exact(column, _)).takeWhile(_.isDefined).flatten.toVector
        if (encoded.size == values.size) In.of(column, encoded, hasNull) else mismatch(child, literals.head)
      case Right(Operand(_, Some(f))) =>
        literals.find(!f.accepts(_)).fold(throughFunction(f, literals, hasNull))(mismatch(child, _))
    }
  }

  /** A list over a function that has a range, or of which tests are known. */
  private def inRange(child: Expression, values: Seq[Literal], hasNull: Boolean): Option[StatsPredicate] =
    if (values.isEmpty) None
    else {
      def ofTexts = {
        val equal = if (values.size > MostRanges) Seq(None) else values.map(strings.equal(child, _))
        if (equal.contains(None)) None else Some(equal.flatten.reduce(Or(_, _)))
      }
      def ofRange = ranges.of(child).filter(r => r.columns.nonEmpty && values.forall(_.dataType == r.dataType))
        .map(r => RangeIn(r, values.map(_.value).sorted(TypeUtils.getInterpretedOrdering(r.dataType))))
      ofTexts.orElse(ofRange).map(listed => if (hasNull) Or(listed, Const.Null) else listed)
    }

  private def throughFunction(f: ColumnFunction, values: Seq[Literal], hasNull: Boolean): StatsPredicate = {
    def none = In.of(f.column, Nil, hasNull)
    if (values.size > MostRanges) {
      val order = TypeUtils.getInterpretedOrdering(values.head.dataType)
      val (least, most) = (values.minBy(_.value)(order), values.maxBy(_.value)(order))
      val between = And(f.comparison(Operator.GreaterOrEqual, least), f.comparison(Operator.LessOrEqual, most))
      Or(none, StringTests.onlyWhere(between, s"of ${values.size} values only the least and the greatest are used"))
    } else {
      // To `f(c) = value` belongs one value of the column, a range of them, or none.
      val equalities = values.map(f.comparison(Operator.Equal, _))
      val single = equalities.collect { case Comparison(_, Operator.Equal, v) => v }
      val ranges = equalities.filter {
        case Comparison(_, Operator.Equal, _) => false
        case other                            => other != ColumnFunction.falseUnlessNull(f.column)
      }
      ranges.foldLeft(In.of(f.column, single, hasNull): StatsPredicate)(Or(_, _))
    }
  }

  private def inSet(e: Expression, child: Expression, values: Set[Any]): StatsPredicate = {
    val fractional = child.dataType == FloatType || child.dataType == DoubleType
    // The set has a null and no NaN: then for a NaN, InSet gives false and In and compiled code give null. Allow both.
    if (fractional && values.contains(null)) Or(in(child, values - null), And(Const.Null, unknown(e)))
    else in(child, values)
  }

  /** Most ranges of values that an IN list over a function becomes: each is evaluated for each file. */
  private val MostRanges = 100

  private val MostSteps = 2000

  private def nan(dataType: DataType): Literal =
    if (dataType == FloatType) Literal(Float.NaN) else Literal(Double.NaN)

  private def exact(column: Column, value: Any): Option[Value] =
    try Some(Value.of(column.dataType, value))
    catch { case _: IllegalArgumentException => None }

  /** The reason for a comparison with other parts than columns, functions of them, and literals. */
  private def unusable(e: Expression, parts: Seq[Expression]): StatsPredicate =
    parts.map(operands.operand).collectFirst { case Left(reason) => Unknown(reason) }.getOrElse(unknown(e))
}
