package org.sparkzorder.conf

import java.util.Locale

import org.sparkzorder.compat._

/** Sizes as people write them: `134217728`, `128MB`, `1 GiB`, `512k`. As in Spark, all units are powers of 1024. */
private[sparkzorder] object ByteSizes {

  private val size = """(\d+(?:\.\d+)?)\s*([a-z]*)""".r

  private val units = Seq("b", "k", "m", "g", "t", "p")

  /** The size in whole bytes; None if the text is not a size, or if a Long cannot hold the bytes. */
  def parse(text: String): Option[Long] = text.trim.toLowerCase(Locale.ROOT) match {
    case size(number, "" | "byte" | "bytes") => number.toLongOption
    case size(number, unit)                  =>
      power(unit).map(p => BigDecimal(number) * BigDecimal(1024).pow(p)).filter(_.isValidLong).map(_.toLong)
    case _ => None
  }

  /** The size with the largest unit in which it is a whole number, such as `256 MiB`. */
  def show(bytes: Long): String = {
    val power = (units.size - 1 to 1 by -1).find(p => bytes > 0 && bytes % (1L << (10 * p)) == 0).getOrElse(0)
    if (power > 0) s"${bytes >> (10 * power)} ${units(power).toUpperCase(Locale.ROOT)}iB"
    else if (bytes == 1) "1 byte"
    else s"$bytes bytes"
  }

  /** The size for people, such as `1.2 GiB` or `602 B`. */
  def rounded(bytes: Long): String = {
    val power = if (bytes < 1024) 0 else math.min(units.size - 1, (math.log(bytes.toDouble) / math.log(1024)).toInt)
    if (power == 0) s"$bytes B"
    else s"${"%.1f".formatLocal(Locale.ROOT, bytes / math.pow(1024, power))} ${units(power).toUpperCase(Locale.ROOT)}iB"
  }

  private def power(unit: String): Option[Int] =
    Some(units.indexWhere(u => unit == u || (u != "b" && (unit == s"${u}b" || unit == s"${u}ib")))).filter(_ >= 0)
}
