package org.sparkzorder.shim

import org.apache.spark.sql.types.StructType

/** What Spark 4.0 adds to its parser. */
trait ParserShim extends DelegatingParser {
  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
