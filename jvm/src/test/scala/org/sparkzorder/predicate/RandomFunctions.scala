package org.sparkzorder.predicate

import java.time.ZoneId

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Makes nested functions of a column, and values at which they behave in an unusual way. */
final class RandomFunctions(override protected val random: Random) extends Choices {
  import RandomFunctions._

  private def zone(): Option[String] = Some(one(zones))

  /** A function of `argument`, of one to three steps. */
  def function(argument: Expression): Expression = Iterator.iterate(argument)(step).drop(1 + random.nextInt(3)).next()

  private def step(x: Expression): Expression = x.dataType match {
    case ByteType | ShortType | IntegerType | LongType =>
      val c = Literal(value(x.dataType), x.dataType)
      val wider = integers.drop(integers.indexOf(x.dataType) + 1) ++ Seq(DoubleType, FloatType, DecimalType(25, 2))
      val sums = Seq(new Add(x, c), new Add(c, x), new Subtract(x, c), new Subtract(c, x), new UnaryMinus(x))
      one(sums :+ Cast(x, one(wider)))
    case FloatType | DoubleType =>
      val c = Literal(value(x.dataType), x.dataType)
      val sums = Seq(new Add(x, c), new Subtract(x, c), new Subtract(c, x), new UnaryMinus(x))
      one(if (x.dataType == FloatType) sums :+ Cast(x, DoubleType) else sums)
    case d: DecimalType =>
      val c = Literal(value(DecimalType(9, 3)), DecimalType(9, 3))
      if (d.precision > 30) new UnaryMinus(x)
      else
        one(Seq(new Add(x, c), new Subtract(x, c), new Subtract(c, x), new UnaryMinus(x), Cast(x, DecimalType(38, 6))))
    case DateType =>
      val n = Literal(one(Seq(0, 1, -1, 30, -400, Int.MaxValue, Int.MinValue, random.nextInt(100000))))
      val casts = Seq(Cast(x, TimestampType, zone()), Cast(x, TimestampNTZType))
      one(Seq(Year(x), TruncDate(x, unit()), TruncDate(x, unit()), DateAdd(x, n), DateSub(x, n)) ++ casts)
    case TimestampType =>
      one(Seq(Cast(x, DateType, zone()), TruncTimestamp(unit(), x, zone()), TruncTimestamp(unit(), x, zone())))
    case TimestampNTZType            => one(Seq(Cast(x, DateType), Cast(x, TimestampType, zone())))
    case _ if random.nextInt(3) == 0 =>
      val arguments = Seq(x, Literal(one(Seq(1, 2, 3, 4))))
      StaticInvoke(classOf[CharVarcharCodegenUtils], StringType, "readSidePadding", arguments)
    case _ => Substring(x, Literal(random.nextInt(2)), Literal(one(Seq(1, 1, 2, 2, 3, Int.MaxValue))))
  }

  private def unit() = Literal(UTF8String.fromString(one(units)), StringType)

  /** A value of a type, often near its ends or where a zone's clock jumps. */
  def value(dataType: DataType): Any = dataType match {
    case ByteType  => random.nextInt().toByte
    case ShortType =>
      one(Seq(Short.MinValue, Short.MaxValue, (random.nextInt(20) - 10).toShort, random.nextInt().toShort))
    case IntegerType => near(one(Seq(0, 0, Int.MinValue, Int.MaxValue, random.nextInt())).toLong).toInt
    case LongType    => near(one(Seq(0L, 0L, Long.MinValue, Long.MaxValue, random.nextLong(), 1L << 53)))
    case FloatType   => one(Seq(value(DoubleType).asInstanceOf[Double].toFloat, Float.MaxValue, Float.MinPositiveValue))
    case DoubleType  => one(doubles :+ random.nextGaussian())
    case d: DecimalType =>
      val digits = BigInt(d.precision * 4, random) % BigInt(10).pow(1 + random.nextInt(d.precision))
      Decimal(BigDecimal(if (random.nextBoolean()) digits else -digits, d.scale), d.precision, d.scale)
    case DateType =>
      random.nextInt(3) match {
        case 0 => near(one(Seq(Int.MinValue, Int.MaxValue, 0, 106751991)).toLong).toInt
        case 1 => random.nextInt(80000) - 40000
        case _ => Math.floorDiv(jump(), Day).toInt
      }
    case TimestampType | TimestampNTZType =>
      val from = one(Seq(jump(), jump(), near(Long.MinValue), near(Long.MaxValue), random.nextLong() >> 12))
      val by = one(Seq(0L, 1L, -1L, 1800000000L, -3600000000L, Day, -Day, random.nextLong() >> 22))
      val sum = from + by
      if (((from ^ sum) & (by ^ sum)) < 0) from else sum
    case _ => UTF8String.fromBytes(Seq.fill(random.nextInt(5))(one(characters)).flatten.toArray)
  }

  private def near(v: Long): Long = v + random.nextInt(7) - 3
  private def jump(): Long = one(jumps)
}

object RandomFunctions {
  private val integers: Seq[DataType] = Seq(ByteType, ShortType, IntegerType, LongType)
  private val Day = 86400000000L
  val columns: Seq[DataType] = integers ++
    Seq(FloatType, DoubleType, DecimalType(7, 2), DecimalType(30, 5), DateType, DateType) ++
    Seq(TimestampType, TimestampType, TimestampType, TimestampNTZType, StringType, StringType)

  /** Zones whose clocks do something unusual, and a few others. */
  val zones: Seq[String] = ("UTC UTC +05:30 Europe/Berlin America/New_York America/Sao_Paulo America/St_Johns " +
    "America/Havana America/Juneau Asia/Beirut Asia/Kolkata Asia/Manila Africa/Monrovia Australia/Lord_Howe " +
    "Pacific/Apia").split(' ').toSeq

  val units: Seq[String] =
    "microsecond SECOND MINUTE HOUR DAY week MONTH mon quarter YEAR yyyy fortnight".split(' ').toSeq

  private val jumps: Seq[Long] =
    zones.flatMap(z => ZoneId.of(z).getRules.getTransitions.asScala.map(_.toEpochSecond * 1000000L)) :+ 0L

  private val doubles: Seq[Double] =
    Seq(Double.NaN, Double.NegativeInfinity, Double.PositiveInfinity, 0.0, -0.0, 1.0, -1.5, Double.MaxValue) ++
      Seq(-Double.MaxValue, Double.MinPositiveValue, 9007199254740992.0)

  /** Characters of one to four bytes, and bytes that are no whole character. */
  private val characters: Seq[Seq[Byte]] = {
    val valid =
      Seq("a", "a", "b", " ", " ", "\t", "!", "\u007f", "\u00e9", "\u00ea", "\u4e2d", "\ud83d\ude00", "\uffff")
    valid.map(_.getBytes("UTF-8").toSeq) ++ Seq(Seq(0xc3), Seq(0x80), Seq(0xe4, 0xb8), Seq(0xff)).map(_.map(_.toByte))
  }
}
