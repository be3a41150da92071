package org.sparkzorder.write.rows

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Rows with values at random, many of them at the ends of their ranges. */
private[rows] object RandomRows {

  /** Types that vectors hold without children. */
  val Flat: Seq[DataType] = Seq(
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    StringType,
    BinaryType,
    DateType,
    TimestampType,
    TimestampNTZType,
    YearMonthIntervalType(),
    DayTimeIntervalType(),
    DecimalType(1, 0),
    DecimalType(9, 2),
    DecimalType(18, 4),
    DecimalType(19, 0),
    DecimalType(38, 10)
  )

  val Nested: Seq[DataType] = Seq(
    ArrayType(IntegerType),
    ArrayType(StringType),
    new StructType().add("a", StringType).add("b", DecimalType(30, 2)),
    MapType(StringType, LongType),
    ArrayType(new StructType().add("a", BinaryType))
  )

  def schema(random: Random, types: Seq[DataType]): StructType = StructType(
    (0 to random.nextInt(if (random.nextInt(5) == 0) 150 else 12))
      .map(i => StructField(s"c$i", types(random.nextInt(types.length))))
  )

  def row(random: Random, schema: StructType): InternalRow =
    InternalRow.fromSeq(schema.map(f => if (random.nextInt(5) == 0) null else value(random, f.dataType)))

  private def long(random: Random): Long = random.nextInt(4) match {
    case 0 => Seq(0L, -1L, Long.MinValue, Long.MaxValue)(random.nextInt(4))
    case 1 => random.nextInt(100).toLong
    case _ => random.nextLong() >> random.nextInt(64)
  }

  private def bytes(random: Random): Array[Byte] = {
    val made = new Array[Byte](if (random.nextInt(30) == 0) random.nextInt(5000) else random.nextInt(20))
    if (random.nextBoolean()) random.nextBytes(made)
    made
  }

  private def value(random: Random, dataType: DataType): Any = dataType match {
    case BooleanType                                       => random.nextBoolean()
    case ByteType                                          => long(random).toByte
    case ShortType                                         => long(random).toShort
    case IntegerType | DateType | _: YearMonthIntervalType => long(random).toInt
    case FloatType      => Seq(0f, -0f, Float.NaN, random.nextFloat(), Float.MinValue)(random.nextInt(5))
    case DoubleType     => Seq(0d, -0d, Double.NaN, random.nextDouble(), Double.MinValue)(random.nextInt(5))
    case StringType     => UTF8String.fromBytes(bytes(random))
    case BinaryType     => bytes(random)
    case d: DecimalType =>
      val most = BigInt(10).pow(d.precision) - 1
      val n = if (random.nextInt(4) == 0) most else BigInt(1 + random.nextInt(most.bitLength), random) % (most + 1)
      Decimal(BigDecimal(if (random.nextBoolean()) n else -n, d.scale), d.precision, d.scale)
    case a: ArrayType  => new GenericArrayData(Array.fill[Any](random.nextInt(4))(value(random, a.elementType)))
    case s: StructType => row(random, s)
    case m: MapType    =>
      val n = random.nextInt(3)
      ArrayBasedMapData(Array.fill[Any](n)(value(random, m.keyType)), Array.fill[Any](n)(value(random, m.valueType)))
    case _ => long(random)
  }
}
