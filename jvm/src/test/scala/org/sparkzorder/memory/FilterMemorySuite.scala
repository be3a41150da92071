package org.sparkzorder.memory

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.Condition.{End, NotNull, OneOf, Opaque, Range}
import org.sparkzorder.predicate.{LongValue, OptimizedConditions, Value}

/** What filters imply each other, and which files are known to have no row for them. */
class FilterMemorySuite extends AnyFunSuite with OptimizedConditions {

  private def filter(text: String, table: String = "file:/t"): FilterKey =
    FilterKey(table, "settings", Set(Opaque(text)))

  private def file(i: Int, time: Long = 1L, values: String = ""): ReadFile =
    ReadFile(new Path(s"file:/t/f$i"), 10L, time, values)

  private def knows(memory: FilterMemory, filter: FilterKey)(file: ReadFile): Boolean = {
    val status = new FileStatus(file.length, false, 1, 1L, file.time, file.path)
    memory.filesWithout(filter).exists(_.has(FileStatusWithMetadata(status), file.values))
  }

  test("a file is known by its path, length, time and partition") {
    val memory = new FilterMemory(1L << 20, 1000)
    memory.remember(filter("a"), Seq(file(1), file(2)))
    val known = knows(memory, filter("a")) _
    assert(known(file(1)) && known(file(2)) && !known(file(3)))
    assert(!known(file(1, time = 2)) && !known(file(1).copy(length = 11)) && !known(file(1, values = "1:p")))
    assert(!knows(memory, filter("b"))(file(1)))
    memory.remember(filter("a"), Seq(file(3)))
    assert(known(file(1)) && known(file(3)))
    // The file has changed, and what was known about it is about no file any more.
    memory.remember(filter("b"), Seq(file(1, time = 2)))
    assert(!known(file(1)) && !known(file(1, time = 2)) && known(file(2)))
  }

  test("no two values of partitions have one text") {
    val schema = StructType.fromDDL("a STRING, b STRING")
    val values = Seq(null, "null", "-", "x", "", ";", "x;-", "=1")
    val texts = for (a <- values; b <- values)
      yield RememberedFiles.valuesOf(InternalRow(UTF8String.fromString(a), UTF8String.fromString(b)), schema)
    assert(texts.distinct.length == values.length * values.length)
  }

  test("filters that were used least recently are dropped first") {
    val memory = new FilterMemory(100000, 1000)
    val filters = (0 until 1000).map(i => filter(s"$i" * 10))
    for (f <- filters) {
      memory.remember(f, Seq(file(1)))
      assert(memory.filesWithout(filters.head).isDefined)
    }
    assert(memory.sizeOf(_ => true).bytes <= 100000)
    assert(memory.sizeOf(_ => true).filters > 100)
    assert(memory.filesWithout(filters.last).isDefined && memory.filesWithout(filters(1)).isEmpty)
  }

  test("the names of files have a bound, and a table that loses them loses its filters") {
    val memory = new FilterMemory(1L << 20, 1000)
    memory.remember(filter("a", "file:/s"), (0 until 600).map(file(_)))
    memory.remember(filter("a", "file:/t"), (0 until 600).map(file(_)))
    assert(memory.knows("file:/t") && !memory.knows("file:/s"))
    assert(memory.sizeOf(_ == "file:/s") == MemorySize(0, 0))
    memory.remember(filter("a", "file:/u"), (0 until 1001).map(file(_)))
    assert(!memory.knows("file:/u") && memory.filesWithout(filter("a", "file:/u")).isEmpty)
  }

  test("a table is forgotten by its folder, or by a folder above") {
    val memory = new FilterMemory(1L << 20, 1000)
    val tables = Seq("file:/t", "file:/t/a", "file:/ta", "file:/x\nfile:/t/b")
    for (table <- tables) memory.remember(filter("a", table), Seq(file(1)))
    memory.forget(TableNames.isAt(_, new Path("file:/t")))
    assert(tables.filter(memory.knows) == Seq("file:/ta"))
  }

