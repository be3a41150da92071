package org.sparkzorder.write

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, MetadataBuilder, StructType}

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

/** The schema that Spark notes in Parquet files of tables with CHAR and VARCHAR: these are strings there. */
private[write] object CharAsString {

  /** Spark's key for the type in the table. It is in the metadata of the column, also for fields below it. */
  private val Key = "__CHAR_VARCHAR_TYPE_STRING"

  def of(schema: StructType): StructType = StructType(schema.map { f =>
    if (f.metadata.contains(Key)) f.copy(metadata = new MetadataBuilder().withMetadata(f.metadata).remove(Key).build())
    else f
  })
}
