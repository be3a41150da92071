package org.sparkzorder.predicate

import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

/** The filters that Spark gives its readers, which leave out parts of files by them. */
private[sparkzorder] object ReaderFilters {

  /**
   * Whether readers compare values of the type in Spark's order, so that they leave out no row that passes. ORC compares
   * strings by UTF-16, a dictionary takes -0.0 and 0.0 for two values, a time in microseconds is cut to the file's
   * milliseconds, and days that the old calendar lacks are pushed as others.
   */
  def areExact(dataType: DataType): Boolean = dataType match {
    case IntegerType | LongType => true
    case _                      => false
  }
}