  private val values = (0L to 6L).map(LongValue(_))

  private val ends: Gen[Option[End]] =
    Gen.option(for (v <- Gen.oneOf(values); i <- Gen.oneOf(true, false)) yield End(v, i))

  private val made: Gen[Condition] = Gen.oneOf("a", "b").flatMap { subject =>
    Gen.oneOf(
      Gen.const(NotNull(subject)),
      Gen.const(Opaque(subject)),
      Gen.nonEmptyListOf(Gen.oneOf(values)).map(vs => OneOf(subject, vs.toSet)),
      for (low <- ends; high <- ends) yield Range(subject, low, high)
    )
  }

  /** Whether a row passes. None is null. `Opaque` conditions hold for even values. */
  private def passes(row: Map[String, Option[Value]])(c: Condition): Boolean = c match {
    case NotNull(s)   => row(s).isDefined
    case Opaque(s)    => row(s).exists { case LongValue(v) => v % 2 == 0; case _ => false }
    case OneOf(s, vs) => row(s).exists(vs)
    case r: Range     => row(r.subject).exists(r.holds)
  }

  test("a condition that implies another one lets pass no row that the other one stops") {
    val some = None +: values.map(Some(_))
    val rows = for (a <- some; b <- some) yield Map[String, Option[Value]]("a" -> a, "b" -> b)
    var implied = 0
    for (i <- 0 until 20000) {
      val (a, b) = Gen.zip(made, made).pureApply(Gen.Parameters.default, Seed(i.toLong))
      if (a != b && a.implies(b)) {
        implied += 1
        rows.foreach(row => assert(!passes(row)(a) || passes(row)(b), s"$a does not imply $b: $row"))
      }
    }
    assert(implied > 1000)
  }

  test("narrower ranges, fewer values and IS NOT NULL are implied") {
    def one(values: Long*) = OneOf("a", values.map(LongValue(_)).toSet)
    def low(v: Long, inclusive: Boolean) = Range("a", Some(End(LongValue(v), inclusive)), None)
    val five = low(5, inclusive = true)
    val implied = Seq(five -> low(4, inclusive = false), low(5, inclusive = false) -> five, five -> NotNull("a")) ++
      Seq(one(5) -> five, one(5) -> one(5, 6))
    for ((narrow, wide) <- implied) assert(narrow.implies(wide), s"$narrow, $wide")
  }

  private val schema = StructType.fromDDL(
    "i INT, j INT, l BIGINT, d DOUBLE, s STRING, t TIMESTAMP, day DATE, a ARRAY<INT>, r STRUCT<x: INT>, " +
      "n DECIMAL(10,2), tiny TINYINT"
  )

  private val reader = new ConditionReader((a: Attribute) => Some(s"${a.name} ${a.dataType.json}"))

  private def conditions(sql: String): Option[Set[Condition]] = conjuncts(schema, sql).flatMap { parts =>
    val read = parts.map(reader.of)
    if (read.exists(_.isEmpty)) None else Some(read.flatten.toSet)
  }

  private def implies(narrow: String, wide: String): Boolean = {
    val (n, w) = (conditions(narrow).get, conditions(wide).get)
    w.forall(c => n.contains(c) || n.exists(_.implies(c)))
  }

  /** Looks at pairs of conditions, which have a bar between them. */
  private def pairs(texts: String*)(check: (String, String) => Any): Unit = texts.foreach { text =>
    val bar = text.indexOf(" | ")
    check(text.take(bar), text.drop(bar + 3))
  }

  test("the same condition, written in another way or in another plan, is the same") {
    pairs(
      "i = 5 | 5 = i", "i > 5 AND s LIKE '%a%' | s LIKE '%a%' AND 5 < i", "upper(s) = 'A' | 'A' = upper(s)",
      "i + j = 5 | 5 = i + j", "i IN (1, 2, 2) | i IN (2, 1)", "s = 'a' | 'a' = s"
    )((a, b) => assert(implies(a, b) && implies(b, a), s"$a, $b: ${conditions(a)} ${conditions(b)}"))
  }

