package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions._

import org.sparkzorder.compat._

/** Expressions as [[RangeOf]]s. */
private[predicate] final class Ranges(operands: Operands) {

  /** None if it has a part of which no range is known, or no column. */
  def of(e: Expression): Option[RangeOf] =
    if (e.collect { case any => any }.size > Ranges.MostExpressions) None else range(e)

  private def range(e: Expression): Option[RangeOf] = e match {
    case l: Literal                => Option.when(Operands.isComparable(l.dataType))(LiteralRange(l))
    case Coalesce(values)          => all(values).map(FirstRange(_, e.dataType))
    case If(_, first, second)      => all(Seq(first, second)).map(ChoiceRange(_, e.dataType))
    case CaseWhen(branches, other) =>
      all(branches.map(_._2) :+ other.getOrElse(Literal(null, e.dataType))).map(ChoiceRange(_, e.dataType))
    case tag: TaggingExpression => range(tag.child)
    case Least(values)          => all(values).map(ExtremeRange(_, isLeast = true, e.dataType))
    case Greatest(values)       => all(values).map(ExtremeRange(_, isLeast = false, e.dataType))
    case _                      => operands.comparableColumn(e).map(ColumnRange(_)).orElse(function(e))
  }

  private def all(values: Seq[Expression]): Option[Seq[RangeOf]] = {
    val known = values.iterator.map(range).takeWhile(_.isDefined).flatten.toVector
    Option.when(known.size == values.size && known.forall(_.dataType == known.head.dataType))(known)
  }

  private def function(e: Expression): Option[RangeOf] =
    for {
      arguments <- RangeFunctions.argumentsOf(e)
      known = arguments.iterator.map(range).takeWhile(_.isDefined).flatten.toVector
      if known.size == arguments.size && Operands.isComparable(e.dataType)
    } yield {
      val places = e.children.indices.filter(i => arguments.exists(_ eq e.children(i)))
      val body = e.withNewChildren(e.children.zipWithIndex.map { case (child, i) =>
        if (places.contains(i)) BoundReference(places.indexOf(i), child.dataType, nullable = false) else child
      })
      FunctionRange(body, RangeFunctions.checked(body).filter(_ != body), known)
    }
}

private[predicate] object Ranges {

  /** More expressions than this are not looked at, since each is evaluated for each file. */
  private val MostExpressions = 200
}
