package org.sparkzorder.write.orc

import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types.{Decimal, DecimalType}

private[write] final class OrcBoolean(vector: LongColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = if (values.getBoolean(ordinal)) 1L else 0L
}

private[write] final class OrcByte(vector: LongColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = values.getByte(ordinal).toLong
}

private[write] final class OrcShort(vector: LongColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = values.getShort(ordinal).toLong
}

private[write] final class OrcInt(vector: LongColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = values.getInt(ordinal).toLong
}

private[write] final class OrcLong(vector: LongColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = values.getLong(ordinal)
}

private[write] final class OrcFloat(vector: DoubleColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = values.getFloat(ordinal).toDouble
}

private[write] final class OrcDouble(vector: DoubleColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    vector.vector(i) = values.getDouble(ordinal)
}

private[write] final class OrcDecimal(vector: DecimalColumnVector, t: DecimalType) extends OrcColumn(vector) {
  private val isLong = t.precision <= Decimal.MAX_LONG_DIGITS

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val decimal = values.getDecimal(ordinal, t.precision, t.scale)
    if (isLong) vector.vector(i).setFromLongAndScale(decimal.toUnscaledLong, t.scale)
    else vector.vector(i).set(HiveDecimal.create(decimal.toJavaBigDecimal))
  }
}
