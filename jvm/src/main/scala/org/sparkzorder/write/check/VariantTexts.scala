package org.sparkzorder.write.check

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Cast, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._

import org.sparkzorder.shim.SparkShim.VariantType

/**
 * Replaces variants by their JSON texts. Spark's writer may shred a variant and its reader puts it
 * together again, which keeps the value but not its bytes.
 *
 * @param schema of the rows
 */
private[write] final class VariantTexts(schema: StructType) extends Serializable {

  /** The schema with strings in the place of variants. */
  val texts: StructType = VariantTexts.of(schema).asInstanceOf[StructType]

  val isNeeded: Boolean = texts != schema

  @transient private lazy val projection = UnsafeProjection.create(
    schema.fields.zip(texts.fields).toSeq.zipWithIndex.map { case ((from, to), i) =>
      val value = BoundReference(i, from.dataType, nullable = true)
      if (from.dataType == to.dataType) value else Cast(value, to.dataType, Some("UTC"))
    }
  )

  /** The result is valid until the next call. */
  def of(row: UnsafeRow): UnsafeRow = projection(row)
}

private object VariantTexts {
  private def of(dataType: DataType): DataType = dataType match {
    case VariantType   => StringType
    case s: StructType => StructType(s.map(f => f.copy(dataType = of(f.dataType))))
    case a: ArrayType  => a.copy(elementType = of(a.elementType))
    case m: MapType    => m.copy(keyType = of(m.keyType), valueType = of(m.valueType))
    case other         => other
  }
}
