package org.sparkzorder.predicate

import java.time.{Instant, ZoneId}
import java.util.concurrent.TimeUnit.HOURS

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Right => _, StartsWith => StartsWithText, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/** Compares functions of one column, and of several, with Spark's own evaluation of them. */
class ColumnFunctionSuite extends AnyFunSuite {
  import RowOutcomes.byName

  private def one[A](random: Random, of: Seq[A]): A = of(random.nextInt(of.size))

  private def condition(random: Random, values: RandomFunctions, f: Expression, rows: Seq[InternalRow]): Expression = {
    val bound = f.transform { case a: AttributeReference => BoundReference(0, a.dataType, nullable = true) }
    def literal(): Literal = {
      val seen = if (rows.isEmpty) None else RowOutcomes.evaluated(bound, one(random, rows))
      val of = seen.filter(_ => random.nextInt(4) > 0).getOrElse(if (random.nextInt(20) == 0) null
      else values.value(f.dataType))
      Literal(of, f.dataType)
    }
    def pattern() = text(one(random, Seq("a%", "a", "b %", "a\t%", "% ", "a_", " %", "ab", "a a%")))
    random.nextInt(12) match {
      case 3 if f.dataType == StringType => new Like(f, pattern())
      case 0                             => IsNull(f)
      case 1                             => IsNotNull(f)
      case 2 | 3                         => In(f, Seq.fill(1 + random.nextInt(4))(literal()))
      case 4                             => InSet(f, Seq.fill(1 + random.nextInt(4))(literal().value).toSet)
      case _                             =>
        val (left, right) = if (random.nextBoolean()) (f, literal()) else (literal(), f)
        one(random, RandomConditions.comparisons)(left, right)
    }
  }

  for (ansi <- Seq(true, false); (cases, tags) <- Seq(3000 -> Nil, 20000 -> Seq(InRest))) {
    test(s"the outcomes of statistics include those of the rows in Spark, ANSI mode $ansi, $cases cases", tags: _*) {
      val random = new Random(if (ansi) 21L else 22L)
      val values = new RandomFunctions(random)
      val compared = new ComparedOutcomes
      RowOutcomes.inMode(ansi)((1 to cases).foreach { _ =>
        val dataType = one(random, RandomFunctions.columns)
        val column = AttributeReference("c", dataType)()
        val schema = new StructType().add("c", dataType)
        val f = values.function(column)
        def row() = InternalRow(if (random.nextInt(8) == 0) null else values.value(dataType))
        val models = Seq.fill(4)(ModelFile(schema, Seq.fill(1 + random.nextInt(3))(row())))
        compared.compare(condition(random, values, f, models.flatMap(_.rows)), Seq(column), models)
      })
      info(s"$compared")
      val files = compared.files
      assert(compared.used * 5 > cases * 3 && compared.skipped > files / 4 && compared.exact > files / 5)
    }
  }

  private def text(s: String) = Literal(UTF8String.fromString(s), StringType)

  test("in every zone, functions of time are rising from the instant on that ZoneClock gives", InRest) {
    val zones = ZoneId.getAvailableZoneIds.asScala.toSeq.sorted.map(ZoneId.of(_)).distinctBy(_.getRules)
    val ts = BoundReference(0, TimestampType, nullable = false)
    val day = BoundReference(0, DateType, nullable = false)
    var (steps, refused) = (0, Map.empty[String, Int])
    zones.foreach { zone =>
      val id = Some(zone.getId)
      val instants = zone.getRules.getTransitions.asScala.map(_.toEpochSecond * 1000000L).toSeq.flatMap { t =>
        Seq(-49, -25, -24, -13, -2, -1, 0, 1, 2, 3, 13, 24, 25, 49).flatMap { h =>
          val at = t + HOURS.toMicros(h.toLong)
          Seq(at - 1800000001L, at - 1, at, at + 1, at + 1799999999L)
        }
      }.sorted
      val days = instants.map(i => Math.floorDiv(i, 86400000000L).toInt).distinct
      val functions = Seq(Cast(day, TimestampType, id) -> days, Cast(ts, DateType, id) -> instants) ++
        Seq("MINUTE", "HOUR", "DAY", "MONTH").map(u => TruncTimestamp(text(u), ts, id) -> instants)
      functions.foreach { case (f, values) =>
        MonotoneSteps.of(f) match {
          case None => refused = refused.updatedWith(f.prettyName)(n => Some(n.getOrElse(0) + 1))
          case Some(MonotoneStep(_, rising, from, to)) =>
            assert(rising)
            steps += 1
            def number(v: Any) = v.asInstanceOf[Number].longValue
            val inside = values.filter(v => from.forall(number(_) <= number(v)) && to.forall(number(_) >= number(v)))
            val results = inside.map(v => number(f.eval(InternalRow(v))))
            assert(results == results.sorted, s"$f in $zone")
        }
      }
    }
    info(s"${zones.size} zones, $steps functions, refused $refused")
    assert(steps > zones.size * 5)
  }

