package org.sparkzorder.stats

import java.math.{BigDecimal => JBigDecimal, BigInteger}

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.execution.vectorized.{OffHeapColumnVector, OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Makes random types, and random values of them in Catalyst's form, including many special values. */
class RandomValues(seed: Long) {
  val random = new Random(seed)

  def pick[T](of: T*): T = of(random.nextInt(of.length))

  def atomicType(): DataType = RandomValues.fixedTypes(random.nextInt(RandomValues.fixedTypes.length)) match {
    case null =>
      val precision = 1 + random.nextInt(38)
      DecimalType(precision, random.nextInt(precision + 1))
    case dt => dt
  }

  def schema(depth: Int = 2): StructType = StructType((0 to random.nextInt(4)).map { i =>
    val dt = random.nextInt(6) match {
      case 0 if depth > 0 => schema(depth - 1)
      case 1 if depth > 0 => ArrayType(IntegerType)
      case _              => atomicType()
    }
    StructField(pick("a", "b.c", "D", "ü") + i, dt)
  })

  /** Columns of atomic types, and of these. A few schemas are wide. */
  def columns(others: DataType*): StructType =
    StructType((0 to random.nextInt(if (random.nextInt(5) == 0) 150 else 12)).map { i =>
      StructField(s"c$i", if (others.nonEmpty && random.nextInt(5) == 0) pick(others: _*) else atomicType())
    })

  def row(schema: StructType): InternalRow =
    new GenericInternalRow(schema.fields.map(f => if (random.nextInt(5) == 0) null else value(f.dataType)))

  def unsafe(schema: StructType, rows: Seq[InternalRow]): Seq[UnsafeRow] = {
    val projection = UnsafeProjection.create(schema)
    rows.map(r => projection(r).copy())
  }

  def value(dt: DataType): Any = dt match {
    case BooleanType                                       => random.nextBoolean()
    case ByteType                                          => long().toByte
    case ShortType                                         => long().toShort
    case IntegerType | DateType | _: YearMonthIntervalType => long().toInt
    case FloatType                                         =>
      val bits = java.lang.Float.intBitsToFloat(random.nextInt())
      val nans = Seq(Float.NaN, java.lang.Float.intBitsToFloat(0xffc00001))
      val ends = Seq(Float.NegativeInfinity, Float.PositiveInfinity, Float.MinPositiveValue)
      pick(nans ++ ends ++ Seq(-0.0f, 0.0f, bits, random.nextInt(5).toFloat - 2): _*)
    case DoubleType =>
      val bits = java.lang.Double.longBitsToDouble(random.nextLong())
      val nans = Seq(Double.NaN, java.lang.Double.longBitsToDouble(-1L))
      val ends = Seq(Double.NegativeInfinity, Double.PositiveInfinity, Double.MinPositiveValue)
      pick(nans ++ ends ++ Seq(-0.0d, 0.0d, bits, random.nextInt(5).toDouble - 2): _*)
    case d: DecimalType =>
      val digits = BigInteger.TEN.pow(1 + random.nextInt(d.precision))
      val unscaled = new BigInteger(130, random.self).mod(digits)
      Decimal(new JBigDecimal(if (random.nextBoolean()) unscaled else unscaled.negate(), d.scale), d.precision, d.scale)
    case _: StringType => UTF8String.fromBytes(bytes())
    case BinaryType    => bytes()
    case a: ArrayType  => new GenericArrayData(several(a.elementType))
    case m: MapType    =>
      val keys = several(m.keyType)
      ArrayBasedMapData(keys, keys.map(_ => value(m.valueType)))
    case s: StructType        => row(s)
    case _: TimeType          => Math.floorMod(long(), 86400000000000L)
    case CalendarIntervalType => new CalendarInterval(random.nextInt(), random.nextInt(), random.nextLong())
    case _                    => long()
  }

  protected def several(dt: DataType): Array[Any] = Array.fill[Any](random.nextInt(4))(value(dt))

  private def long(): Long = {
    val some = Seq(random.nextLong(), random.nextInt(100).toLong - 50, random.nextInt().toLong)
    pick(Seq(0L, -1L, 1L, Long.MinValue, Long.MaxValue) ++ some: _*)
  }

  private def bytes(): Array[Byte] = random.nextInt(6) match {
    case 0 => Array.fill(random.nextInt(3) * 64 + random.nextInt(10))(-1.toByte)
    case 1 => Array.fill(120 + random.nextInt(16))(pick[Byte](97, 98, -1))
    case 2 => "ä\u0000漢𝄞".take(random.nextInt(5)).getBytes("UTF-8")
    case _ =>
      val b = new Array[Byte](random.nextInt(8))
      random.nextBytes(b)
      b
  }
}

object RandomValues {
  val fixedTypes: IndexedSeq[DataType] =
    IndexedSeq(BooleanType, ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DateType) ++
      Seq(TimestampType, TimestampNTZType, DayTimeIntervalType(), YearMonthIntervalType(), StringType, BinaryType) ++
      Seq(TimeType(6), null, null)

  val withoutOrder: Seq[DataType] = Seq(ArrayType(IntegerType), MapType(StringType, StringType), VariantType) ++
    Seq(new StructType().add("a", IntegerType), CalendarIntervalType)

  /** Makes a batch of flat columns from rows. */
  def batchOf(rows: Seq[InternalRow], schema: StructType, onHeap: Boolean): ColumnarBatch = {
    val size = math.max(1, rows.length)
    val vectors: Array[WritableColumnVector] =
      if (onHeap) OnHeapColumnVector.allocateColumns(size, schema).toArray
      else OffHeapColumnVector.allocateColumns(size, schema).toArray
    for { (r, i) <- rows.zipWithIndex; c <- schema.indices } put(vectors(c), i, r, c, schema(c).dataType)
    new ColumnarBatch(vectors.toArray[ColumnVector], rows.length)
  }

  private def put(to: WritableColumnVector, i: Int, row: InternalRow, c: Int, dataType: DataType): Unit =
    if (row.isNullAt(c)) to.putNull(i)
    else dataType match {
      case BooleanType                                       => to.putBoolean(i, row.getBoolean(c))
      case ByteType                                          => to.putByte(i, row.getByte(c))
      case ShortType                                         => to.putShort(i, row.getShort(c))
      case IntegerType | DateType | _: YearMonthIntervalType => to.putInt(i, row.getInt(c))
      case FloatType                                         => to.putFloat(i, row.getFloat(c))
      case DoubleType                                        => to.putDouble(i, row.getDouble(c))
      case StringType                                        => bytes(to, i, row.getUTF8String(c).getBytes)
      case BinaryType                                        => bytes(to, i, row.getBinary(c))
      case d: DecimalType => to.putDecimal(i, row.getDecimal(c, d.precision, d.scale), d.precision)
      case _              => to.putLong(i, row.getLong(c))
    }

  private def bytes(to: WritableColumnVector, i: Int, of: Array[Byte]): Unit = {
    to.putByteArray(i, of, 0, of.length)
    ()
  }
}
