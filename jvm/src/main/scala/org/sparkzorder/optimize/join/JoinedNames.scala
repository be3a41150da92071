package org.sparkzorder.optimize.join

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.StructField

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.statement.{JoinClause, PathTarget, TableTarget}
import org.sparkzorder.table.{KeyColumns, PlainTable}

/** What the names of a statement with joins mean. They may begin with the name of their table. */
private[join] final class JoinedNames(fact: PlainTable) {
  private val resolver = fact.session.sessionState.conf.resolver

  private val factName: Seq[String] = fact.target match {
    case TableTarget(parts) => parts
    case _: PathTarget      => Nil
  }

  /** A column of the table's files. */
  def inFact(parts: Seq[String]): Option[Seq[StructField]] =
    meanings(parts, factName).flatMap(KeyColumns.find(fact.dataSchema, _, resolver)).headOption

  def inDimension(dimension: DimensionTable, parts: Seq[String]): Option[Seq[StructField]] =
    meanings(parts, dimension.parts).flatMap(dimension.find(_, resolver)).headOption

  /** The name as it is, and without the name of its table or the end of that. */
  private def meanings(parts: Seq[String], table: Seq[String]): Seq[Seq[String]] =
    parts +: (1 to table.size).filter { n =>
      n < parts.size && table.takeRight(n).zip(parts).forall { case (a, b) => resolver(a, b) }
    }.map(parts.drop)

  /**
   * The columns of the table and of the dimension that are equal, in either order.
   *
   * @throws org.apache.spark.sql.AnalysisException unless it is clear which is which
   */
  def sides(dimension: DimensionTable, clause: JoinClause): (Seq[StructField], Seq[StructField]) = {
    def sides(own: Seq[String], other: Seq[String]) =
      for { column <- inFact(own); key <- inDimension(dimension, other) } yield (column, key)
    val found = (sides(clause.left, clause.right) ++ sides(clause.right, clause.left)).toSeq.distinct
    def equality = s"${quoteNameParts(clause.left)} = ${quoteNameParts(clause.right)}"
    found match {
      case Seq(one) => one
      case Seq()    =>
        Seq(clause.left, clause.right).find(isPartition).foreach(c => throw ZOrderErrors.partitionColumn(c))
        val tables = s"${fact.name} and the other of ${quoteNameParts(dimension.parts)}"
        throw ZOrderErrors.joinCondition(clause.dimension, s"In $equality, no column is one of $tables")
      case _ =>
        val reason = s"In $equality, both tables have both columns, so write the name of its table before each"
        throw ZOrderErrors.joinCondition(clause.dimension, reason)
    }
  }

  private def isPartition(parts: Seq[String]): Boolean =
    fact.partitionSchema.exists(f => meanings(parts, factName).exists(m => m.size == 1 && resolver(f.name, m.head)))

  /** A column of the table in an earlier layout. */
  def column(path: Seq[String]): Seq[StructField] = KeyColumns.find(fact.dataSchema, path, resolver)
    .getOrElse(throw ZOrderErrors.columnNotFound(path, fact.dataSchema.fieldNames.toSeq.map(Seq(_))))

  /** A column of a dimension in an earlier layout. */
  def column(dimension: DimensionTable, path: Seq[String]): Seq[StructField] = dimension.find(path, resolver)
    .getOrElse(throw ZOrderErrors.columnNotFound(
      dimension.parts.last +: path,
      dimension.plan.schema.fieldNames.toSeq.map(Seq(_))
    ))
}