  test("a function is not used if the clock will be turned back over a midnight, or show it twice") {
    def clock(zone: String) = ZoneClock.of(ZoneId.of(zone))
    assert(clock("UTC").dates.contains(ZoneClock.Earliest) && clock("UTC").midnights.contains(ZoneClock.Earliest))
    assert(clock("America/Havana").dates.isDefined && clock("America/Havana").midnights.isEmpty)
    // Until November 2010 this clock was turned back from 00:01 to 23:01.
    val november2010 = 1288569600000000L
    assert(clock("America/St_Johns").dates.exists(since => since > november2010 + 365 * ZoneClock.Day))
    assert(clock("America/St_Johns").dates.exists(since => since < november2010 + 400 * ZoneClock.Day))
    assert(clock("Europe/Berlin").dates.contains(ZoneClock.Earliest))
  }

  test("prefixes of strings by characters") {
    val s = AttributeReference("s", StringType)()
    val column = Column(Seq("s"), StringType)
    def left(n: Int) = Substring(s, Literal(1), Literal(n))
    def translated(e: Expression) = CatalystTranslator.translate(e, byName)
    def bytes(text: String) = new BytesValue(text.getBytes("UTF-8"))
    assert(translated(EqualTo(left(2), text("ab"))) == StartsWith(column, bytes("ab")))
    assert(translated(EqualTo(left(3), text("ab"))) == Comparison(column, Operator.Equal, bytes("ab")))
    assert(translated(EqualTo(left(1), text("ab"))) == ColumnFunction.falseUnlessNull(column))
    assert(translated(LessThan(left(1), text("ab"))) == Comparison(column, Operator.Less, bytes("b")))
    assert(translated(EqualTo(left(2), text("a\u00e9"))).isInstanceOf[Within])
    assert(translated(EqualTo(Substring(s, Literal(2), Literal(2)), text("ab"))).isInstanceOf[Unknown])
    assert(translated(EqualTo(left(0), text(""))).isInstanceOf[Unknown])
  }

  /** Conditions on functions of strings. */
  private final class StringTests(override protected val random: Random) extends Choices {
    private val s = AttributeReference("s", StringType)()
    private val n = AttributeReference("n", LongType)()
    private val schema = new StructType().add("s", StringType).add("n", LongType)

    /** Characters with more than one original in the other case, of several bytes, and broken ones. */
    private val characters: Seq[Seq[Byte]] =
      ("aAbkK\u212asS\u017f\u00df\ufb01fFiI\u0131\u0130  %07\u00e9\u03a3".map(_.toString) :+ "\ud83d\ude00")
        .map(_.getBytes("UTF-8").toSeq) :+ Seq(0xe4.toByte)

    private def string(): UTF8String =
      UTF8String.fromBytes(Seq.fill(random.nextInt(6))(this.one(characters)).flatten.toArray)

    private def function(): Expression = random.nextInt(9) match {
      case 0     => StringTrim(s, None)
      case 1     => StringTrimLeft(s, None)
      case 2     => StringTrimRight(s, None)
      case 3 | 4 => Upper(s)
      case 5 | 6 => Lower(s)
      case 7     => Cast(n, StringType)
      case _     => Concat(this.one(Seq(Seq(text("a"), s), Seq(s, text("ba")), Seq(text("k"), s, text("k")))))
    }

