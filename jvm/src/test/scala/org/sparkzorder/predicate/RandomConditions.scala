package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.stats.{ColumnStats, FileStats}

/** Makes rows and conditions over columns of many types. Values are often equal, or at the ends of their types. */
final class RandomConditions(override protected val random: Random) extends Choices {
  import RandomConditions._

  val attributes: Seq[AttributeReference] =
    schema.fields.toSeq.map(f => AttributeReference(f.name, f.dataType, f.nullable)())

  private def chance(p: Double): Boolean = random.nextDouble() < p
  private def attribute(name: String): AttributeReference = attributes.find(_.name == name).get

  def row(nulls: Double): InternalRow = {
    def value(dt: DataType): Any = if (chance(nulls)) null
    else dt match {
      case s: StructType => new GenericInternalRow(s.fields.map(f => value(f.dataType)))
      case _             => one(pool(dt))
    }
    new GenericInternalRow(schema.fields.map(f => value(f.dataType)))
  }

  def file(): ModelFile = {
    val nulls = one(Seq(0.0, 0.0, 0.2, 0.7, 1.0))
    ModelFile(schema, Seq.fill(random.nextInt(5))(row(nulls)))
  }

  /** A file in which all rows are the same. */
  def constantFile(): ModelFile = {
    val only = row(0.3)
    ModelFile(schema, Seq.fill(1 + random.nextInt(3))(only))
  }

  /** Statistics that are still true for the file, but say less. */
  def weaker(stats: FileStats): FileStats = {
    val loose = stats.columns.map { case (key, s) =>
      val bounds = if (s.hasBounds && chance(0.3)) s.copy(min = lower(s.min), max = higher(s.max)) else s
      val unbounded = if (chance(0.15)) bounds.copy(min = null, max = null) else bounds
      val nulls = if (chance(0.2)) unbounded.copy(nullCount = -1L) else unbounded
      key -> (if (chance(0.2) && (key.dataType == DoubleType || key.dataType == FloatType)) nulls.copy(nanCount = -1L)
              else nulls)
    }
    val some = loose.filter(_ => chance(0.9))
    val columns = some.map { case (k, s) => k -> (if (chance(0.05)) ColumnStats.unknown else s) }
    FileStats(stats.rows, columns, stats.members)
  }

  private def lower(bound: Any): Any = bound match {
    case v: Long        => if (v < Long.MinValue + 10) v else v - random.nextInt(3).toLong
    case b: Array[Byte] => b.take(random.nextInt(b.length + 1))
    case other          => throw new IllegalArgumentException(s"$other")
  }

  private def higher(bound: Any): Any = bound match {
    case v: Long        => if (v > Long.MaxValue - 10) v else v + random.nextInt(3).toLong
    case b: Array[Byte] => b ++ Array.fill(random.nextInt(3))(one(Seq(0.toByte, -1.toByte)))
    case other          => throw new IllegalArgumentException(s"$other")
  }

  def condition(depth: Int): Expression = random.nextInt(if (depth == 0) 1 else 5) match {
    case 0 => leaf()
    case 1 => And(condition(depth - 1), condition(depth - 1))
    case 2 => Or(condition(depth - 1), condition(depth - 1))
    case 3 => Not(condition(depth - 1))
    case 4 =>
      random.nextInt(4) match {
        case 0 => IsNull(condition(depth - 1))
        case 1 => IsNotNull(condition(depth - 1))
        case 2 => EqualTo(condition(depth - 1), Literal(chance(0.5)))
        case _ => Not(condition(depth - 1))
      }
  }

  private def column(): Expression = one(
    "i l d d f s s b dec wide day bin tiny".split(' ').toSeq.map(attribute) ++
      Seq(0, 1).map(GetStructField(attribute("st"), _, None))
  )

