package org.sparkzorder.write.orc

import org.apache.hadoop.hive.ql.exec.vector.ColumnVector
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

/** Puts Spark's values of one type into the vector of an ORC column, field or element. */
private[write] abstract class OrcColumn(vector: ColumnVector) {

  /** Puts the value with this ordinal, which may be null, into position `i` of the vector. */
  final def set(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    if (values.isNullAt(ordinal)) {
      vector.noNulls = false
      vector.isNull(i) = true
    } else put(values, ordinal, i)

  /** As [[set]], for a value that is not null. */
  protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit
}
