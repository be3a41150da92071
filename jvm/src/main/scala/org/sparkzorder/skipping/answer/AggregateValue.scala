package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import org.sparkzorder.predicate.{Column, Evaluation, Outcomes, StatsPredicate}
import org.sparkzorder.stats.{BytesStatsColumn, LongStatsColumn, OrderedValue, StatsTable}

/** What an aggregate function gives for the rows of a file. */
private[answer] sealed trait AggregateValue {
  def dataType: DataType

  /** Of a group without rows. */
  def empty: Any

  /** The value for the rows of two files, from the values for each. */
  def merge(a: Any, b: Any): Any
}

/** `count` of the rows that count; with a column, of those in which it is not null. */
private[answer] final case class Count(where: StatsPredicate, column: Option[Column]) extends AggregateValue {
  override def dataType: DataType = LongType
  override def empty: Any = 0L
  override def merge(a: Any, b: Any): Any = a.asInstanceOf[Long] + b.asInstanceOf[Long]
}

/** `min` or `max` of a column of the files, or of a partition column by its ordinal, in the rows that count. */
private[answer] final case class MinOrMax(
    of: Either[Column, Int],
    isMin: Boolean,
    where: StatsPredicate,
    dataType: DataType
) extends AggregateValue {
  private lazy val order = TypeUtils.getInterpretedOrdering(dataType)
  override def empty: Any = null
  override def merge(a: Any, b: Any): Any =
    if (a == null) b else if (b == null) a else if (order.lteq(a, b) == isMin) a else b
}

private[answer] object AggregateValue {

  /** The value is not known without reading the file. */
  object Unknown

  /** The value of a measure for a file, by the file's ordinal in the index and its partition's values. */
  type OfFile = (Int, InternalRow) => Any

  def values(measure: AggregateValue, table: StatsTable): OfFile = measure match {
    case Count(_, Some(column)) =>
      table.column(column.path, column.dataType).fold[OfFile]((_, _) => Unknown) { c => (i, _) =>
        if (c.nullCounts(i) < 0) Unknown else table.rows(i) - c.nullCounts(i)
      }
    case Count(where, None)             => counting(where, table, 0L)((i, _) => table.rows(i))
    case MinOrMax(Left(c), isMin, p, _) => counting(p, table, null)(bound(c, isMin, table))
    case MinOrMax(Right(i), _, p, dt)   => counting(p, table, null)((_, values) => values.get(i, dt))
  }

  /** @param empty the value of a file in which no row counts */
  private def counting(where: StatsPredicate, table: StatsTable, empty: Any)(values: OfFile): OfFile = {
    val outcomes = Evaluation.outcomes(where, table)
    (i, partition) =>
      if ((outcomes(i) & Outcomes.True) == 0) empty
      else if (outcomes(i) == Outcomes.True) values(i, partition)
      else Unknown
  }

  /**
   * A bound is a value of the file for all types of [[hasExactBounds]]. That is not so for strings, which writers cut.
   * Of floating point the bound says nothing about NaN and the sign of a zero.
   */
  private def bound(column: Column, isMin: Boolean, table: StatsTable): OfFile =
    table.column(column.path, column.dataType).fold[OfFile]((_, _) => Unknown) { c =>
      val encoded: Int => Any = c match {
        case l: LongStatsColumn  => i => if (isMin) l.min(i) else l.max(i)
        case b: BytesStatsColumn => i => if (isMin) b.min(i) else b.max(i)
      }
      def isKnown(i: Int) = !OrderedValue.hasNaN(column.dataType) ||
        (c.nanCounts != null && c.nanCounts(i) == 0 && encoded(i) != Zero)
      (i, _) =>
        if (c.nullCounts(i) == table.rows(i)) null
        else if (c.bounded.get(i) && isKnown(i)) OrderedValue.decode(column.dataType, encoded(i))
        else Unknown
    }

  private val Zero = OrderedValue.ofDouble(0.0)

  def hasExactBounds(dt: DataType): Boolean = dt match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType => true
    case DateType | TimestampType | TimestampNTZType                                          => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType                                    => true
    case d: DecimalType => OrderedValue.encoding(d).isDefined
    case _              => false
  }
}
