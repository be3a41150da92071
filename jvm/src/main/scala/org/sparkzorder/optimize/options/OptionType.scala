package org.sparkzorder.optimize.options

import java.util.Locale

import org.sparkzorder.compat._
import org.sparkzorder.conf.ByteSizes

/** How users write the value of an option. */
private[sparkzorder] sealed trait OptionType[T] {

  /** The type as the reference page shows it. */
  def name: String

  /** The values that are allowed, as the reference page shows them. */
  def range: String

  /** What an error says was expected. The allowed values of some types depend on the table's format. */
  def expected(formatName: String): String

  /**
   * The value that a text stands for; None if it is not allowed.
   *
   * @param formatName format of the table: `parquet` or `orc`
   */
  def read(text: String, formatName: String): Option[T]

  /** A value as the reference page shows it. */
  def show(value: T): String
}

private[sparkzorder] object OptionType {

  /** Whole numbers from `min` to `max`, both included. */
  final case class WholeNumber[N](min: Long, max: Long)(convert: Long => N) extends OptionType[N] {
    override val name = "whole number"
    override def range: String =
      if (max == Int.MaxValue) s"$min or more" else f"$min%d to $max%,d"
    override def expected(formatName: String): String = s"a whole number from $min to $max"
    override def read(text: String, formatName: String): Option[N] =
      text.trim.toLongOption.filter(n => n >= min && n <= max).map(convert)
    override def show(value: N): String = value.toString
  }

  def int(min: Int, max: Int): WholeNumber[Int] = WholeNumber(min.toLong, max.toLong)(_.toInt)

  def long(min: Long, max: Long): WholeNumber[Long] = WholeNumber(min, max)(identity)

  /** Sizes from `min` to `max` bytes, both included; see [[ByteSizes]]. */
  final case class ByteSize(min: Long, max: Long) extends OptionType[Long] {
    override val name = "size"
    override def range: String =
      if (max == Long.MaxValue) s"${show(min)} or more" else s"${show(min)} or more, less than ${show(max + 1)}"
    override def expected(formatName: String): String =
      s"a whole number of bytes from $min to $max, or a size such as '128MB'"
    override def read(text: String, formatName: String): Option[Long] =
      ByteSizes.parse(text).filter(n => n >= min && n <= max)
    override def show(value: Long): String = ByteSizes.show(value)
  }

  case object TrueOrFalse extends OptionType[Boolean] {
    override val name = "boolean"
    override val range = "`true` or `false`"
    override def expected(formatName: String): String = "true or false"
    override def read(text: String, formatName: String): Option[Boolean] =
      text.trim.toLowerCase(Locale.ROOT).toBooleanOption
    override def show(value: Boolean): String = s"`$value`"
  }

  /** One of these words, in any case. */
  final case class OneOf(words: String*) extends OptionType[String] {
    override val name = "word"
    override def range: String = words.map(w => s"`$w`").mkString(" or ")
    override def expected(formatName: String): String = words.map(w => s"'$w'").mkString(" or ")
    override def read(text: String, formatName: String): Option[String] =
      Some(text.trim.toLowerCase(Locale.ROOT)).filter(words.contains(_))
    override def show(value: String): String = s"`$value`"
  }

  /** One of the words that the table's format allows, in any case. */
  final case class WordOfFormat(allowed: Seq[(String, Seq[String])]) extends OptionType[String] {
    override val name = "word"
    override def range: String =
      allowed.map { case (format, words) => s"$format: ${words.map(w => s"`$w`").mkString(", ")}" }.mkString("; ")
    override def expected(formatName: String): String = wordsOf(formatName).mkString("one of ", ", ", "")
    override def read(text: String, formatName: String): Option[String] =
      Some(text.trim.toLowerCase(Locale.ROOT)).filter(wordsOf(formatName).contains)
    override def show(value: String): String = s"`$value`"

    private def wordsOf(formatName: String): Seq[String] = allowed.toMap.apply(formatName)
  }

  /** Names of columns. Only the table can tell whether they are right, so every text is let through here. */
  final case class ColumnNames(range: String) extends OptionType[String] {
    override val name = "column names"
    override def expected(formatName: String): String = "names of columns with commas between them, auto or none"
    override def read(text: String, formatName: String): Option[String] = Some(text)
    override def show(value: String): String = s"`$value`"
  }
}

/**
 * An option of OPTIMIZE or RESTORE. Parsing, error messages, the reference page and Python all read it from here.
 *
 * @param group the heading under which the reference page lists it
 * @param valueType how users write its value, and which values are allowed
 * @param default what holds when a statement does not set it, as the reference page shows it
 * @param description for users: what the option does, in a sentence or two
 * @param example a value as a user would write it
 */
private[sparkzorder] sealed abstract class OptimizeOption[T](
    val key: String,
    val group: String,
    val valueType: OptionType[T],
    val default: String,
    val description: String,
    val example: String
)

/** An option whose default depends on the table or on other options. */
private[sparkzorder] final class OptionWithoutDefault[T](key: String, group: String, valueType: OptionType[T])(
    default: String,
    description: String,
    example: String
) extends OptimizeOption[T](key, group, valueType, default, description, example)

/** An option that always has the same default. */
private[sparkzorder] final class OptionWithDefault[T](key: String, group: String, valueType: OptionType[T])(
    val defaultValue: T,
    description: String,
    example: String
) extends OptimizeOption[T](key, group, valueType, valueType.show(defaultValue), description, example)
