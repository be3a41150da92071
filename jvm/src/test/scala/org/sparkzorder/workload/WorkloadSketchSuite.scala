package org.sparkzorder.workload

import java.nio.charset.StandardCharsets.UTF_8
import java.util.BitSet

import scala.util.Random

import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.layout.{FileBounds, JoinSpec}
import org.sparkzorder.predicate._
import org.sparkzorder.stats._

/** What queries ask of columns, the ranks of the values that they ask for, and sketches of many queries. */
class WorkloadSketchSuite extends AnyFunSuite {
  import ColumnConstraint.{Between, OneOf}

  private def query(random: Random, columns: Int = 4): Seq[ObservedUse] =
    Seq.fill(random.nextInt(3) + 1)(random.nextInt(columns)).distinct.map { c =>
      val path = if (c % 2 == 0) Seq(s"c$c") else Seq("s", s"ü.$c")
      def ranks(n: Int) = Seq.fill(n)(random.nextDouble())
      val join = Some(JoinSpec(Seq("d b", "ü.t"), Seq("k", "x.y"), Seq(s"key$c"))).filter(_ => c == 3)
      def use(form: Form) = ColumnUse(join.fold(path)(_.attribute(path)), form, join)
      Form.all(random.nextInt(3)) match {
        case Form.Range => ObservedUse(use(Form.Range), ranks(random.nextInt(2)), ranks(random.nextInt(2)))
        case form       => ObservedUse(use(form), ranks(if (form == Form.Equal) 1 else 5), Nil)
      }
    }

  private def sketch(random: Random, queries: Int, columns: Int = 4): WorkloadSketch =
    Seq.fill(queries)(query(random, columns)).foldLeft(WorkloadSketch.empty)(_.add(_))

  test("a sketch that was written and read is the same") {
    val random = new Random(1)
    (1 to 200).foreach { _ =>
      val s = sketch(random, random.nextInt(50))
      assert(SketchJson.read(SketchJson.write(s)) == s)
    }
    // A column whose name is too long is left out.
    val long = Seq(ObservedUse(ColumnUse(Seq("x" * 2000), Form.Equal), Seq(0.5), Nil))
    assert(SketchJson.read(SketchJson.write(WorkloadSketch.empty.add(long))).isEmpty)
  }

  test("the sum of sketches is the sketch of all queries, in any order") {
    val random = new Random(2)
    (1 to 100).foreach { _ =>
      val queries = Seq.fill(30)(query(random))
      val parts = random.shuffle(queries.grouped(7).map(_.foldLeft(WorkloadSketch.empty)(_.add(_))).toSeq)
      val whole = queries.foldLeft(WorkloadSketch.empty)(_.add(_))
      assert(parts.foldLeft(WorkloadSketch.empty)(_ ++ _) == whole)
      assert(whole.queries == 30)
    }
  }

  test("a file is never too large, and keeps the most frequent queries", InRest) {
    val random = new Random(3)
    val often = Seq(ObservedUse(ColumnUse(Seq("often"), Form.Equal), Seq(0.5), Nil))
    val s = (1 to 5000).foldLeft(sketch(random, 5000, columns = 400)) { (sum, i) =>
      if (i % 50 == 0) sum.add(often) else sum
    }
    val bytes = SketchJson.write(s)
    assert(bytes.length <= SketchJson.MaxBytes && bytes.length > SketchJson.MaxBytes / 4, bytes.length)
    val read = SketchJson.read(bytes)
    assert(read.kinds.keys.exists(_.map(_.path) == Vector(Seq("often"))))
    assert(read.kinds.forall { case (kind, k) => s.kinds(kind) == k })
  }

  test("truncated, changed or random bytes are refused, or are a sketch") {
    val random = new Random(4)
    val bytes = SketchJson.write(sketch(random, 40))
    var refused = 0
    (1 to 5000).foreach { i =>
      val changed = i % 3 match {
        case 0 => bytes.take(random.nextInt(bytes.length))
        case 1 =>
          val copy = bytes.clone()
          (0 to random.nextInt(4)).foreach(_ => copy(random.nextInt(copy.length)) = random.nextInt(256).toByte)
          copy
        case _ => Array.fill(random.nextInt(100))(random.nextInt(256).toByte)
      }
      try assert(SketchJson.write(SketchJson.read(changed)).length <= SketchJson.MaxBytes)
      catch { case _: SketchFormatException => refused += 1 }
    }
    assert(refused > 4000, refused)
  }

