package org.sparkzorder.optimize.options

import java.util.Locale

import org.sparkzorder.errors.ZOrderErrors

/**
 * The options that a statement sets, all of them known and none given twice.
 *
 * @param asGiven the values as text, by key
 * @param formatName format of the table: `parquet` or `orc`
 */
private[sparkzorder] final class OptionValues private (val asGiven: Map[String, String], formatName: String) {

  /** @throws org.apache.spark.sql.AnalysisException when the statement sets a value that is not allowed */
  def apply[T](option: OptionWithoutDefault[T]): Option[T] = valueOf(option)

  /** The same, or the default. */
  def apply[T](option: OptionWithDefault[T]): T = valueOf(option).getOrElse(option.defaultValue)

  private def valueOf[T](option: OptimizeOption[T]): Option[T] = asGiven.get(option.key).map { text =>
    option.valueType.read(text, formatName).getOrElse(
      throw ZOrderErrors.invalidOptionValue(option.key, text, option.valueType.expected(formatName))
    )
  }
}

private[sparkzorder] object OptionValues {

  /**
   * @param asWritten keys, in any case, and values as the statement has them
   * @param known the keys of the statement
   * @throws org.apache.spark.sql.AnalysisException when a key is unknown or is given twice
   */
  def of(asWritten: Seq[(String, String)], formatName: String, known: Seq[String] = OptionTable.keys): OptionValues = {
    val options = asWritten.map { case (key, value) => key.toLowerCase(Locale.ROOT) -> value }
    val keys = options.map(_._1)
    keys.find(!known.contains(_)).foreach(k => throw ZOrderErrors.unknownOption(k, known))
    keys.diff(keys.distinct).headOption.foreach(k => throw ZOrderErrors.duplicateOption(k))
    new OptionValues(options.toMap, formatName)
  }
}
