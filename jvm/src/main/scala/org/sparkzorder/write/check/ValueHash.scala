package org.sparkzorder.write.check

import java.lang.Double.doubleToLongBits
import java.lang.Float.floatToIntBits

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Cast, SpecializedGetters}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray}
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.shim.SparkShim.VariantType
import org.sparkzorder.write.ByteWords

/** Makes 64 bits of a value of one type, wherever it is: in a row, in an array, or in a batch of columns. */
private[check] abstract class ValueHash extends Serializable {

  def of(at: SpecializedGetters, i: Int): Long

  /** Adds those of a column to the hashes of the rows, mixed with a number of the column. */
  def addAll(from: ColumnVector, seed: Long, to: Array[Long]): Unit = {
    val values = new ColumnarArray(from, 0, to.length)
    var i = 0
    while (i < to.length) {
      if (!values.isNullAt(i)) to(i) += ValueHash.mix(of(values, i), seed)
      i += 1
    }
  }
}

private[check] object ValueHash {
  private val Prime1 = 0x9e3779b185ebca87L
  private val Prime2 = 0xc2b2ae3d27d4eb4fL

  /** Some bits of a value, in a column with this number. Its highest bit, too, changes bits at many places. */
  def mix(bits: Long, seed: Long): Long = {
    val h = (bits ^ seed) * Prime1
    val g = (h ^ h >>> 32) * Prime2
    g ^ g >>> 29
  }
}

/**
 * The hash of each type. A number has the bits of its word in an unsafe row.
 *
 * IEEE 754 has many bit patterns for NaN, and processors make several. ORC writes one of them for all, and so do
 * Parquet's dictionaries. No query can tell them apart, so all of them are one value here.
 *
 * @param oneZero whether -0.0 is 0.0, too. ORC's reader takes a batch of zeros for one repeated value, since it
 *   compares them as numbers. So all of them get the sign of the first one
 */
private[check] final class ValueHashes(oneZero: Boolean) extends Serializable {
  import ValueHashes._

  /** None for types that are hashed by their bytes in unsafe rows. */
  def of(dataType: DataType): Option[ValueHash] = dataType match {
    case BooleanType                                       => some((at, i) => if (at.getBoolean(i)) 1L else 0L)
    case ByteType                                          => some((at, i) => at.getByte(i) & 0xffL)
    case ShortType                                         => some((at, i) => at.getShort(i) & 0xffffL)
    case IntegerType | DateType | _: YearMonthIntervalType => Some(new Ints(0xffffffffL))
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => Some(Longs)
    case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS             => Some(new Decimals(d))
    case d: DecimalType                                                       =>
      some((at, i) => bytes(at.getDecimal(i, d.precision, d.scale).toJavaBigDecimal.unscaledValue.toByteArray))
    case _: StringType => Some(new Texts)
    case BinaryType    => some((at, i) => bytes(at.getBinary(i)))
    case FloatType     => some { (at, i) =>
        val v = at.getFloat(i)
        if (oneZero && v == 0) 0L else floatToIntBits(v) & 0xffffffffL
      }
    case DoubleType => some { (at, i) =>
        val v = at.getDouble(i)
        if (oneZero && v == 0) 0L else doubleToLongBits(v)
      }
    case s: StructType =>
      val parts = s.fields.map(f => of(f.dataType))
      if (parts.forall(_.isDefined)) Some(new Struct(parts.flatten)) else None
    case a: ArrayType => of(a.elementType).map[ValueHash](e => (at, i) => elements(at.getArray(i), e))
    case m: MapType   =>
      of(m.keyType).flatMap(k =>
        of(m.valueType).map[ValueHash](v =>
          (at, i) => {
            val map = at.getMap(i)
            ByteWords.step(elements(map.keyArray(), k), elements(map.valueArray(), v))
          }
        )
      )
    case u: UserDefinedType[_] => of(u.sqlType)
    case VariantType           => Some(new Variants)
    case _                     => None
  }
}

private object ValueHashes {
  private def some(hash: ValueHash): Option[ValueHash] = Some(hash)

  private def bytes(of: Array[Byte]): Long = ByteWords.hash(of, BYTE_ARRAY_OFFSET.toLong, of.length)

