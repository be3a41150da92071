package org.sparkzorder.write

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}

/** A schema with every column, field and element nullable, whatever the files declare as required. */
object NullableSchema {

  def of(schema: StructType): StructType = nullableType(schema).asInstanceOf[StructType]

  private def nullableType(dataType: DataType): DataType = dataType match {
    case s: StructType => StructType(s.map(f => f.copy(dataType = nullableType(f.dataType), nullable = true)))
    case a: ArrayType  => ArrayType(nullableType(a.elementType), containsNull = true)
    case m: MapType    => MapType(nullableType(m.keyType), nullableType(m.valueType), valueContainsNull = true)
    case other         => other
  }
}
