package org.sparkzorder.statement

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteIfNeeded, quoteNameParts}

/** One of our statements, as the user wrote it: names are not resolved, and queries are text. */
sealed trait Statement

/** A statement about one table. If the table is not ours, the next parser gets the text. */
sealed trait TableStatement extends Statement {
  def target: Target
}

/** A statement that table formats such as Delta Lake have, too. */
sealed trait SharedStatement extends TableStatement

final case class OptimizeStatement(
    target: Target,
    full: Boolean,
    where: Option[Predicate],
    layout: Option[LayoutClause],
    options: Seq[(String, String)],
    dryRun: Boolean = false,
    joins: Seq[JoinClause] = Nil
) extends SharedStatement

/**
 * A dimension, by whose attributes rows are placed.
 *
 * @param dimension the parts of its name
 * @param left the parts of the column before the equals sign, which may be a column of either table
 */
final case class JoinClause(dimension: Seq[String], left: Seq[String], right: Seq[String])

sealed trait LayoutClause
object LayoutClause {
  final case class By(curve: String, columns: Seq[WeightedColumn]) extends LayoutClause
  case object Auto extends LayoutClause
}

sealed trait RestorePoint
object RestorePoint {
  final case class Version(number: Long) extends RestorePoint

  /** @param text a timestamp; without a zone it is in the session's time zone */
  final case class Time(text: String) extends RestorePoint
}

/** The parts of a key column's name, and the text of its weight. */
final case class WeightedColumn(parts: Seq[String], weight: Option[String])

/**
 * A column of an index.
 *
 * @param kind how its values are kept for each file, in capitals; None for bounds only
 */
final case class IndexColumn(parts: Seq[String], kind: Option[String])

/** @param all whether the index is of all columns, also of those that are not named */
final case class CreateSkippingIndexStatement(
    target: Target,
    columns: Seq[IndexColumn],
    all: Boolean,
    replace: Boolean
) extends TableStatement
final case class RefreshSkippingIndexStatement(target: Target) extends TableStatement
final case class DropSkippingIndexStatement(target: Target) extends TableStatement
final case class ClearSkippingMemoryStatement(target: Target) extends TableStatement
final case class DescribeSkippingIndexStatement(target: Target, columns: Seq[Seq[String]]) extends TableStatement
final case class DescribeClusteringStatement(target: Target, columns: Seq[Seq[String]]) extends TableStatement
final case class DescribeHistoryStatement(target: Target) extends SharedStatement
final case class DescribeDetailStatement(target: Target) extends SharedStatement
final case class RestoreStatement(target: Target, to: RestorePoint, options: Seq[(String, String)] = Nil)
    extends SharedStatement
final case class VacuumStatement(target: Target, retainHours: Option[String], dryRun: Boolean) extends SharedStatement

/** @param database its name; empty for the current one */
final case class ShowClusteringStatement(database: Seq[String]) extends Statement
case object ShowOperationsStatement extends Statement

/**
 * @param files a row for each file, not for each scan
 * @param analyze whether the query runs
 */
final case class ExplainSkippingStatement(query: String, files: Boolean, analyze: Boolean) extends Statement

/**
 * The predicate of a WHERE.
 *
 * @param text for people: as the user wrote it, or with the values of its parameters
 * @param read reads the predicate with Spark's parser. A statement about a table of others keeps its
 *   text, so its predicate is never read.
 */
final class Predicate(val text: String, read: => Expression) {

  /** What Spark's parser makes of the predicate. Its names are not resolved. */
  lazy val condition: Expression = read
}

/** The table or folder that a statement is about, as the user wrote it. */
sealed trait Target {

  /** The target in SQL, for messages. */
  def sql: String

  /** The target with as few quotes as possible, for Spark's UI and progress bars. */
  def title: String = sql
}

/** A table, by a name with one to three parts. */
final case class TableTarget(parts: Seq[String]) extends Target {
  def sql: String = quoteNameParts(parts)
  override def title: String = parts.map(quoteIfNeeded).mkString(".")
}

/** A folder. If the statement names no format, the files tell it. */
final case class PathTarget(path: String, format: Option[String]) extends Target {
  def sql: String = format.fold(s"'$path'")(f => s"$f.${quoteIdentifier(path)}")
}

object Target {

  /** The file formats that we rewrite and index. */
  val formats: Seq[String] = Seq("parquet", "orc")

  /**
   * As in Spark's SQL on files, parquet.`path` is a path, absolute or relative. Every other name is that of a table.
   */
  def ofParts(parts: Seq[String]): Target = parts match {
    case Seq(format, path) if formats.contains(format.toLowerCase(java.util.Locale.ROOT)) =>
      PathTarget(path, Some(format.toLowerCase(java.util.Locale.ROOT)))
    case _ => TableTarget(parts)
  }
}