  private def cast(): Expression = one(Seq(
    "i" -> Seq(LongType, DoubleType, DecimalType(12, 1), FloatType),
    "tiny" -> Seq(FloatType, IntegerType, DecimalType(4, 1)),
    "l" -> Seq(DoubleType, FloatType, DecimalType(22, 2)),
    "f" -> Seq(DoubleType),
    "dec" -> Seq(DecimalType(10, 4), DecimalType(30, 4)),
    "wide" -> Seq(DecimalType(30, 5))
  ).flatMap { case (name, types) => types.map(t => Cast(attribute(name), t)) } :+
    Cast(GetStructField(attribute("st"), 0, None), LongType))

  /** A choice between values of one type. */
  private def choice(of: Expression): Expression = {
    def value() = if (chance(0.5)) literal(of.dataType, 0.2) else one(Seq(of, other(of)))
    random.nextInt(3) match {
      case 0 => Coalesce(of +: Seq.fill(1 + random.nextInt(2))(value()))
      case 1 => If(leaf(), value(), value())
      case _ => CaseWhen(Seq.fill(1 + random.nextInt(2))((leaf(), value())), if (chance(0.5)) Some(value()) else None)
    }
  }

  /** Another column of the same type, if there is one. */
  private def other(of: Expression): Expression = of.dataType match {
    case IntegerType => one(Seq(attribute("i"), GetStructField(attribute("st"), 0, None)))
    case StringType  => one(Seq(attribute("s"), GetStructField(attribute("st"), 1, None)))
    case _           => of
  }

  private def comparison(of: Expression)(value: Expression => Expression): Expression =
    one(RandomConditions.comparisons)(of, value(of))

  private def leaf(): Expression = random.nextInt(25) match {
    case 20 => comparison(column())(other)
    case 21 => comparison(choice(column()))(of => literal(of.dataType, 0.1))
    case 22 =>
      val of = choice(column())
      one(Seq(IsNull(of), IsNotNull(of), In(of, Seq.fill(2)(literal(of.dataType, 0.1)))))
    case 24 =>
      EqualTo(attribute("st"), Literal(row(0.3).getStruct(schema.size - 1, 2), schema.last.dataType))
    case 23    => EqualNullSafe(If(leaf(), leaf(), leaf()), Literal(chance(0.5)))
    case 0     => attribute("b")
    case 1     => Literal(one(Seq[Any](true, false, null)), BooleanType)
    case 2     => IsNull(one(Seq(column(), cast(), attribute("st"))))
    case 3     => IsNotNull(one(Seq(column(), cast(), attribute("st"))))
    case 4     => IsNaN(one(Seq(attribute("d"), attribute("f"), Cast(attribute("f"), DoubleType))))
    case 5 | 6 =>
      val of = one(Seq(attribute("s"), GetStructField(attribute("st"), 1, None)))
      StartsWith(of, Literal(one(pool(StringType)), StringType))
    case 7 | 8 => Like(attribute("s"), Literal(one(patterns), StringType), one(Seq('\\', '\\', '/')))
    case 9     =>
      val some = Seq.fill(1 + random.nextInt(3))(one(patterns :+ null))
      val s = attribute("s")
      one(Seq(LikeAll(s, some), LikeAny(s, some), NotLikeAll(s, some), NotLikeAny(s, some)))
    case 10 | 11 =>
      val of = one(Seq(column(), column(), cast()))
      In(of, Seq.fill(1 + random.nextInt(4))(literal(of.dataType, 0.1)))
    case 12 =>
      val of = one(Seq(column(), column(), cast()))
      InSet(of, Seq.fill(1 + random.nextInt(4))(literal(of.dataType, 0.1).value).toSet)
    case 13 => one(Seq(
        GreaterThan(Remainder(attribute("l"), Literal(3L)), Literal(0L)),
        EqualTo(Cast(attribute("i"), LongType), attribute("l")),
        EqualTo(Cast(attribute("l"), IntegerType, None, EvalMode.LEGACY), Literal(1)),
        EqualTo(Upper(attribute("s")), Literal("A"))
      ))
    case _ =>
      val of = one(Seq(column(), column(), cast()))
      val value = literal(of.dataType, 0.05)
      val (left, right) = if (chance(0.7)) (of, value) else (value, of)
      one(RandomConditions.comparisons)(left, right)
  }