  test("hostile texts are refused") {
    def kind(columns: String, queries: String = "1") =
      s"""{"version":1,"kinds":[{"queries":$queries,"columns":[$columns]}]}"""
    def column(path: String = "[\"a\"]", form: String = "equal", ranks: String = "\"starts\":[1,1]") =
      s"""{"path":$path,"form":"$form",$ranks}"""
    val one = column()
    assert(SketchJson.read(kind(one).getBytes(UTF_8)).queries == 1)
    val others = Seq("{\"version\":3,\"kinds\":[]}", "{\"version\":1}", "{\"version\":1,\"kinds\":{}}", "[" * 60000)
    val counts = Seq("-1", "1e99", "99999999999999999999", "9223372036854775807").map(kind(one, _))
    val numbers = Seq("", s"$one,$one", Seq.fill(9)(one).mkString(","))
    val paths = Seq("[]", "\"a\"", "[1]", s"""["${"a" * 2000}"]""").map(path => column(path))
    val starts = Seq("1", "128,1", "4294967296,1", "-1,1", "1,-1").map(s => column(ranks = s""""starts":[$s]"""))
    val ends = Seq("equal" -> "1,1", "range" -> "1,9223372036854775807").map { case (form, ranks) =>
      column(form = form, ranks = s""""ends":[$ranks]""")
    }
    val columns = numbers ++ paths ++ starts ++ ends :+ column(form = "eval")
    val texts = Seq("", "null", "[]", "1", "{}") ++ others ++ counts ++ columns.map(kind(_))
    texts.foreach(t => assertThrows[SketchFormatException](SketchJson.read(t.getBytes(UTF_8))))
    assertThrows[SketchFormatException](SketchJson.read(Array.fill(SketchJson.MaxBytes + 1)(' '.toByte)))
  }

  test("a column that is left out is in no kind, and its queries count for their other columns") {
    val random = new Random(5)
    val s = sketch(random, 200)
    val without = s.without(_ == Seq("c0"))
    assert(without.columns.map(_._1).toSet == s.columns.map(_._1).toSet - Seq("c0"))
    s.columns.filter(_._1 != Seq("c0")).foreach { case (path, n) => assert(without.columns.toMap.apply(path) == n) }
  }

  test("no sum of counts overflows") {
    val use = UseSketch(RankCounts.of(Map(1 -> RankCounts.MaxCount)), RankCounts.empty)
    val most =
      WorkloadSketch(Map(Vector(ColumnUse(Seq("a"), Form.Equal)) -> KindSketch(RankCounts.MaxCount, Vector(use))))
    val sum = Seq.fill(50)(most).foldLeft(WorkloadSketch.empty)(_ ++ _)
    assert(sum == most && SketchJson.read(SketchJson.write(sum)) == most)
  }

  test("an attribute goes with the column that is joined") {
    val join = JoinSpec(Seq("db", "customer"), Seq("s", "key"), Seq("id"))
    val city = ObservedUse(ColumnUse(join.attribute(Seq("city")), Form.Equal, Some(join)), Seq(0.5), Nil)
    val day = ObservedUse(ColumnUse(Seq("day"), Form.Equal), Seq(0.5), Nil)
    val s = WorkloadSketch.empty.add(Seq(city, day)).add(Seq(city))
    assert(s.joins == Seq(join) && s.columns == Seq(join.attribute(Seq("city")) -> 2L, Seq("day") -> 1L))
    assert(s.without(_ == Seq("s", "key")) == WorkloadSketch.empty.add(Seq(day)))
    assert(s.without(_ == Seq("city")) == s)
    assert(s.only(_.join.isEmpty) == WorkloadSketch.empty.add(Seq(day)))
  }

  private val a = Column(Seq("a"), LongType)
  private val b = Column(Seq("b"), LongType)
  private val s = Column(Seq("s"), StringType)
  private def is(c: Column, operator: Operator, v: Long): StatsPredicate = Comparison(c, operator, LongValue(v))
  private def equal(c: Column, v: Long): StatsPredicate = is(c, Operator.Equal, v)
  private def value(v: Long): Option[Value] = Some(LongValue(v))
  private val unknown = Unknown(Reason(ReasonCode.Subquery, ""))

