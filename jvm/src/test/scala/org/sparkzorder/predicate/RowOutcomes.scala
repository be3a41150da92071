package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression

/** What Spark's own evaluation of a condition gives for rows. */
object RowOutcomes {

  /** None if Spark throws: an error is no outcome. */
  def evaluated(e: Expression, row: InternalRow): Option[Any] =
    try Some(e.eval(row))
    catch {
      case _: ArithmeticException | _: org.apache.spark.SparkThrowable | _: java.time.DateTimeException => None
    }

  /** The outcomes of the rows for which it does not throw, one mask for each. */
  def of(condition: Expression, rows: Seq[InternalRow]): Seq[Int] = rows.flatMap(evaluated(condition, _)).map {
    case null => Outcomes.Null
    case true => Outcomes.True
    case _    => Outcomes.False
  }
}