  private def literal(dt: DataType, nulls: Double): Literal = Literal(if (chance(nulls)) null else one(pool(dt)), dt)
}

object RandomConditions {

  /** The six comparisons and `<=>`, for two expressions of the same type. */
  val comparisons: Seq[(Expression, Expression) => Expression] = Seq(
    EqualTo(_, _),
    EqualNullSafe(_, _),
    LessThan(_, _),
    LessThanOrEqual(_, _),
    GreaterThan(_, _),
    GreaterThanOrEqual(_, _),
    (a, b) => Not(EqualTo(a, b))
  )

  val schema: StructType = StructType.fromDDL(
    "i INT, l BIGINT, d DOUBLE, f FLOAT, s STRING, b BOOLEAN, dec DECIMAL(7, 2), wide DECIMAL(25, 3), day DATE, " +
      "bin BINARY, tiny TINYINT, st STRUCT<n: INT, t: STRING>"
  )

  private def text(values: String*): Seq[UTF8String] = values.map(UTF8String.fromString)
  private val maxFF = UTF8String.fromBytes(Array(0x61.toByte, 0xff.toByte, 0xff.toByte))

  val patterns: Seq[UTF8String] =
    text("a%", "ab%", "a_", "a%b", "%", "%b", "", "ab", "a\\%%", "a/%", "a/%%", "\\_%") ++
      text("\u00e9%", "a\ufffd%", "a\ufffd", "_", "b%%", "%%_")

  def pool(dt: DataType): Seq[Any] = dt match {
    case ByteType    => Seq[Byte](Byte.MinValue, -1, 0, 1, 2, Byte.MaxValue)
    case IntegerType => Seq(Int.MinValue, -200, -1, 0, 1, 2, 128, 16777217, Int.MaxValue)
    case DateType    => Seq(-1, 0, 1, 19000)
    case LongType    =>
      Seq(Long.MinValue, Int.MinValue - 1L, -1L, 0L, 1L, 2L) ++
        Seq(3000000000L, 9007199254740993L, Long.MaxValue - 1, Long.MaxValue)
    case DoubleType =>
      Seq(Double.NaN, Double.NaN, Double.NegativeInfinity, -1e300, -1.5, -0.0, 0.0, Double.MinPositiveValue, 0.1) ++
        Seq(0.1f.toDouble, 1.0, 2.0, 9007199254740992.0, 16777216.0, 1e300, Double.PositiveInfinity)
    case FloatType =>
      Seq(Float.NaN, Float.NegativeInfinity, -1.5f, -0.0f, 0.0f, 0.1f, 1.0f, 2.0f, 16777216f) ++
        Seq(Float.MaxValue, Float.PositiveInfinity)
    case BooleanType => Seq(true, false)
    case StringType  =>
      text("", "a", "ab", "abc", "a%", "a\u00e9", "b", "\u00e9", "_", "a\ufffd", "\ud83d\ude00") :+ maxFF
    case BinaryType     => Seq[Array[Byte]](Array(), Array(0), Array(-1), Array(-1, -1), Array(1, 2))
    case d: DecimalType =>
      val whole = if (d.precision - d.scale > 18)
        Seq("99999999999999999999", "-99999999999999999999", "9223372036854775807")
      else Nil
      (Seq("0", "1", "-1", "1.5", "-1.5", "2", "1.25", "1.2501", "127", "99999.99") ++ whole).map(BigDecimal(_))
        .filter(v => v.scale <= d.scale && v.setScale(d.scale).precision <= d.precision)
        .map(Decimal(_, d.precision, d.scale))
    case other => throw new IllegalArgumentException(other.catalogString)
  }
}