  private def values(of: Long*): ColumnConstraint = OneOf(of.map(v => LongValue(v): Value).toSet)

  test("conjunctions, alternatives of one column, lists and prefixes give constraints, and null tests give none") {
    val p = And(And(equal(a, 1), is(b, Operator.Less, 9)), And(IsNotNull(b), is(b, Operator.GreaterOrEqual, 2)))
    val ofP = Map(a -> values(1), b -> Between(value(2), value(9)))
    val none = Map.empty[Column, ColumnConstraint]
    Seq[(StatsPredicate, Map[Column, ColumnConstraint])](
      p -> ofP,
      And(p, unknown) -> ofP,
      And(is(a, Operator.LessOrEqual, 3), is(a, Operator.GreaterOrEqual, 3)) -> Map(a -> values(3)),
      And(is(a, Operator.Less, 3), is(a, Operator.Less, 7)) -> Map(a -> Between(None, value(3))),
      Or(equal(a, 1), equal(a, 5)) -> Map(a -> values(1, 5)),
      Or(equal(a, 1), is(a, Operator.Greater, 5)) -> Map(a -> Between(value(1), None)),
      Or(equal(a, 1), equal(b, 5)) -> none,
      Or(equal(a, 1), unknown) -> none,
      Or(Const.False, equal(a, 1)) -> Map(a -> values(1)),
      In.of(a, Seq(LongValue(2), LongValue(1)), hasNull = true) -> Map(a -> values(1, 2)),
      And(equal(b, 1), In.of(a, Nil, hasNull = false)) -> none,
      Not(equal(a, 1)) -> none,
      IsNull(a) -> none
    ).foreach { case (condition, found) => assert(ColumnConstraint.of(condition) == found, condition) }
    assert(ColumnConstraint.of(Or(And(equal(a, 1), equal(b, 2)), equal(a, 5))).keySet == Set(a))
    val prefix = new BytesValue("ab".getBytes(UTF_8))
    val found = ColumnConstraint.of(StartsWith(s, prefix))
    assert(found.keySet == Set(s))
    val Between(low, high) = found(s): @unchecked
    assert(low.contains(prefix) && Value.ordering.gt(high.get, new BytesValue("ab\uffff".getBytes(UTF_8))))
    assert(Value.ordering.lt(high.get, new BytesValue("ac".getBytes(UTF_8))))
  }

  test("only ranks of values are recorded") {
    val axis = RankAxis.of(IndexedSeq(FileBounds.Longs(0, 100) -> 10L), floating = false).get
    def observed(p: StatsPredicate) =
      ColumnConstraint.of(p).get(a).flatMap(ColumnConstraint.observed(ColumnUse(Seq("a"), _), _, axis))
    def use(form: Form, starts: Seq[Double], ends: Seq[Double]) = ObservedUse(ColumnUse(Seq("a"), form), starts, ends)
    assert(observed(equal(a, 25)).contains(use(Form.Equal, Seq(0.25), Nil)))
    assert(observed(is(a, Operator.Greater, 50)).contains(use(Form.Range, Seq(0.5), Nil)))
    assert(observed(is(a, Operator.Less, 50)).contains(use(Form.Range, Nil, Seq(0.5))))
    val many = observed(In.of(a, (0L to 100L).map(LongValue(_)), hasNull = false)).get
    assert(many.use.form == Form.In && many.starts.length <= 64 && many.starts.length >= 32)
  }

  private def assume(assumed: AssumedRanks, asked: ColumnConstraint): Option[ObservedUse] =
    assumed.observed(ColumnUse(Seq("a"), _), asked)

  test("values that no statistics rank are spread evenly") {
    val assumed = new AssumedRanks
    val ranks = Seq.fill(64)(assume(assumed, OneOf(Set(LongValue(7)))).get).map(_.starts.head)
    assert(ranks.forall(r => r >= 0 && r < 1))
    // Each sixteenth of the column gets its share, more or less one.
    val counts = ranks.groupBy(r => (r * 16).toInt).map(_._2.size)
    assert(counts.size == 16 && counts.forall(n => n >= 3 && n <= 5), counts)
  }

