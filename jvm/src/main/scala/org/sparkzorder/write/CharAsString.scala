package org.sparkzorder.write

import org.apache.spark.sql.types.{MetadataBuilder, StructType}

/** The schema that Spark notes in Parquet files of tables with CHAR and VARCHAR: these are strings there. */
private[write] object CharAsString {

  /** Spark's key for the type in the table. It is in the metadata of the column, also for fields below it. */
  private val Key = "__CHAR_VARCHAR_TYPE_STRING"

  def of(schema: StructType): StructType = StructType(schema.map { f =>
    if (f.metadata.contains(Key)) f.copy(metadata = new MetadataBuilder().withMetadata(f.metadata).remove(Key).build())
    else f
  })
}
