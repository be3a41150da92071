package org.sparkzorder.predicate

import org.apache.spark.sql.types._

/** The filters that Spark gives its readers, which leave out parts of files by them. */
private[sparkzorder] object ReaderFilters {

  /**
   * Whether readers compare values of the type in Spark's order, so that they leave out no row that passes. ORC
   * compares strings by UTF-16, a dictionary takes -0.0 and 0.0 for two values, a time in microseconds is cut to the
   * file's milliseconds, and days that the old calendar lacks are pushed as others.
   */
  def areExact(dataType: DataType): Boolean = dataType == IntegerType || dataType == LongType

  /** Whether readers are known to leave out rows that pass, other than those of days before the new calendar. */
  def mayMiss(dataType: DataType, isOrc: Boolean): Boolean = dataType match {
    case FloatType | DoubleType | TimestampType | TimestampNTZType => true
    case _: StringType                                             => isOrc
    case _                                                         => false
  }
}
