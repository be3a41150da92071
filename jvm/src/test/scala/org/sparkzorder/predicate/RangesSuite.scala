package org.sparkzorder.predicate

import java.time.{Instant, ZoneId}

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Right => _, StartsWith => _, _}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/** Compares conditions on functions of several columns with Spark's own evaluation of them. */
class RangesSuite extends AnyFunSuite {
  import RowOutcomes.byName

  private def one[A](random: Random, of: Seq[A]): A = of(random.nextInt(of.size))

  private def condition(random: Random, f: Expression, g: Expression, seen: Option[Any]): Expression = {
    val literal = Literal(seen.orNull, f.dataType)
    random.nextInt(10) match {
      case 0                             => IsNull(f)
      case 1                             => In(f, Seq(literal, literal))
      case 2 if g.dataType == f.dataType => one(random, RandomConditions.comparisons)(f, g)
      case _                             => one(random, RandomConditions.comparisons)(f, literal)
    }
  }

  private def longs(count: Int): Seq[AttributeReference] =
    (1 to count).map(i => AttributeReference(s"c$i", LongType)())

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
        val e = condition(random, f, g, RowOutcomes.evaluated(bound, one(random, models.flatMap(_.rows))))
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
