package org.sparkzorder.stats

import java.lang.{Long => JLong}
import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.Assertions

import org.sparkzorder.PropertySuite

/** The order of encoded values, and the statistics that are made of them. */
class StatsCollectorSuite extends PropertySuite(1500) {
  private def compare(a: Any, b: Any): Int = ((a, b): @unchecked) match {
    case (x: JLong, y: JLong)             => x.compareTo(y)
    case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y)
  }

  test("the order of encoded values is Spark's order, and decode returns the value that was encoded") {
    forAll(minSuccessful(3000)) { (seed: Long) =>
      val values = new RandomValues(seed)
      val dt = values.atomicType()
      val order = TypeUtils.getInterpretedOrdering(dt)
      val (x, y) = (values.value(dt), values.value(dt))
      val (a, b) = (OrderedValue.encode(dt, x), OrderedValue.encode(dt, y))
      assert(compare(a, b).sign == order.compare(x, y).sign, s"$dt: $x, $y")
      val back = OrderedValue.decode(dt, a)
      assert(order.compare(x, back) == 0, s"$dt: $x, $back")
      assert(OrderedValue.display(dt, a) != null)
    }
  }

  test("types without an order of bytes have no encoding, and decimals are encoded at the type's scale") {
    (RandomValues.withoutOrder ++ Seq(NullType, StringType("UTF8_LCASE"), StringType("UNICODE"))).foreach { dt =>
      assert(OrderedValue.encoding(dt).isEmpty, dt)
    }
    for (dt <- Seq(CharType(3), VarcharType(3), DecimalType(19, 2)))
      assert(OrderedValue.encoding(dt).contains(Encoding.Bytes), dt)
    for (dt <- Seq(DecimalType(18, 2), TimeType(6))) assert(OrderedValue.encoding(dt).contains(Encoding.Longs), dt)
    for (text <- Seq("1.5", "1.5000")) assert(OrderedValue.encode(DecimalType(5, 2), Decimal(text)) == 150L)
    for (text <- Seq("1.555", "1000"))
      intercept[IllegalArgumentException](OrderedValue.encode(DecimalType(5, 2), Decimal(text)))
    for (value <- Seq[Any](null, 1L)) intercept[IllegalArgumentException](OrderedValue.encode(IntegerType, value))
  }

  test("bounds are shown as Spark casts them") {
    def shown(dt: DataType, v: Any) = OrderedValue.display(dt, OrderedValue.encode(dt, v))
    assert(shown(BooleanType, true) == "true" && shown(DateType, 19000) == "2022-01-08")
    assert(shown(TimestampType, 1500000L) == "1970-01-01 00:00:01.5")
    assert(shown(TimestampNTZType, 0L) == "1970-01-01 00:00:00")
    assert(shown(TimeType(6), 3600L * 1000000000L) == "01:00:00")
    assert(shown(DoubleType, -2.5d) == "-2.5" && shown(FloatType, 0.1f) == "0.1")
    assert(shown(DecimalType(5, 2), Decimal("1.50")) == "1.50")
    assert(shown(DecimalType(20, 3), Decimal("-0.001")) == "-0.001")
    assert(shown(StringType, UTF8String.fromString("aß")) == "aß")
    assert(shown(BinaryType, Array[Byte](97, -1)) == "[61 FF]" && OrderedValue.display(LongType, null) == "null")
  }

  /**
   * Few different bytes, so that many strings agree in their first eight. Zeros are among them,
   * since missing bytes count as zeros.
   */
  private val string: Gen[Array[Byte]] =
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, Gen.frequency(8 -> 0, 1 -> 1, 1 -> -1, 1 -> 127, 1 -> -128)))
      .map(_.map(_.toByte).toArray)

  test("the order of byte strings is that of their arrays") {
    forAll(Gen.listOf(Gen.zip(string, string)), minSuccessful(2000)) { pairs =>
      val (left, right) = (pairs.map(_._1).toArray, pairs.map(_._2).toArray)
      val (a, b) = (ByteStrings.of(left), ByteStrings.of(right))
      left.indices.foreach { i =>
        val expected = OrderedValue.compare(left(i), right(i)).sign
        assert(a.compare(i, b).sign == expected)
        assert(b.compare(i, a).sign == -expected)
        assert(a.compare(i, new ByteString(right(i))).sign == expected)
        assert(a.startsWith(i, right(i)) == left(i).startsWith(right(i)))
        assert(a(i).toSeq == left(i).toSeq && a.length(i) == left(i).length)
      }
      assert(a.length == left.length)
    }
  }

  test("missing strings are empty") {
    val strings = ByteStrings.of(Array(null, Array[Byte](1), null))
    assert((0 until 3).map(strings(_).toSeq) == Seq(Nil, Seq(1.toByte), Nil))
    assert((0 until 2).map(ByteStrings.empty(2)(_).toSeq) == Seq(Nil, Nil))
  }

  private def collect(schema: StructType, rows: Seq[InternalRow]): FileStats = {
    val collector = new StatsCollector(schema, IndexableColumns.all(schema))
    rows.foreach(collector.add)
    val stats = collector.result()
    assert(stats.columns.keySet == IndexableColumns.all(schema).toSet)
    stats
  }

  test("the collector agrees with a naive computation, and merging the statistics of parts gives those of the whole") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val schema = values.schema()
      val rows = Seq.fill(values.random.nextInt(12))(values.row(schema))
      val whole = collect(schema, rows)
      NaiveStats.check(schema, rows, whole)
      if (seed % 10 == 0) NaiveStats.check(schema, rows, collect(schema, values.unsafe(schema, rows)))
      val (a, b) = rows.splitAt(values.random.nextInt(12))
      val merged = StatsMerge.merge(collect(schema, a), collect(schema, b))
      assert(merged.rows == whole.rows && merged.columns.keySet == whole.columns.keySet)
      whole.columns.foreach { case (key, w) =>
        val m = merged.columns(key)
        assert(m.nullCount == w.nullCount && m.nanCount == w.nanCount)
        // If a part has no upper bound, the whole has none. Otherwise they are equal.
        assert(NaiveStats.same(m.min, w.min) && NaiveStats.same(m.max, w.max) || !m.hasBounds, s"$key: $m $w")
      }
    }
  }

  test("strings with the same first bytes, and strings that begin other strings") {
    val schema = new StructType().add("s", StringType).add("b", BinaryType)
    forAll { (seed: Long) =>
      val random = new scala.util.Random(seed)
      val stem = Array.fill(random.nextInt(140))(Seq(0, 97, -1)(random.nextInt(3)).toByte)
      def value(): Array[Byte] =
        stem.take(random.nextInt(stem.length + 1)) ++ Array.fill(random.nextInt(3))(random.nextInt(3).toByte)
      val rows = Seq.fill(random.nextInt(6))(InternalRow(UTF8String.fromBytes(value()), value()))
      val naive = collect(schema, rows)
      NaiveStats.check(schema, rows, naive)
      val unsafe = collect(schema, new RandomValues(seed).unsafe(schema, rows))
      unsafe.columns.foreach { case (key, c) =>
        assert(NaiveStats.same(c.min, naive.columns(key).min) && NaiveStats.same(c.max, naive.columns(key).max))
      }
    }
  }

  test("a column that is unknown in one part is unknown in the whole") {
    val key = ColumnKey(Seq("a"), LongType)
    val known = FileStats(2, Map(key -> ColumnStats(1L, 5L, 0, 0)))
    assert(StatsMerge.merge(known, FileStats(1, Map.empty)).columns.isEmpty)
    assert(StatsMerge.merge(known, FileStats(1, Map(key -> ColumnStats.unknown))).columns(key) == ColumnStats.unknown)
    assert(StatsMerge.merge(FileStats(1, Map(key -> ColumnStats(null, null, 1, 0))), known).columns(key) ==
      ColumnStats(1L, 5L, 1, 0))
    assert(StatsMerge.merge(FileStats(0, Map.empty), known) == known)
  }

  test("strings that are reused by the reader are copied") {
    val buffer = "b".getBytes
    val schema = new StructType().add("s", StringType)
    val collector = new StatsCollector(schema, IndexableColumns.of(schema))
    collector.add(InternalRow(UTF8String.fromBytes(buffer)))
    buffer(0) = 'a'
    collector.add(InternalRow(UTF8String.fromBytes(buffer)))
    buffer(0) = 'z'
    val c = collector.result().columns.values.head
    assert(NaiveStats.same(c.min, "a".getBytes) && NaiveStats.same(c.max, "b".getBytes))
  }

  test("decimals of another scale than the type's are rescaled, or leave no bounds") {
    Seq(DecimalType(10, 2), DecimalType(30, 2)).foreach { dt =>
      val schema = new StructType().add("d", dt)
      def of(vs: String*): ColumnStats = collect(schema, vs.map(v => InternalRow(Decimal(v)))).columns.values.head
      val c = of("1.5", "2")
      assert(OrderedValue.display(dt, c.min) == "1.50" && OrderedValue.display(dt, c.max) == "2.00")
      assert(!of("1.555", "2").hasBounds)
    }
  }

  test("a column that the rows lack is an error with its name") {
    val schema = new StructType().add("a", IntegerType).add("s", new StructType().add("x", LongType))
    val paths = Seq(Seq("A") -> IntegerType, Seq("a") -> LongType, Seq("a", "x") -> LongType, Seq("s", "y") -> LongType)
    paths.map { case (path, dataType) => ColumnKey(path, dataType) }.foreach { key =>
      val e = intercept[IllegalArgumentException](new StatsCollector(schema, Seq(key)))
      assert(e.getMessage.contains(key.path.map(p => s"`$p`").mkString(".")))
    }
  }

  private val default = new MetadataBuilder().putString(ColumnDefaults.Key, "5").build()

  private val withDefaults = new StructType()
    .add("plain", IntegerType)
    .add("five", IntegerType, nullable = true, default)
    .add("s", new StructType().add("x", IntegerType).add("y", IntegerType, nullable = true, default))
    .add("a", ArrayType(new StructType().add("y", IntegerType, nullable = true, default)))

  test("a column has a default if it, a struct above it or a field in it has one") {
    def concern(path: String*) = new ColumnDefaults(withDefaults).concern(path)
    assert(!concern("plain") && !concern("s", "x") && !concern("none"))
    assert(concern("five") && concern("s", "y") && concern("s") && concern("a"))
  }

  test("with a default, files with only nulls are unknown, and the others are as before") {
    val bounded = new BitSet
    bounded.set(1)
    bounded.set(2)
    val stats = new LongStatsColumn(Array(0, 3, 4), Array(0, 9, 4), bounded, Array(10, 2, 0), Array(0, 0, 0))
    val table = new StatsTable {
      def files = 3
      def rows = Array(10, 10, 10)
      def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = Some(stats)
    }
    val seen = StatsWithDefaults.of(table, withDefaults)
    assert(seen.column(Seq("plain"), IntegerType).contains(stats))
    val five = seen.column(Seq("five"), IntegerType).get
    assert(five.nullCounts.toSeq == Seq(-1L, 2L, 0L) && five.nanCounts.toSeq == Seq(-1L, 0L, 0L))
    assert(five.bounded == bounded)
    assert(StatsWithDefaults.of(table, StructType(withDefaults.take(1))) eq table)
  }
}

