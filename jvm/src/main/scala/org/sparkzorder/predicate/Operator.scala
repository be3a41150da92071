package org.sparkzorder.predicate

/** Compares two values. */
sealed abstract class Operator(val symbol: String) extends Product with Serializable {

  /** The operator with both sides exchanged. */
  def swapped: Operator = this match {
    case Operator.Less           => Operator.Greater
    case Operator.LessOrEqual    => Operator.GreaterOrEqual
    case Operator.Greater        => Operator.Less
    case Operator.GreaterOrEqual => Operator.LessOrEqual
    case symmetric               => symmetric
  }

  override def toString: String = symbol
}

object Operator {
  case object Equal extends Operator("=")
  case object NullSafeEqual extends Operator("<=>")
  case object NotEqual extends Operator("<>")
  case object Less extends Operator("<")
  case object LessOrEqual extends Operator("<=")
  case object Greater extends Operator(">")
  case object GreaterOrEqual extends Operator(">=")

  val all: Seq[Operator] = Seq(Equal, NullSafeEqual, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual)
}