    private def condition(f: Expression, seen: String): Expression = {
      val start = seen.take(random.nextInt(seen.length + 1))
      random.nextInt(8) match {
        case 0 => StartsWithText(f, text(start))
        case 1 => new Like(f, text(start.replaceAll("([\\\\%_])", "\\\\$1") + "%"))
        case 2 => In(f, Seq(text(seen), text("b")))
        case 3 => EqualNullSafe(f, text(seen))
        case 4 => RLike(s, text("^" + this.one(Seq("a", "ab?", "k+", "K\\w", "f.", " *a", "S|a", "(a)"))))
        case 5 => Not(EqualTo(f, text(seen)))
        case _ => EqualTo(f, text(seen))
      }
    }

    def compareOne(compared: ComparedOutcomes): Unit = {
      def row() = InternalRow(if (random.nextInt(10) == 0) null else string(), random.nextInt(30).toLong - 5)
      val models = Seq.fill(4)(ModelFile(schema, Seq.fill(1 + random.nextInt(3))(row())))
      val f = function()
      val bound = BindReferences.bindReference(f, Seq(s, n))
      val seen = String.valueOf(bound.eval(this.one(models.flatMap(_.rows))))
      compared.compare(condition(f, seen), Seq(s, n), models)
      ()
    }
  }

  test("the outcomes of tests of strings include those that Spark gives for the rows", InRest) {
    val (compared, tests) = (new ComparedOutcomes, new StringTests(new Random(51L)))
    (1 to 20000).foreach(_ => tests.compareOne(compared))
    info(s"$compared")
    assert(compared.used > 12000 && compared.skipped > compared.files / 4 && compared.thrown == 0)
  }

  test("the start of a regular expression") {
    val none = Seq("^a{2}", "ab", "^a|b", "^\\Qa", "^(a)", "(?i)^a")
    val starts = Seq("" -> none, "a" -> Seq("^ab*", "^a.b", "^a$", "^a\ud83d\ude00"), "ab" -> Seq("^ab", "^abc?")) ++
      Seq("k0007" -> Seq("^k0007"))
    for ((start, regexes) <- starts; regex <- regexes) assert(RegexPrefix.of(regex) == start, regex)
  }

  private def ofTwo(random: Random, f: Expression, g: Expression, seen: Option[Any]): Expression = {
    val literal = Literal(seen.orNull, f.dataType)
    random.nextInt(10) match {
      case 0                             => IsNull(f)
      case 1                             => In(f, Seq(literal, literal))
      case 2 if g.dataType == f.dataType => one(random, RandomConditions.comparisons)(f, g)
      case _                             => one(random, RandomConditions.comparisons)(f, literal)
    }
  }

  private def longs(count: Int): Seq[AttributeReference] = (1 to count).map(i => AttributeReference(s"c$i", LongType)())

  private def file(columns: Seq[AttributeReference], rows: InternalRow*): ModelFile =
    ModelFile(StructType(columns.map(c => StructField(c.name, c.dataType))), rows)

  test("choices within choices are translated and evaluated in a short time", InRest) {
    val columns = longs(12)
    def more(i: Int) = GreaterThan(columns(i % 12), Literal(1L))
    val nested = Seq(
      EqualTo(columns.reduceLeft[Expression]((a, b) => Coalesce(Seq(a, b))), Literal(5L)),
      EqualTo(columns.reduceLeft[Expression]((a, b) => If(GreaterThan(a, Literal(1L)), a, b)), Literal(5L)),
      (1 to 40).foldLeft[Expression](more(0))((c, i) => If(c, more(i), more(i + 1))),
      (1 to 40).foldLeft[Expression](more(0))((c, i) => EqualNullSafe(If(c, more(i), more(i + 1)), Literal(true))),
      GreaterThan(
        (1 to 20).foldLeft[Expression](columns(0))((x, i) => If(GreaterThan(x, Literal(i.toLong)), x, columns(i % 12))),
        Literal(5L)
      ),
      In(columns.reduceLeft[Expression](new Add(_, _)), (1L to 5000L).map(Literal(_)))
    )
    val table = new ModelTable(
      Seq.fill(100)(file(columns, InternalRow.fromSeq(1L to 12L), InternalRow.fromSeq(Seq.fill(12)(7L))).exact)
    )
    nested.foreach { e =>
      val start = System.nanoTime()
      val predicate = CatalystTranslator.translate(e, byName)
      val masks = Evaluation.outcomes(predicate, table)
      assert(predicate.columns.size + predicate.reasons.size > 0 && masks.forall(_ != 0))
      assert((System.nanoTime() - start) / 1e9 < 5, e.toString.take(200))
    }
  }