  private def elements(array: ArrayData, of: ValueHash): Long = {
    var h = array.numElements().toLong
    var i = 0
    while (i < array.numElements()) {
      h = ByteWords.step(h, if (array.isNullAt(i)) OfNull else of.of(array, i))
      i += 1
    }
    h
  }

  /** Of a null in a struct or an array: some bits. */
  private val OfNull = 0x52dce729da3ed9b4L

  private final class Struct(parts: Array[ValueHash]) extends ValueHash {
    override def of(at: SpecializedGetters, i: Int): Long = {
      val struct = at.getStruct(i, parts.length)
      var h = 0L
      var p = 0
      while (p < parts.length) {
        h = ByteWords.step(h, if (struct.isNullAt(p)) OfNull else parts(p).of(struct, p))
        p += 1
      }
      h
    }
  }

  /** By their JSON texts: Spark takes a variant apart, and puts it together again, which may change its bytes. */
  private final class Variants extends ValueHash {
    private val text = Cast(BoundReference(0, VariantType, nullable = true), StringType, Some("UTC"))

    override def of(at: SpecializedGetters, i: Int): Long = text.eval(InternalRow(at.get(i, VariantType))) match {
      case v: UTF8String => ByteWords.hash(v.getBaseObject, v.getBaseOffset, v.numBytes)
      case _             => OfNull
    }
  }

  // The usual types have loops of their own, in which the compiler knows what is called.

  /** @param bits of the number that count */
  private final class Ints(bits: Long) extends ValueHash {
    override def of(at: SpecializedGetters, i: Int): Long = at.getInt(i) & bits
    override def addAll(from: ColumnVector, seed: Long, to: Array[Long]): Unit = {
      var i = 0
      while (i < to.length) {
        if (!from.isNullAt(i)) to(i) += ValueHash.mix(from.getInt(i) & bits, seed)
        i += 1
      }
    }
  }

  private object Longs extends ValueHash {
    override def of(at: SpecializedGetters, i: Int): Long = at.getLong(i)
    override def addAll(from: ColumnVector, seed: Long, to: Array[Long]): Unit = {
      var i = 0
      while (i < to.length) {
        if (!from.isNullAt(i)) to(i) += ValueHash.mix(from.getLong(i), seed)
        i += 1
      }
    }
  }

  /** Spark's own vectors have the unscaled numbers. */
  private final class Decimals(dataType: DecimalType) extends ValueHash {
    private val ints = new Ints(-1L)

    override def of(at: SpecializedGetters, i: Int): Long =
      at.getDecimal(i, dataType.precision, dataType.scale).toUnscaledLong

    override def addAll(from: ColumnVector, seed: Long, to: Array[Long]): Unit = from match {
      case _: WritableColumnVector if dataType.precision <= Decimal.MAX_INT_DIGITS => ints.addAll(from, seed, to)
      case _: WritableColumnVector                                                 => Longs.addAll(from, seed, to)
      case _                                                                       => super.addAll(from, seed, to)
    }
  }

  /** Texts with a small number in a dictionary are hashed once for each batch. */
  private final class Texts extends ValueHash {
    @transient private lazy val known = new Array[Long](1 << 14)

    override def of(at: SpecializedGetters, i: Int): Long = hash(at.getUTF8String(i))

    private def hash(v: UTF8String): Long = ByteWords.hash(v.getBaseObject, v.getBaseOffset, v.numBytes)

    override def addAll(from: ColumnVector, seed: Long, to: Array[Long]): Unit = {
      val numbers = from match {
        case w: WritableColumnVector if w.hasDictionary => w.getDictionaryIds
        case _                                          => null
      }
      if (numbers != null) java.util.Arrays.fill(known, 0L)
      var i = 0
      while (i < to.length) {
        if (!from.isNullAt(i)) {
          val number = if (numbers == null) known.length else numbers.getDictId(i)
          if (number >= known.length) to(i) += ValueHash.mix(hash(from.getUTF8String(i)), seed)
          else {
            if (known(number) == 0) known(number) = ValueHash.mix(hash(from.getUTF8String(i)), seed)
            to(i) += known(number)
          }
        }
        i += 1
      }
    }
  }
}