/** Compares statistics with those of a naive computation. */
object NaiveStats extends Assertions {
  private def valueAt(row: InternalRow, schema: StructType, path: Seq[String]): Any = {
    val i = schema.fieldIndex(path.head)
    if (row.isNullAt(i)) null
    else if (path.tail.isEmpty) row.get(i, schema(i).dataType)
    else {
      val struct = schema(i).dataType.asInstanceOf[StructType]
      valueAt(row.getStruct(i, struct.length), struct, path.tail)
    }
  }

  private def isNaN(v: Any): Boolean = v match {
    case f: Float  => f.isNaN
    case d: Double => d.isNaN
    case _         => false
  }

  def same(a: Any, b: Any): Boolean = (a, b) match {
    case (x: Array[Byte], y: Array[Byte]) => x.sameElements(y)
    case _                                => a == b
  }

  def check(schema: StructType, rows: Seq[InternalRow], stats: FileStats): Unit = {
    assert(stats.rows == rows.length)
    stats.columns.foreach { case (ColumnKey(path, dt), c) =>
      val values = rows.map(valueAt(_, schema, path))
      assert(c.nullCount == values.count(_ == null))
      assert(c.nanCount == values.count(isNaN))
      val proper = values.filter(v => v != null && !isNaN(v))
      if (OrderedValue.encoding(dt).isEmpty || proper.isEmpty) assert(!c.hasBounds && c.max == null)
      else {
        val ordering = TypeUtils.getInterpretedOrdering(dt)
        val min = OrderedValue.encode(dt, proper.min(ordering))
        val max = OrderedValue.encode(dt, proper.max(ordering))
        (min, max) match {
          case (lo: Array[Byte], hi: Array[Byte]) if lo.length > 128 || hi.length > 128 =>
            if (!c.hasBounds) assert(hi.take(128).forall(_ == -1) && hi.length > 128)
            else {
              val (lower, upper) = (c.min.asInstanceOf[Array[Byte]], c.max.asInstanceOf[Array[Byte]])
              assert(lower.length <= 128 && upper.length <= 128)
              assert(OrderedValue.compare(lower, lo) <= 0 && lo.startsWith(lower))
              assert(OrderedValue.compare(upper, hi) >= 0)
            }
          case _ => assert(same(c.min, min) && same(c.max, max), s"$path $dt: ${c.min} $min ${c.max} $max")
        }
      }
    }
  }
}
