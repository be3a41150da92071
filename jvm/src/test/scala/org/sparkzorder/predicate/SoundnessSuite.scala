package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.stats.{FileStats, IndexableColumns, IndexedColumns, StatsCollector}

/**
 * Compares Spark's own evaluation of a condition, row by row, with the outcomes of the file's
 * statistics.
 */
class SoundnessSuite extends AnyFunSuite {
  import RowOutcomes.byName

  /** The outcomes of the rows, as a mask. */
  private def real(condition: Expression, file: ModelFile): Int = {
    val outcomes = RowOutcomes.of(condition, file.rows)
    assert(outcomes.size == file.rows.size)
    outcomes.foldLeft(0)(_ | _)
  }

  private def check(seed: Long, cases: Int)(files: RandomConditions => Seq[(ModelFile, FileStats)])(
      verdict: (Expression, StatsPredicate, ModelFile, Int, Int) => Unit
  ): Unit = {
    val random = new Random(seed)
    var done = 0
    while (done < cases) {
      val model = new RandomConditions(random)
      val some = files(model)
      val table = new ModelTable(some.map(_._2))
      (1 to 40).foreach { _ =>
        val condition = model.condition(random.nextInt(4))
        val predicate = CatalystTranslator.translate(condition, byName)
        val bound = BindReferences.bindReference(condition, model.attributes)
        val masks = Evaluation.outcomes(predicate, table)
        some.map(_._1).zip(masks).foreach { case (file, mask) =>
          verdict(condition, predicate, file, real(bound, file), mask.toInt)
        }
        val kept = Evaluation.keep(predicate, table)
        masks.indices.foreach(i => assert(kept.get(i) == ((masks(i) & Outcomes.True) != 0)))
        done += 1
      }
    }
  }

  /** Ranges take the values of all branches for possible. */
  private def isRange(p: StatsPredicate): Boolean = p.isInstanceOf[RangeComparison] || p.children.exists(isRange)

  private def show(condition: Expression, predicate: StatsPredicate, file: ModelFile) =
    s"$condition as $predicate over ${file.rows.mkString("; ")}: ${file.exact}"

  for ((cases, tags) <- Seq(1500 -> Nil, 6000 -> Seq(InRest)))
    test(
      s"the outcomes of statistics include those of the rows, whatever the statistics leave out, $cases cases",
      tags: _*
    ) {
      var skipped = 0
      var some = 0
      check(seed = 42L, cases) { model =>
        Seq.fill(12)(model.file()).flatMap(f => Seq(f -> f.exact, f -> model.weaker(f.exact)))
      } { (condition, predicate, file, rows, mask) =>
        if ((rows & ~mask) != 0) fail(s"rows $rows, statistics $mask: ${show(condition, predicate, file)}")
        some += 1
        if ((mask & Outcomes.True) == 0) skipped += 1
      }
      info(s"$skipped of $some files skipped")
      assert(skipped > some / 10)
    }

  test("a file whose rows are all the same has exactly the outcomes of its row", InRest) {
    var exact = 0
    check(seed = 43L, cases = 8000)(model => Seq.fill(10)(model.constantFile()).map(f => f -> f.exact)) {
      (condition, predicate, file, rows, mask) =>
        if (predicate.reasons.isEmpty && !isRange(predicate)) {
          if (rows != mask) fail(s"rows $rows, statistics $mask: ${show(condition, predicate, file)}")
          exact += 1
        }
    }
    info(s"$exact conditions without unknown parts")
    assert(exact > 20000)
  }

  test("the values of columns rule out no file with a row for which a condition is true", InRest) {
    val random = new Random(44L)
    var (byBounds, byMembers) = (0, 0)
    (1 to 400).foreach { _ =>
      val model = new RandomConditions(random)
      val files = Seq.fill(12)(model.file()).flatMap { f =>
        val known = withMembers(f, random)
        Seq(f -> known, f -> model.weaker(known))
      }
      val table = new ModelTable(files.map(_._2))
      (1 to 40).foreach { _ =>
        val condition = model.condition(random.nextInt(4))
        val predicate = CatalystTranslator.translate(condition, byName)
        val bound = BindReferences.bindReference(condition, model.attributes)
        val kept = Evaluation.keep(predicate, table)
        val having = MembershipEvaluation.keep(predicate, table, kept)
        files.indices.foreach { i =>
          val file = files(i)._1
          assert(!having.get(i) || kept.get(i))
          if (!having.get(i) && (real(bound, file) & Outcomes.True) != 0) fail(show(condition, predicate, file))
        }
        byBounds += files.size - kept.cardinality
        byMembers += kept.cardinality - having.cardinality
      }
    }
    info(s"$byBounds files skipped by bounds, $byMembers more by values")
    assert(byMembers > 2000)
  }

  private def withMembers(file: ModelFile, random: Random): FileStats = {
    val keys = IndexableColumns.of(file.schema)
    val kinds = keys.filter(_ => random.nextInt(4) > 0).map { key =>
      key -> (if (random.nextBoolean()) MembershipKind.Values else MembershipKind.Bloom)
    }
    val collector = new StatsCollector(file.schema, IndexedColumns(keys, kinds.toMap))
    file.rows.foreach(collector.add)
    file.exact.copy(members = collector.result().members)
  }

  test("equal conditions of two plans are equal predicates") {
    val pairs = Seq.fill(2)(new RandomConditions(new Random(7))).map(m => Seq.fill(500)(m.condition(3)))
    pairs.head.zip(pairs(1)).foreach { case (a, b) =>
      val (p, q) = (CatalystTranslator.translate(a, byName), CatalystTranslator.translate(b, byName))
      assert(p == q && p.hashCode == q.hashCode)
    }
  }
}
