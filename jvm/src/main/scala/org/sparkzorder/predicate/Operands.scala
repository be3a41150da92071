package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  Expression,
  GetStructField,
  Literal,
  PlanExpression
}
import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteNameParts}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.stats.OrderedValue

/** A column as a filter sees it: itself, or through a function. */
private[predicate] final case class Operand(column: Column, function: Option[ColumnFunction])

/**
 * Finds the column in an expression, or says why there is none.
 *
 * @param columnOf the name of a top-level column of the files, or why the attribute is none
 */
private[predicate] final class Operands(columnOf: AttributeReference => Either[Reason, Seq[String]]) {

  /** A column of any type, for null tests. */
  def column(e: Expression): Either[Reason, Column] = e match {
    case a: AttributeReference                      => columnOf(a).map(Column(_, a.dataType))
    case field @ GetStructField(struct, ordinal, _) =>
      // The field of a null struct is null, and so the statistics count it.
      struct.dataType match {
        case s: StructType => column(struct).map(parent => Column(parent.path :+ s(ordinal).name, field.dataType))
        case _             => Left(opaque(e))
      }
    case _ => Left(opaque(e))
  }

  /** `e IS NULL`, of a column of any type or of a function of one. */
  def nullTest(e: Expression): Either[Reason, StatsPredicate] = function(e) match {
    case Some(f) => Right(f.isNull)
    case None    => column(e).map(IsNull(_))
  }

  /** A column that can be compared, or a function of one that can. */
  def operand(e: Expression): Either[Reason, Operand] = function(e) match {
    case Some(f) => Right(Operand(f.column, Some(f)))
    case None    => column(e).flatMap(comparable).map(Operand(_, None))
  }

  private def function(e: Expression): Option[ColumnFunction] =
    ColumnFunction.of(e, column(_).flatMap(comparable).toOption)

  private def comparable(column: Column): Either[Reason, Column] = column.dataType match {
    // Both are string types of the binary collation, but Spark may pad what it compares.
    case _: CharType | _: VarcharType                             => Left(withoutStatistics(column))
    case s: StringType if s.collationId != StringType.collationId =>
      Left(Reason(ReasonCode.Collation, s"${name(column)} is ${s.catalogString}, whose order is not that of bytes"))
    case dt if OrderedValue.encoding(dt).isEmpty => Left(withoutStatistics(column))
    case _                                       => Right(column)
  }

  private def withoutStatistics(column: Column) =
    Reason(ReasonCode.TypeWithoutStatistics, s"${name(column)} is ${column.dataType.catalogString}")

  private def name(column: Column) = quoteNameParts(column.path)

  /** Why an expression that is no column cannot be used. Names no attribute by id: equal filters have equal reasons. */
  def opaque(e: Expression): Reason =
    if (!e.deterministic) Reason(ReasonCode.NotDeterministic, s"${e.prettyName} is not deterministic")
    else if (e.exists(_.isInstanceOf[PlanExpression[_]])) {
      Reason(ReasonCode.Subquery, "it needs the result of a subquery")
    } else {
      val of = e.references.toSeq.collect { case a: AttributeReference => a }
      // A reason of the caller, a partition column for one, says more than ours.
      of.iterator.map(columnOf).collectFirst { case Left(reason) => reason }.getOrElse {
        if (of.isEmpty) Reason(ReasonCode.UnsupportedExpression, s"${e.prettyName} is no literal")
        else {
          val names = of.map(a => quoteIdentifier(a.name)).distinct.sorted.mkString(", ")
          Reason(ReasonCode.FunctionOfColumn, s"${e.prettyName} of $names")
        }
      }
    }
}

private[predicate] object Operands {

  /** Literals that are not null are compared; of null only the type is asked. */
  def isNull(literal: Literal): Boolean = literal.value == null

  /** Only text that is valid UTF-8 says the same in characters and in bytes. */
  def isText(literal: Literal): Boolean = literal.value match {
    case text: UTF8String => UTF8String.fromString(text.toString) == text
    case _                => false
  }
}
