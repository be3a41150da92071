package org.sparkzorder.statement

import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteNameParts}

/** What a statement is about, as written. */
sealed trait Target {

  /** The target as SQL, for messages. */
  def sql: String
}

/** A table by its name of one to three parts. */
final case class TableTarget(parts: Seq[String]) extends Target {
  def sql: String = quoteNameParts(parts)
}

/** A folder; without a format its files tell it. */
final case class PathTarget(path: String, format: Option[String]) extends Target {
  def sql: String = format.fold(s"'$path'")(f => s"$f.${quoteIdentifier(path)}")
}

object Target {

  /** Formats whose files we rewrite and index. */
  val formats: Seq[String] = Seq("parquet", "orc")

  /** parquet.`path` is a path, absolute or not, as in Spark's own SQL on files; every other name is a table's. */
  def ofParts(parts: Seq[String]): Target = parts match {
    case Seq(format, path) if formats.contains(format.toLowerCase(java.util.Locale.ROOT)) =>
      PathTarget(path, Some(format.toLowerCase(java.util.Locale.ROOT)))
    case _ => TableTarget(parts)
  }
}
