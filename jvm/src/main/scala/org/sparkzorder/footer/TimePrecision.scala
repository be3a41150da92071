package org.sparkzorder.footer

import org.apache.spark.sql.types.DataType

/** The digits of a second that the type `TIME(n)` keeps. */
private[footer] object TimePrecision {

  private val name = """time\((\d+)\)""".r

  /** None for other types. The type's name decides, since Spark 4.0 does not have the class. */
  def of(dataType: DataType): Option[Int] = dataType.typeName match {
    case name(digits) => Some(digits.toInt)
    case _            => None
  }
}
