package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Makes functions of several columns of which ranges are known, and values near each other. */
final class RandomRanges(override protected val random: Random) extends Choices {
  private val functions = new RandomFunctions(random)
  private def zone(): Option[String] = Some(one(RandomFunctions.zones))

  /** Values of a file: often near each other, and then a function may be monotone between them. */
  def values(dataType: DataType, count: Int): Seq[Any] = {
    val start = functions.value(dataType)
    def near(start: Long, least: Long, most: Long): Long = {
      val width = one(Seq(1L, 10L, 400L, 100000L, 10L * 86400 * 1000000))
      val sum = start + (random.nextDouble() * width).toLong
      math.max(least, math.min(most, sum))
    }
    def next(): Any = (dataType, start) match {
      case _ if random.nextInt(60) == 0     => functions.value(dataType)
      case (ByteType, v: Byte)              => near(v.toLong, Byte.MinValue.toLong, Byte.MaxValue.toLong).toByte
      case (IntegerType | DateType, v: Int) => near(v.toLong, Int.MinValue.toLong, Int.MaxValue.toLong).toInt
      case (LongType, v: Long) if v < Long.MaxValue / 2 => near(v, Long.MinValue, Long.MaxValue)
      case (TimestampType | TimestampNTZType, v: Long)
          if math.abs(v / 2) < Long.MaxValue / 4 => near(v, Long.MinValue, Long.MaxValue)
      case (DoubleType, v: Double) => v + random.nextInt(100) / 8.0
      case (FloatType, v: Float)   => v + random.nextInt(100) / 8.0f
      case (d: DecimalType, _) => Decimal(BigDecimal(random.nextInt(2000000) - 1000000, d.scale), d.precision, d.scale)
      case _                   => functions.value(dataType)
    }
    Seq.fill(count)(if (random.nextInt(15) == 0) null else next())
  }

  /** A function of some of these, of one to three steps. */
  def function(columns: Seq[Expression]): Expression =
    Iterator.iterate(one(columns))(step(_, columns)).drop(1 + random.nextInt(3)).next()

  private def literal(dt: DataType): Literal = Literal(functions.value(dt), dt)

  private def small(dt: DataType): Literal = Cast(Literal(one(Seq(1, 2, 3, 7, 10, 24))), dt).eval() match {
    case v => Literal(v, dt)
  }

  private def step(x: Expression, columns: Seq[Expression]): Expression = {
    val same = columns.filter(_.dataType == x.dataType)
    def other(): Expression = if (same.nonEmpty && random.nextBoolean()) one(same) else literal(x.dataType)
    def general(): Expression = one(Seq(
      Coalesce(Seq(x, other())),
      Greatest(Seq(x, other())),
      Least(Seq(other(), x)),
      If(GreaterThan(x, literal(x.dataType)), x, other()),
      CaseWhen(Seq((LessThan(x, literal(x.dataType)), other())), Some(x))
    ))
    val ofType: Seq[Expression] = x.dataType match {
      case ByteType | ShortType | IntegerType | LongType => integers(x, other())
      case FloatType | DoubleType | _: DecimalType       => fractions(x, other())
      case DateType                                      => dates(x, other())
      case TimestampType                                 => instants(x)
      case TimestampNTZType                              => Seq(Cast(x, DateType))
      case _                                             => Nil
    }
    if (ofType.isEmpty || random.nextInt(4) == 0) general() else one(ofType)
  }

  private def integers(x: Expression, y: Expression): Seq[Expression] = {
    def few() = small(x.dataType)
    val types = Seq(ByteType, ShortType, IntegerType, LongType, DoubleType, FloatType, DecimalType(9, 2))
    Seq[Expression](new Add(x, y), new Subtract(x, y), new Subtract(y, x)) ++
      Seq(new Multiply(x, few()), new Multiply(x, y)) ++
      Seq(new IntegralDivide(x, y), new IntegralDivide(x, few()), new Remainder(x, few()), new Pmod(x, few())) ++
      Seq(new UnaryMinus(x), new Abs(x), Cast(x, one(types)), new Round(x, Literal(-1))) ++
      Seq(new UnixMillis(SecondsToTimestamp(Cast(x, LongType, None, EvalMode.ANSI)))) :+
      DateFromUnixDate(Cast(x, IntegerType))
  }

  private def fractions(x: Expression, y: Expression): Seq[Expression] = {
    val double = Cast(x, DoubleType)
    val (wide, divisor) = if (x.dataType == FloatType) (double, Cast(y, DoubleType)) else (x, y)
    val types = Seq(ByteType, IntegerType, LongType, DoubleType, FloatType, DecimalType(12, 1))
    Seq[Expression](new Add(x, y), new Subtract(y, x), new Multiply(x, y), new Divide(wide, divisor), new Abs(x)) ++
      Seq(new Floor(wide), new Ceil(wide), new Round(x, Literal(1)), new BRound(x, Literal(0)), Cast(x, one(types))) ++
      Seq(Sqrt(double), Exp(double), Log(double), Log10(double)) ++
      Seq(Pow(double, Literal(one(Seq(2.0, 0.5, -1.0)))), Signum(double))
  }

  private def dates(x: Expression, y: Expression): Seq[Expression] = {
    val months = Literal(one(Seq(0, 1, -1, 13, -120)))
    val years = Literal(one(Seq(1, -7)), YearMonthIntervalType())
    val days = Literal(random.nextInt(1000))
    Seq[Expression](LastDay(x), AddMonths(x, months), DateAddYMInterval(x, years), DateAdd(x, days)) ++
      Seq(DateDiff(x, y), UnixDate(x), Month(x), Quarter(x), DayOfMonth(x), Year(x)) ++
      Seq(Cast(x, StringType), Cast(x, TimestampType, zone()))
  }

  private def instants(x: Expression): Seq[Expression] = {
    def calendar() = Literal(new CalendarInterval(one(Seq(0, 1)), one(Seq(0, -3)), 1000L), CalendarIntervalType)
    Seq[Expression](UnixSeconds(x), UnixMicros(x), Cast(x, LongType), Cast(x, DoubleType)) ++ Seq(
      Cast(x, DateType, zone()),
      DateFormatClass(x, text(one(Seq("yyyy-MM", "yyyy-MM-dd", "yyyyMMdd HH", "dd.MM"))), zone()),
      FromUTCTimestamp(x, text(one(RandomFunctions.zones ++ Seq("PST", "+8:00", "GMT+5:30", "nowhere")))),
      TimestampAddInterval(x, Literal(one(intervals), DayTimeIntervalType()), zone()),
      TimestampAddInterval(x, calendar(), zone()),
      TimestampAddYMInterval(x, Literal(one(Seq(1, -5)), YearMonthIntervalType()), zone())
    )
  }

  /** Intervals in microseconds. */
  private val intervals = Seq(1L, -3600000000L, 86400000000L, -40L * 86400000000L)
  private def text(s: String) = Literal(UTF8String.fromString(s), StringType)
}
