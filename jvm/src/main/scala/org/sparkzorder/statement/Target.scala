package org.sparkzorder.statement

import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteIfNeeded, quoteNameParts}

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
