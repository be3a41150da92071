package org.sparkzorder.optimize

import java.util.Locale

/** Sizes as people write them: `134217728`, `128MB`, `1 GiB`, `512k`. All units are powers of 1024, as Spark's are. */
private[sparkzorder] object ByteSizes {

  private val size = """(\d+(?:\.\d+)?)\s*([a-z]*)""".r

  private val units = Seq("b", "k", "m", "g", "t", "p")

  /** Whole bytes; None for what is no size, or has more bytes than a long. */
  def parse(text: String): Option[Long] = text.trim.toLowerCase(Locale.ROOT) match {
    case size(number, "" | "byte" | "bytes") => number.toLongOption
    case size(number, unit)                  =>
      power(unit).map(p => BigDecimal(number) * BigDecimal(1024).pow(p)).filter(_.isValidLong).map(_.toLong)
    case _ => None
  }

  private def power(unit: String): Option[Int] =
    Some(units.indexWhere(u => unit == u || (u != "b" && (unit == s"${u}b" || unit == s"${u}ib")))).filter(_ >= 0)
}
