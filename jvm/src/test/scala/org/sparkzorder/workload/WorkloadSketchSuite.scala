package org.sparkzorder.workload

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.layout.JoinSpec

class WorkloadSketchSuite extends AnyFunSuite {
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

  test("a column whose name is too long is left out") {
    val long = Seq(ObservedUse(ColumnUse(Seq("x" * 2000), Form.Equal), Seq(0.5), Nil))
    assert(SketchJson.read(SketchJson.write(WorkloadSketch.empty.add(long))).isEmpty)
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
    val most = WorkloadSketch(Map(Vector(ColumnUse(Seq("a"), Form.Equal)) ->
      KindSketch(Positions.MaxCount, Vector(UseSketch(Positions.of(Map(1 -> Positions.MaxCount)), Positions.empty)))))
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
}
