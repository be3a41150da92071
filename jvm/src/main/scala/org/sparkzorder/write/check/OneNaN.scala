package org.sparkzorder.write.check

import org.apache.spark.sql.catalyst.expressions.{SpecializedGetters, UnsafeArrayData, UnsafeRow}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

import org.sparkzorder.compat._

/**
 * Gives every NaN of a row the same bits. IEEE 754 has many bit patterns for NaN, and processors
 * make several. ORC writes one of them for all, and so do Parquet's dictionaries. No query can tell
 * them apart.
 *
 * @param schema of the fields with which rows begin
 * @param oneZero whether -0.0 becomes 0.0, too. ORC's reader takes a batch of zeros for one repeated
 *   value, since it compares them as numbers. So all of them get the sign of the first one
 */
private[write] final class OneNaN(schema: StructType, oneZero: Boolean) extends Serializable {
  import OneNaN._

  @transient private lazy val fields: Array[Part] = new Visits(oneZero).partsOf(schema)

  /** The row itself if it has no other NaN, else a changed copy. */
  def of(row: UnsafeRow): UnsafeRow =
    if (!any(fields, row, set = false)) row
    else {
      val copy = row.copy()
      any(fields, copy, set = true)
      copy
    }
}

private object OneNaN {
  private val OfDouble = java.lang.Double.doubleToLongBits(Double.NaN)
  private val OfFloat = java.lang.Float.floatToIntBits(Float.NaN)

  /** Finds other NaNs in a value of one type, and replaces them if it is told to. */
  private trait Visit {

    /** @return whether there is one */
    def apply(at: SpecializedGetters, ordinal: Int, set: Boolean): Boolean
  }

  /** A field with floating-point numbers in it. */
  private final case class Part(ordinal: Int, visit: Visit)

  /** Makes the visits of a schema. */
  private final class Visits(oneZero: Boolean) {

    def partsOf(struct: StructType): Array[Part] =
      struct.fields.zipWithIndex.flatMap { case (f, i) => visitOf(f.dataType).map(Part(i, _)) }

    private def visitOf(dataType: DataType): Option[Visit] = dataType match {
      case DoubleType    => Some(doubles)
      case FloatType     => Some(floats)
      case s: StructType => Some(partsOf(s)).filter(_.nonEmpty).map[Visit](struct(_, s.length))
      case a: ArrayType  => visitOf(a.elementType).map[Visit](e => (at, i, set) => elements(at.getArray(i), e, set))
      case m: MapType    =>
        val (keys, values) = (visitOf(m.keyType), visitOf(m.valueType))
        Option.when[Visit](keys.isDefined || values.isDefined)((at, i, set) => {
          val map = at.getMap(i)
          keys.exists(elements(map.keyArray(), _, set)) | values.exists(elements(map.valueArray(), _, set))
        })
      case u: UserDefinedType[_] => visitOf(u.sqlType)
      case _                     => None
    }

    private val doubles: Visit = (at, i, set) => {
      val bits = at.getLong(i)
      val isZero = oneZero && bits == Long.MinValue
      val found = isZero || (bits & Long.MaxValue) > 0x7ff0000000000000L && bits != OfDouble
      val one = if (isZero) 0L else OfDouble
      if (found && set) at match {
        case row: UnsafeRow => row.setLong(i, one)
        case array          => array.asInstanceOf[UnsafeArrayData].setLong(i, one)
      }
      found
    }

    private val floats: Visit = (at, i, set) => {
      val bits = at.getInt(i)
      val isZero = oneZero && bits == Int.MinValue
      val found = isZero || (bits & Int.MaxValue) > 0x7f800000 && bits != OfFloat
      val one = if (isZero) 0 else OfFloat
      if (found && set) at match {
        case row: UnsafeRow => row.setInt(i, one)
        case array          => array.asInstanceOf[UnsafeArrayData].setInt(i, one)
      }
      found
    }
  }

  private def struct(parts: Array[Part], length: Int): Visit = (at, i, set) => any(parts, at.getStruct(i, length), set)

  private def any(parts: Array[Part], at: SpecializedGetters, set: Boolean): Boolean = {
    var found = false
    var p = 0
    while (p < parts.length) {
      val part = parts(p)
      if (!at.isNullAt(part.ordinal)) found |= part.visit(at, part.ordinal, set)
      p += 1
    }
    found
  }

  private def elements(array: ArrayData, visit: Visit, set: Boolean): Boolean = {
    var found = false
    var i = 0
    while (i < array.numElements()) {
      if (!array.isNullAt(i)) found |= visit(array, i, set)
      i += 1
    }
    found
  }
}