  test("conditions that look alike and differ are told apart") {
    pairs(
      "i + j = 5 | i + j = 6", "i - j = 5 | j - i = 5", "cast(i AS STRING) LIKE '%1' | cast(l AS STRING) LIKE '%1'",
      "cast(d AS INT) = 5 | cast(d AS BIGINT) = 5", "try_cast(s AS INT) = 5 | cast(s AS INT) = 5",
      "s LIKE 'a\\\\%b%'  | s LIKE 'a%b%'", "s LIKE '%a/_' ESCAPE '/' | s LIKE '%a/_'",
      "substr(s, 1, 2) = 'ab' | substr(s, 2, 1) = 'ab'", "i / j > 1 | j / i > 1",
      "round(d, 1) = 1 | round(d, 2) = 1", "d = 'NaN' OR i = 3 | d = 0.0D OR i = 3",
      "concat(s, 'a,b') = 'x' | concat(s, 'a', 'b') = 'x'",
      "CASE WHEN i = 1 THEN 2 ELSE j END = 3 | CASE WHEN i = 1 THEN j ELSE 2 END = 3",
      "element_at(a, 1) = 1 | try_element_at(a, 1) = 1", "n * 2 = 4 | n * 2.0 = 5",
      "date_format(t, 'yyyy') = '2020' | date_format(t, 'yyyyy') = '2020'"
    )((a, b) => assert(!(implies(a, b) && implies(b, a)), s"$a, $b: ${conditions(a)}"))
  }

  test("narrower conditions imply wider ones, and no others do") {
    pairs(
      "i = 7 | i > 5", "i BETWEEN 6 AND 8 | i >= 6", "i IN (6, 7) | i IN (5, 6, 7)", "s = 'b' | s IN ('a', 'b')",
      "upper(s) > 'A' AND i = 1 | upper(s) > 'A'", "n > 1.50 | n > 1.5", "l = 7 | l IN (6, 7)",
      "d > double('NaN') - 1 OR d = 3 | d > double('NaN') - 1 OR d = 3",
      "day >= DATE'2020-02-01' AND i = 1 | day >= DATE'2020-02-01'"
    )((narrow, wide) => assert(implies(narrow, wide), s"$narrow, $wide: ${conditions(narrow)} ${conditions(wide)}"))
    pairs(
      "i > 5 | i > 6", "i > 5 | j > 5", "i > 5 | l > 5", "i < 5 | i > 4", "i <> 5 | i > 5", "d > 2.0D | d > 1.0D",
      "s = 'b' | s > 'a'", "s > 'b' | s > 'a'", "d = 0.0D | d = -0.0D",
      "day = DATE'1582-10-15' | day > DATE'1582-10-06'",
      "t > TIMESTAMP'2020-01-02 00:00:00' | t > TIMESTAMP'2020-01-01 00:00:00'",
      "t = TIMESTAMP'2020-01-01 00:00:00' | t < TIMESTAMP'2020-01-02 00:00:00'", "d = -0.0D | d = 0.0D",
      "d = -0.0D | d IN (0.0D, 5.0D)", "d <= 0.0D | d < 1.0D", "tiny IN (1, 2) | tiny < 5",
      "s = 'b' | s IN ('b', NULL)", "s IN ('b', NULL) | s = 'b'", "s <=> 'b' | s = 'b'", "s <=> 'b' | s IN ('b', NULL)"
    )((narrow, wide) => assert(!implies(narrow, wide), s"$narrow, $wide"))
  }

  test("expressions that say less than their value depends on are not remembered") {
    val less = Seq(
      "rand() < i", "uuid() = s", "exists(a, x -> x = i)", "monotonically_increasing_id() = l",
      "spark_partition_id() = i", "input_file_name() = s", "reflect('java.lang.System', 'getProperty', s) = 'x'"
    )
    for (sql <- less) assert(conditions(sql).isEmpty, sql)
  }
}