  test("many functions for many files are not evaluated") {
    val columns = longs(3)
    val stats = file(columns, InternalRow(1L, 2L, 3L)).exact
    def sums(n: Int): Expression =
      (1 to n).map(i => EqualTo(new Add(columns(0), columns(1)), Literal(-i.toLong)): Expression).reduce(Or(_, _))
    def kept(n: Int, files: Int) =
      Evaluation.keep(CatalystTranslator.translate(sums(n), byName), new ModelTable(Seq.fill(files)(stats))).cardinality
    assert(kept(10, 5000) == 0 && kept(100, 50) == 0 && kept(500, 5000) == 5000)
  }

  test("where the clock of a zone goes back, functions of instants have greater values than at the ends") {
    val column = AttributeReference("a", TimestampType)()
    for (zone <- Seq("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")) {
      val rules = ZoneId.of(zone).getRules
      val back = Iterator.iterate(rules.nextTransition(Instant.parse("2020-01-01T00:00:00Z")))(t =>
        rules.nextTransition(t.getInstant)
      ).find(_.isOverlap).get.toEpochSecond * 1000000L
      val rows = Seq(-600000000L, -1L, 600000000L).map(d => InternalRow(back + d))
      val table = new ModelTable(Seq(file(Seq(column), rows: _*).exact))
      Seq(
        DateFormatClass(column, Literal("yyyy-MM-dd HH:mm:ss"), Some(zone)),
        FromUTCTimestamp(column, Literal(zone))
      ).foreach { f =>
        val greatest = BindReferences.bindReference[Expression](f, Seq(column)).eval(rows(1))
        val predicate = CatalystTranslator.translate(EqualTo(f, Literal(greatest, f.dataType)), byName)
        assert(!predicate.isInstanceOf[Unknown])
        assert((Evaluation.outcomes(predicate, table).head & Outcomes.True) != 0, f)
      }
    }
  }

  Seq(true, false).foreach { ansi =>
    test(s"the outcomes of ranges include those that Spark gives for the rows, ANSI mode $ansi", InRest) {
      val random = new Random(if (ansi) 31L else 32L)
      val values = new RandomRanges(random)
      val compared = new ComparedOutcomes
      val types = RandomFunctions.columns.filter(_ != StringType)
      var skippedBy, usedBy = Map.empty[String, Int]
      RowOutcomes.inMode(ansi)((1 to 30000).foreach { _ =>
        val of = one(random, types)
        val columns = Seq("a" -> of, "b" -> of, "c" -> one(random, types)).map(c => AttributeReference(c._1, c._2)())
        val (f, g) = (values.function(columns), values.function(columns))
        val models = Seq.fill(3) {
          val rows = 1 + random.nextInt(8)
          file(columns, columns.map(c => values.values(c.dataType, rows)).transpose.map(InternalRow.fromSeq(_)): _*)
        }
        val bound = BindReferences.bindReference[Expression](f, columns)
        val e = ofTwo(random, f, g, RowOutcomes.evaluated(bound, one(random, models.flatMap(_.rows))))
        compared.compare(e, columns, models).foreach { isSkipped =>
          f.foreach { part =>
            val name = part.getClass.getSimpleName
            usedBy = usedBy.updated(name, usedBy.getOrElse(name, 0) + 1)
            if (isSkipped) skippedBy = skippedBy.updated(name, skippedBy.getOrElse(name, 0) + 1)
          }
        }
      })
      info(s"$compared")
      info(usedBy.toSeq.sortBy(_._2).map { case (k, n) => s"$k ${skippedBy.getOrElse(k, 0)}/$n" }.mkString(", "))
      assert(compared.used > 15000 && compared.skipped > compared.files / 5)
      // Each kind of function has left out files.
      assert(usedBy.keySet -- skippedBy.keySet == Set.empty)
    }
  }
}
