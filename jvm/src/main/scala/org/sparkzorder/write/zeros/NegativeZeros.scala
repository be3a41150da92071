package org.sparkzorder.write.zeros

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.types._

/**
 * Notes which FLOAT and DOUBLE values of some rows are ever a zero, at any depth. Not thread-safe.
 *
 * In SQL -0.0 equals 0.0, but their bits differ. So a reader that looks for the bits of 0.0 in a
 * dictionary or a Bloom filter loses the rows with -0.0.
 *
 * @param schema of the fields with which rows begin
 */
private[write] final class NegativeZeros(schema: StructType) {
  import NegativeZeros._

  private val leaves = FloatLeaf.of(schema).length
  private val negative, any = new Array[Boolean](leaves)
  private val probes = new Compiler(negative, any).ofFields(schema)

  /** What was found so far. */
  def found: ZerosFound = ZerosFound(negative.toIndexedSeq, any.toIndexedSeq)

  def add(row: InternalRow): Unit = look(probes, row)
}

private[write] object NegativeZeros {

  private def look(probes: Array[Probe], values: SpecializedGetters): Unit = {
    var i = 0
    while (i < probes.length) {
      val probe = probes(i)
      if (!values.isNullAt(probe.ordinal)) probe.look(values, probe.ordinal)
      i += 1
    }
  }

  /** Looks at one field of a struct, or at each element of an array. */
  private abstract class Probe(val ordinal: Int) {

    /** Looks at a value that is not null. */
    def look(values: SpecializedGetters, at: Int): Unit

    final def lookAtAll(array: org.apache.spark.sql.catalyst.util.ArrayData): Unit = {
      var i = 0
      while (i < array.numElements()) {
        if (!array.isNullAt(i)) look(array, i)
        i += 1
      }
    }
  }

  /** Makes the probes of a schema, with none for what has no FLOAT or DOUBLE. */
  private final class Compiler(negative: Array[Boolean], any: Array[Boolean]) {
    private var leaves = 0

    def ofFields(schema: StructType): Array[Probe] =
      schema.fields.zipWithIndex.flatMap { case (f, i) => of(f.dataType, i) }

    private def of(dataType: DataType, ordinal: Int): Option[Probe] = dataType match {
      case FloatType     => Some(new OfFloat(ordinal, nextLeaf(), negative, any))
      case DoubleType    => Some(new OfDouble(ordinal, nextLeaf(), negative, any))
      case s: StructType =>
        val fields = ofFields(s)
        if (fields.isEmpty) None else Some(new OfStruct(ordinal, s.length, fields))
      case a: ArrayType => of(a.elementType, 0).map(new OfArray(ordinal, _))
      case m: MapType   =>
        val (keys, values) = (of(m.keyType, 0), of(m.valueType, 0))
        if (keys.isEmpty && values.isEmpty) None else Some(new OfMap(ordinal, keys, values))
      case u: UserDefinedType[_] => of(u.sqlType, ordinal)
      case _                     => None
    }

    private def nextLeaf(): Int = {
      leaves += 1
      leaves - 1
    }
  }

  private final class OfFloat(ordinal: Int, leaf: Int, negative: Array[Boolean], any: Array[Boolean])
      extends Probe(ordinal) {
    override def look(values: SpecializedGetters, at: Int): Unit = {
      val x = values.getFloat(at)
      if (x == 0.0f) {
        any(leaf) = true
        if (java.lang.Float.floatToRawIntBits(x) != 0) negative(leaf) = true
      }
    }
  }

  private final class OfDouble(ordinal: Int, leaf: Int, negative: Array[Boolean], any: Array[Boolean])
      extends Probe(ordinal) {
    override def look(values: SpecializedGetters, at: Int): Unit = {
      val x = values.getDouble(at)
      if (x == 0.0) {
        any(leaf) = true
        if (java.lang.Double.doubleToRawLongBits(x) != 0L) negative(leaf) = true
      }
    }
  }

  private final class OfStruct(ordinal: Int, size: Int, fields: Array[Probe]) extends Probe(ordinal) {
    override def look(values: SpecializedGetters, at: Int): Unit =
      NegativeZeros.look(fields, values.getStruct(at, size))
  }

  private final class OfArray(ordinal: Int, element: Probe) extends Probe(ordinal) {
    override def look(values: SpecializedGetters, at: Int): Unit = element.lookAtAll(values.getArray(at))
  }

  private final class OfMap(ordinal: Int, keys: Option[Probe], values: Option[Probe]) extends Probe(ordinal) {
    override def look(in: SpecializedGetters, at: Int): Unit = {
      val map = in.getMap(at)
      keys.foreach(_.lookAtAll(map.keyArray()))
      values.foreach(_.lookAtAll(map.valueArray()))
    }
  }
}

/**
 * Which leaves have zeros, in the order of [[FloatLeaf.of]].
 *
 * @param negative whether one is -0.0
 * @param any whether there is one of either sign
 */
private[write] final case class ZerosFound(negative: IndexedSeq[Boolean], any: IndexedSeq[Boolean])

/**
 * The place of a FLOAT or DOUBLE value in a schema.
 *
 * @param inStructs whether only structs are above it, so that a filter can name it
 */
private[write] final case class FloatLeaf(inStructs: Boolean)

private[write] object FloatLeaf {

  /** All of a schema, depth first. */
  def of(dataType: DataType, inStructs: Boolean = true): IndexedSeq[FloatLeaf] = dataType match {
    case FloatType | DoubleType => IndexedSeq(FloatLeaf(inStructs))
    case s: StructType          => s.fields.toIndexedSeq.flatMap(f => of(f.dataType, inStructs))
    case a: ArrayType           => of(a.elementType, inStructs = false)
    case m: MapType             => of(m.keyType, inStructs = false) ++ of(m.valueType, inStructs = false)
    case u: UserDefinedType[_]  => of(u.sqlType, inStructs)
    case _                      => IndexedSeq.empty
  }
}
