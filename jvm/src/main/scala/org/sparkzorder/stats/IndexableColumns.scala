package org.sparkzorder.stats

import org.apache.spark.sql.types.{DataType, StructType}

/** What of a schema can have statistics with bounds: its leaves, also those of structs, whose type has an order. */
object IndexableColumns {

  /** All of them, in the schema's order, depth first. */
  def of(schema: StructType): Seq[ColumnKey] = under(Vector.empty, schema)

  private def under(parents: Vector[String], struct: StructType): Seq[ColumnKey] = struct.fields.toVector.flatMap { f =>
    val path = parents :+ f.name
    (f.dataType: DataType) match {
      case inner: StructType => under(path, inner)
      case dt if OrderedValue.encoding(dt).isDefined => Seq(ColumnKey(path, dt))
      case _ => Nil
    }
  }
}
