package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.{expressions => catalyst}
import org.apache.spark.sql.catalyst.expressions.{CaseWhen, Coalesce, Expression, If, Literal}

/** An expression that is `first` for rows for which `condition` is true, and else `second`. */
private[predicate] final case class Branches(condition: Expression, first: Expression, second: Expression)

private[predicate] object Branches {

  /** `IF`, `CASE WHEN` and `COALESCE` as choices. */
  private def of(e: Expression): Option[Branches] = e match {
    case If(condition, first, second)             => Some(Branches(condition, first, second))
    case CaseWhen(Seq((condition, first)), other) =>
      Some(Branches(condition, first, other.getOrElse(Literal(null, e.dataType))))
    case CaseWhen((condition, first) +: rest, other) => Some(Branches(condition, first, CaseWhen(rest, other)))
    // A loop that adds to a column nests them.
    case Coalesce(values) if values.exists(_.isInstanceOf[Coalesce]) => of(Coalesce(flat(values)))
    case Coalesce(Seq(first, second))             => Some(Branches(catalyst.IsNotNull(first), first, second))
    case Coalesce(first +: rest) if rest.nonEmpty => Some(Branches(catalyst.IsNotNull(first), first, Coalesce(rest)))
    case _                                        => None
  }

  private def flat(values: Seq[Expression]): Seq[Expression] = values.flatMap {
    case Coalesce(inner) => flat(inner)
    case other           => Seq(other)
  }

  /**
   * A condition that is a choice, or is about a choice and literals: `f(if(p, a, b), 3)` is `if(p, f(a, 3), f(b, 3))`,
   * since each row takes one of the branches.
   */
  def ofCondition(e: Expression): Option[Branches] =
    of(e).orElse {
      val (literals, others) = e.children.partition(_.isInstanceOf[Literal])
      others match {
        case Seq(other) if literals.size + 1 == e.children.size && isTest(e) =>
          of(other).map { b =>
            def about(branch: Expression) = e.withNewChildren(e.children.map(c => if (c eq other) branch else c))
            Branches(b.condition, about(b.first), about(b.second))
          }
        case _ => None
      }
    }.filter(_ => Operands.isSmall(e))

  private def isTest(e: Expression): Boolean = e match {
    case _: catalyst.BinaryComparison | _: catalyst.In | _: catalyst.InSet | _: catalyst.StartsWith => true
    case _: catalyst.IsNull | _: catalyst.IsNotNull | _: catalyst.IsNaN                             => true
    case _                                                                                          => false
  }
}
