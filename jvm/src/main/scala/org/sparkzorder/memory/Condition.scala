package org.sparkzorder.memory

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import org.sparkzorder.memory.Condition.{End, NotNull, OneOf, Opaque, Range}
import org.sparkzorder.predicate.{BytesValue, ReaderFilters, Value}
import org.sparkzorder.stats.OrderedValue

/**
 * A condition that a row must pass, in a form that conditions of other queries can be compared with. Equal conditions
 * of two plans are equal, whatever their expression ids.
 */
private[memory] sealed trait Condition extends Product with Serializable {

  /**
   * Whether each row that passes this condition passes `other`, too. False if it is not known.
   *
   * `x IN (1, 2)` implies `x < 5`, `x IN (1, 2, 3)` and `x IS NOT NULL`.
   */
  def implies(other: Condition): Boolean = this == other

  /** A text that each condition has in common with those that imply it. */
  def anchor: String

  /** Characters of its texts, for an estimate of its bytes. */
  def weight: Long = anchor.length.toLong
}

private[memory] object Condition {

  /** Any condition, known by its text alone. */
  final case class Opaque(text: String) extends Condition {
    override def anchor: String = text
  }

  /** @param subject the text of an expression, with the names and types of its columns */
  final case class NotNull(subject: String) extends Condition {
    override def anchor: String = subject
  }

  /** @param values at least one, all of the subject's type */
  final case class OneOf(subject: String, values: Set[Value]) extends Condition {
    override def anchor: String = subject

    override def weight: Long = subject.length + values.iterator.map {
      case b: BytesValue => 40L + b.bytes.length
      case _             => 40L
    }.sum

    override def implies(other: Condition): Boolean = other match {
      case NotNull(`subject`)       => true
      case OneOf(`subject`, others) => values.subsetOf(others)
      case r: Range                 => r.subject == subject && values.forall(r.holds)
      case _                        => false
    }
  }

  /** A subject between two values. An end that is None is open. */
  final case class Range(subject: String, low: Option[End], high: Option[End]) extends Condition {
    override def anchor: String = subject

    def holds(value: Value): Boolean = {
      val aboveLow = low.forall { l =>
        val order = Value.ordering.compare(value, l.value)
        order > 0 || (order == 0 && l.inclusive)
      }
      aboveLow && high.forall { h =>
        val order = Value.ordering.compare(value, h.value)
        order < 0 || (order == 0 && h.inclusive)
      }
    }

    override def implies(other: Condition): Boolean = other match {
      case NotNull(`subject`)                => true
      case Range(`subject`, itsLow, itsHigh) =>
        isInside(itsLow, low)((mine, its) => Value.ordering.compare(mine, its)) &&
        isInside(itsHigh, high)((mine, its) => Value.ordering.compare(its, mine))
      case _ => false
    }

    /** @param order positive if my end is further inside */
    private def isInside(its: Option[End], mine: Option[End])(order: (Value, Value) => Int): Boolean = its.forall { i =>
      mine.exists { m =>
        val inside = order(m.value, i.value)
        inside > 0 || (inside == 0 && (i.inclusive || !m.inclusive))
      }
    }
  }

  final case class End(value: Value, inclusive: Boolean)
}

/** Reads conditions from Catalyst's expressions, with the texts of columns as of [[ExpressionText]]. */
private[memory] final class ConditionReader(column: Attribute => Option[String]) {
  import ConditionReader._

  private val texts = new ExpressionText(column)

  /** The condition that a row passes if the expression is true for it; None if it may not be remembered. */
  def of(e: Expression): Option[Condition] = e match {
    case IsNotNull(subject)                    => texts.of(subject).map(NotNull(_))
    case EqualTo(s, l: Literal)                => oneOf(e, s, Seq(l))
    case EqualTo(l: Literal, s)                => oneOf(e, s, Seq(l))
    case In(s, list) if list.forall(isLiteral) => oneOf(e, s, list.collect { case l: Literal => l })
    case InSet(s, values)                      => oneOf(e, s, values.iterator.map(Literal(_, s.dataType)).toSeq)
    case LessThan(s, l: Literal)               => range(e, s, None, Some((l, false)))
    case LessThanOrEqual(s, l: Literal)        => range(e, s, None, Some((l, true)))
    case GreaterThan(s, l: Literal)            => range(e, s, Some((l, false)), None)
    case GreaterThanOrEqual(s, l: Literal)     => range(e, s, Some((l, true)), None)
    case LessThan(l: Literal, s)               => range(e, s, Some((l, false)), None)
    case LessThanOrEqual(l: Literal, s)        => range(e, s, Some((l, true)), None)
    case GreaterThan(l: Literal, s)            => range(e, s, None, Some((l, false)))
    case GreaterThanOrEqual(l: Literal, s)     => range(e, s, None, Some((l, true)))
    case _                                     => opaque(e)
  }

  private def opaque(e: Expression): Option[Condition] = texts.of(e).map(Opaque(_))

  // With a null in the list, readers get another filter.
  private def oneOf(e: Expression, subject: Expression, literals: Seq[Literal]): Option[Condition] = {
    val values = literals.map(value(subject.dataType, _))
    if (values.isEmpty || values.exists(_.isEmpty)) opaque(e)
    else texts.of(subject).map(OneOf(_, values.flatten.toSet))
  }

  private def range(
      e: Expression,
      subject: Expression,
      low: Option[(Literal, Boolean)],
      high: Option[(Literal, Boolean)]
  ): Option[Condition] = {
    def end(of: (Literal, Boolean)) =
      // A wider range may have cost rows that a narrower one has to find.
      if (ReaderFilters.areExact(subject.dataType)) value(subject.dataType, of._1).map(End(_, of._2)) else None
    val (l, h) = (low.flatMap(end), high.flatMap(end))
    if (l.isDefined == low.isDefined && h.isDefined == high.isDefined) texts.of(subject).map(Range(_, l, h))
    else opaque(e)
  }
}

private[memory] object ConditionReader {

  private def isLiteral(e: Expression): Boolean = e.isInstanceOf[Literal]

  /**
   * None if a reader may miss rows of the type by the filter that Spark gives it, or if the literal is null. Then only
   * the same literal is known to give the same rows. A dictionary takes -0.0 and 0.0 for two values, and a time in
   * microseconds is cut to the file's milliseconds. Small whole numbers may be cut of larger ones of the file, which
   * have other bounds. Readers take other bytes for a text that is no UTF-8, and other days for ancient ones.
   */
  private def value(dataType: DataType, l: Literal): Option[Value] = dataType match {
    case _: CharType | _: VarcharType                                                              => None
    case _ if l.value == null || l.dataType != dataType || OrderedValue.encoding(dataType).isEmpty => None
    case DateType if l.value.asInstanceOf[Int] < ModernDays                                        => None
    case _: StringType if !OrderedValue.isText(l.value)                                            => None
    case IntegerType | LongType | DateType | _: StringType                                         =>
      try Some(Value.of(dataType, l.value))
      catch { case _: IllegalArgumentException | _: ArithmeticException => None }
    case _ => None
  }

  /** Days from 1900 on are the same in all calendars. */
  private val ModernDays = java.time.LocalDate.of(1900, 1, 1).toEpochDay.toInt
}
