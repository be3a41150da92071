package org.sparkzorder.footer

import org.apache.spark.sql.types.DataType

/** Digits of a second in the type `TIME(n)`. */
private[footer] object TimePrecision {

  private val name = """time\((\d+)\)""".r

  /** None for other types. By the type's name: Spark 4.0 does not have the class. */
  def of(dataType: DataType): Option[Int] = dataType.typeName match {
    case name(digits) => Some(digits.toInt)
    case _            => None
  }
}
