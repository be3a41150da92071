package org.sparkzorder.stats

import org.apache.spark.sql.types.{DataType, StructType}

/** The columns of a schema that can have statistics. */
object IndexableColumns {

  /**
   * The columns that can have bounds: leaves, also those of structs, whose type has an order. They
   * are in the schema's order, depth first.
   */
  def of(schema: StructType): Seq[ColumnKey] = all(schema).filter(c => OrderedValue.encoding(c.dataType).isDefined)

  /**
   * The columns of [[of]] and also arrays, maps, structs and leaves without order, of which only
   * nulls are counted.
   */
  def all(schema: StructType): Seq[ColumnKey] = under(Vector.empty, schema)

  private def under(parents: Vector[String], struct: StructType): Seq[ColumnKey] = struct.fields.toVector.flatMap { f =>
    val key = ColumnKey(parents :+ f.name, f.dataType)
    (f.dataType: DataType) match {
      case inner: StructType => key +: under(parents :+ f.name, inner)
      case _                 => Vector(key)
    }
  }
}
