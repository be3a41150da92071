package org.sparkzorder.footer

import org.apache.spark.sql.types._

/** Parquet field ids in a Spark schema. */
private[footer] object FieldIds {
  private val key = "parquet.field.id"

  def in(dt: DataType): Boolean = dt match {
    case s: StructType => s.exists(f => f.metadata.contains(key) || in(f.dataType))
    case a: ArrayType  => in(a.elementType)
    case m: MapType    => in(m.keyType) || in(m.valueType)
    case _             => false
  }
}
