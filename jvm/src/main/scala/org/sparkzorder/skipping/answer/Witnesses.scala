package org.sparkzorder.skipping.answer

import org.sparkzorder.predicate.{BytesValue, LongValue, Value}

/**
 * Rows of a file that come no later than a value, in the order of a query.
 *
 * @param file its place in a list
 * @param rows how many, at least
 * @param bound the value; None if the rows are null, and null comes first
 */
private[answer] final case class Witness(file: Int, rows: Long, bound: Option[Value])

private[answer] object Witnesses {

  /**
   * The files whose rows show that the first rows of a query come no later than some value. It is the last bound of the
   * result. None if there are too few rows.
   *
   * With the bounds in order, the first k rows come no later than the bound of the first file up to which there are k
   * rows: so many rows come no later than it, so a row that comes after it is not among the first k.
   *
   * @param wanted how many rows the query wants
   * @param ascending whether the least value comes first
   */
  def of(wanted: Long, files: Seq[Witness], ascending: Boolean): Option[Seq[Witness]] = {
    val byBound = Ordering.Option(if (ascending) Value.ordering else Value.ordering.reverse)
    val sorted = files.filter(_.rows > 0).sortBy(_.bound)(byBound)
    val until = sorted.iterator.scanLeft(0L)(_ + _.rows).indexWhere(_ >= wanted)
    if (until < 0) None else Some(sorted.take(until))
  }

  /**
   * The rows of a file that come no later than its far bound, if all of its rows count.
   *
   * @param nulls rows that are null; negative if unknown
   * @param nans rows that are NaN, which is the greatest value; negative if unknown
   * @param bound the greatest value if the least comes first, else the least; None without bounds
   */
  def of(file: Int, rows: Long, nulls: Long, nans: Long, bound: Option[Value], order: Order): Option[Witness] =
    if (rows > 0 && nulls == rows) { if (order.nullsFirst) Some(Witness(file, rows, None)) else None }
    else {
      // Values below the greatest one, or above the least one. NaN is above both.
      val after = (if (order.nullsFirst) Seq.empty else Seq(nulls)) ++ (if (order.ascending) Seq(nans) else Nil)
      if (rows <= 0 || after.exists(_ < 0)) None else bound.map(b => Witness(file, rows - after.sum, Some(b)))
    }

  final case class Order(ascending: Boolean, nullsFirst: Boolean)

  def value(encoded: Any): Value = encoded match {
    case long: Long         => LongValue(long)
    case bytes: Array[Byte] => new BytesValue(bytes)
    case other              => throw new IllegalArgumentException(s"neither long nor bytes: $other")
  }
}
