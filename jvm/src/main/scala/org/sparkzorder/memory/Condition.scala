package org.sparkzorder.memory

import org.sparkzorder.predicate.{BytesValue, Value}

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

  /** An end of a range. */
  final case class End(value: Value, inclusive: Boolean)
}