  test("the form of a constraint without statistics is kept") {
    val assumed = new AssumedRanks
    assert(assume(assumed, OneOf(Set(LongValue(1)))).map(_.use.form).contains(Form.Equal))
    val in = assume(assumed, OneOf((1L to 100L).map(LongValue(_)).toSet)).get
    assert(in.use.form == Form.In && in.starts.size == ColumnConstraint.MaxValues && in.ends.isEmpty)
    val both = assume(assumed, Between(value(1), value(2))).get
    assert(both.use.form == Form.Range && math.abs(both.ends.head - both.starts.head - 0.25) < 1e-9)
    assert(both.starts.head >= 0 && both.ends.head <= 1)
    def sizes(low: Option[Value], high: Option[Value]) =
      assume(assumed, Between(low, high)).map(found => (found.starts.size, found.ends.size))
    assert(sizes(value(1), None).contains((1, 0)) && sizes(None, value(1)).contains((0, 1)))
    assert(sizes(None, None).isEmpty)
  }

  private def longs(files: (Long, Long, Long)*): RankAxis =
    RankAxis.of(files.map { case (min, max, rows) => FileBounds.Longs(min, max) -> rows }.toIndexedSeq, false).get

  test("the example of the comment, and files with one value only, of whose rows half count as below it") {
    val axis = longs((0L, 100L, 10L), (50L, 150L, 10L))
    assert(Seq(-5L, 0L, 50L, 75L, 150L, 1000L).map(v => axis.rank(v)) == Seq(0d, 0d, 0.25, 0.5, 1d, 1d))
    val single = longs((5L, 5L, 30L), (0L, 4L, 10L), (6L, 10L, 20L))
    assert(math.abs(single.rank(5L) - 25d / 60) < 1e-9)
  }

  test("ranks rise with the value, from 0 to 1, for numbers, floats and strings") {
    val random = new Random(1)
    (1 to 100).foreach { i =>
      def value(): Any = i % 3 match {
        case 0 => random.nextLong()
        case 1 => OrderedValue.ofDouble(random.nextGaussian() * math.pow(10, random.nextInt(40).toDouble))
        case _ => s"https://example.org/${random.nextInt(100000)}".getBytes(UTF_8)
      }
      def less(a: Any, b: Any): Boolean = (a, b) match {
        case (x: Long, y: Long)               => x < y
        case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y) < 0
        case other                            => fail(other.toString)
      }
      val files = IndexedSeq.fill(random.nextInt(20) + 1) {
        val pair = Seq(value(), value()).sortWith(less)
        val bounds = (pair.head, pair.last) match {
          case (low: Long, high: Long)               => FileBounds.Longs(low, high)
          case (low: Array[Byte], high: Array[Byte]) => FileBounds.Bytes(low, high)
          case other                                 => fail(other.toString)
        }
        (bounds: FileBounds) -> (random.nextInt(1000) + 1L)
      }
      val axis = RankAxis.of(files, floating = i % 3 == 1).get
      val ranks = Seq.fill(100)(value()).sortWith(less).map(axis.rank)
      assert(ranks.forall(r => r >= 0 && r <= 1), ranks)
      ranks.zip(ranks.tail).foreach { case (a, b) => assert(a <= b + 1e-9) }
    }
  }

  test("ranks of evenly spread values are their shares, whatever files they are in") {
    val random = new Random(2)
    val files = IndexedSeq.fill(5000) {
      val rows = IndexedSeq.fill(20)(random.nextInt(1000000).toLong)
      FileBounds.Longs(rows.min, rows.max) -> 20L
    }
    val axis = RankAxis.of(files, floating = false).get
    (0 to 20).foreach(i => assert(math.abs(axis.rank(i * 50000L) - i / 20d) < 0.04))
  }

  test("there is no axis without bounds, or if only some files have bounds") {
    assert(RankAxis.of(IndexedSeq(FileBounds.AllNull -> 0L, FileBounds.Unknown -> 5L), floating = false).isEmpty)
    def axes(bounded: Int*): Option[RankAxis] = {
      val set = new BitSet
      bounded.foreach(set.set)
      val known = new LongStatsColumn(Array(0, 1, 0), Array(5, 6, 0), set, Array(0, 0, 10), null)
      val statistics = new StatsTable {
        def files: Int = 3
        def rows: Array[Long] = Array(10, 10, 10)
        def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = Some(known)
      }
      ColumnAxes.of(statistics, a)
    }
    assert(axes(0, 1).isDefined)
    assert(axes(0).isEmpty)
  }
}
