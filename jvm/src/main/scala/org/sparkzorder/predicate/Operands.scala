package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, GetStructField, Literal}
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteNameParts}
import org.apache.spark.sql.types._

import org.sparkzorder.shim.Collations
import org.sparkzorder.stats.OrderedValue

/** One side of a comparison: a column, or a function of it. */
private[predicate] final case class Operand(column: Column, function: Option[ColumnFunction])

/**
 * Finds the column in an expression, or says why there is none.
 *
 * @param columnOf the path of an attribute in the files, or why it has no statistics there
 */
private[predicate] final class Operands(columnOf: AttributeReference => Either[Reason, Seq[String]]) {

  /** The column of any type that an expression is. */
  def column(e: Expression): Either[Reason, Column] = e match {
    case a: AttributeReference                      => columnOf(a).map(Column(_, a.dataType))
    case field @ GetStructField(struct, ordinal, _) =>
      // A field of a null struct is null, and the statistics count it as null.
      struct.dataType match {
        case s: StructType => column(struct).map(parent => Column(parent.path :+ s(ordinal).name, field.dataType))
        case _             => Left(reasonAgainst(e))
      }
    case _ => Left(reasonAgainst(e))
  }

  /** `e IS NULL`, for a column of any type or for a function of a column. */
  def nullTest(e: Expression): Either[Reason, StatsPredicate] = function(e) match {
    case Some(f) => Right(f.isNull)
    case None    => column(e).map(IsNull(_))
  }

  /** A column whose type has bounds, or a function of one. */
  def operand(e: Expression): Either[Reason, Operand] = function(e) match {
    case Some(f) => Right(Operand(f.column, Some(f)))
    case None    => column(e).flatMap(comparable).map(Operand(_, None))
  }

  /** The function that `e` is of a column; None if `e` is not known to keep the column's order. */
  private def function(e: Expression): Option[ColumnFunction] = {
    val of = comparableColumn(_)
    MonotoneFunction.of(e, of).orElse(StringPrefix.of(e, of)).orElse(PaddedColumn.of(e, of))
  }

  /** A column whose type has bounds. */
  def comparableColumn(e: Expression): Option[Column] = column(e).flatMap(comparable).toOption

  private def comparable(column: Column): Either[Reason, Column] = column.dataType match {
    // Both have the binary collation, but Spark may pad strings before it compares them.
    case _: CharType | _: VarcharType                           => Left(withoutStatistics(column))
    case s: StringType if Collations.of(s) != Collations.Binary =>
      Left(Reason(ReasonCode.Collation, s"${name(column)} is ${s.catalogString}, which is not sorted by bytes"))
    case dt if OrderedValue.encoding(dt).isEmpty => Left(withoutStatistics(column))
    case _                                       => Right(column)
  }

  private def withoutStatistics(column: Column) =
    Reason(ReasonCode.TypeWithoutStatistics, s"${name(column)} is ${column.dataType.catalogString}")

  private def name(column: Column) = quoteNameParts(column.path)

  /** Why an expression cannot be used, without expression ids, so that equal filters have equal reasons. */
  def reasonAgainst(e: Expression): Reason =
    if (!e.deterministic) Reason(ReasonCode.NotDeterministic, s"${e.prettyName} is not deterministic")
    else if (e.containsPattern(TreePattern.PLAN_EXPRESSION)) {
      Reason(ReasonCode.Subquery, "it needs the result of a subquery")
    } else {
      val of = e.references.toVector.collect { case a: AttributeReference => a }
      // The caller's reason says more than ours: that it is a partition column, for example.
      of.iterator.map(columnOf).collectFirst { case Left(reason) => reason }.getOrElse {
        if (of.isEmpty) Reason(ReasonCode.UnsupportedExpression, s"${e.prettyName} is not a literal")
        else {
          val names = of.map(a => quoteIdentifier(a.name)).distinct.sorted.mkString(", ")
          Reason(ReasonCode.FunctionOfColumn, s"${e.prettyName} of $names")
        }
      }
    }
}

private[predicate] object Operands {

  /** More expressions than this are not taken apart, since each is evaluated for each file. */
  private val MostExpressions = 200

  /** Counts no further than it must: choices within choices may be millions of expressions. */
  def isSmall(e: Expression): Boolean = {
    var left = MostExpressions
    def fits(e: Expression): Boolean = {
      left -= 1
      left >= 0 && e.children.forall(fits)
    }
    fits(e)
  }

  /** Whether values of the type have bounds, in the order of Spark's comparisons. */
  def isComparable(dataType: DataType): Boolean = dataType match {
    case _: CharType | _: VarcharType => false
    case other                        => OrderedValue.encoding(other).isDefined
  }

  /** The reason for a comparison with a literal of another type, or one that the column cannot hold. */
  def mismatch(e: Expression, literal: Literal): StatsPredicate = {
    val types = s"${e.dataType.catalogString} is compared with a ${literal.dataType.catalogString} that it cannot hold"
    Unknown(Reason(ReasonCode.UnsupportedExpression, types))
  }
}
