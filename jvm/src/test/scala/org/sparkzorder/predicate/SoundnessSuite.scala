package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression}
import org.apache.spark.sql.types.{LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.stats.{FileStats, IndexableColumns, IndexedColumns, StatsCollector}

/** Compares Spark's own evaluation of a condition, row by row, with the outcomes of the file's statistics. */
class SoundnessSuite extends AnyFunSuite {
  import RowOutcomes.byName

  /** The outcomes of the rows, as a mask. */
  private def real(condition: Expression, file: ModelFile): Int = {
    val outcomes = RowOutcomes.of(condition, file.rows)
    assert(outcomes.size == file.rows.size)
    outcomes.foldLeft(0)(_ | _)
  }

  /** Random conditions over these files, as predicates and bound to their rows, 40 over each set of files. */
  private def check(random: Random, cases: Int)(files: RandomConditions => Seq[(ModelFile, FileStats)])(
      verdict: (Expression, StatsPredicate, Expression, Seq[ModelFile], ModelTable) => Unit
  ): Unit = (0 until cases by 40).foreach { _ =>
    val model = new RandomConditions(random)
    val some = files(model)
    val table = new ModelTable(some.map(_._2))
    (1 to 40).foreach { _ =>
      val condition = model.condition(random.nextInt(4))
      val bound = BindReferences.bindReference(condition, model.attributes)
      verdict(condition, CatalystTranslator.translate(condition, byName), bound, some.map(_._1), table)
    }
  }

  /** The same, with the outcomes of each file's rows and of its statistics. */
  private def checkMasks(seed: Long, cases: Int)(files: RandomConditions => Seq[(ModelFile, FileStats)])(
      verdict: (Expression, StatsPredicate, ModelFile, Int, Int) => Unit
  ): Unit = check(new Random(seed), cases)(files) { (condition, predicate, bound, models, table) =>
    val masks = Evaluation.outcomes(predicate, table)
    val kept = Evaluation.keep(predicate, table)
    masks.indices.foreach { i =>
      verdict(condition, predicate, models(i), real(bound, models(i)), masks(i).toInt)
      assert(kept.get(i) == ((masks(i) & Outcomes.True) != 0))
    }
  }

  /** Ranges take the values of all branches for possible. */
  private def isRange(p: StatsPredicate): Boolean = p.isInstanceOf[RangeComparison] || p.children.exists(isRange)

  private def show(condition: Expression, predicate: StatsPredicate, file: ModelFile) =
    s"$condition as $predicate over ${file.rows.mkString("; ")}: ${file.exact}"

  for ((cases, tags) <- Seq(1500 -> Nil, 6000 -> Seq(InRest)))
    test(s"the outcomes of statistics include those of the rows, whatever they leave out, $cases cases", tags: _*) {
      var skipped = 0
      var some = 0
      checkMasks(seed = 42L, cases) { model =>
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
    checkMasks(seed = 43L, cases = 8000)(model => Seq.fill(10)(model.constantFile()).map(f => f -> f.exact)) {
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
    check(random, cases = 16000) { model =>
      Seq.fill(12)(model.file()).flatMap { f =>
        val known = withMembers(f, random)
        Seq(f -> known, f -> model.weaker(known))
      }
    } { (condition, predicate, bound, models, table) =>
      val kept = Evaluation.keep(predicate, table)
      val having = MembershipEvaluation.keep(predicate, table, kept)
      models.zipWithIndex.foreach { case (file, i) =>
        assert(!having.get(i) || kept.get(i))
        if (!having.get(i) && (real(bound, file) & Outcomes.True) != 0) fail(show(condition, predicate, file))
      }
      byBounds += models.size - kept.cardinality
      byMembers += kept.cardinality - having.cardinality
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

  test("a row for which the predicate is true has a value in each range", InRest) {
    def value(row: InternalRow, schema: StructType, path: Seq[String]): Any = {
      val i = schema.fieldIndex(path.head)
      if (row.isNullAt(i)) null
      else schema(i).dataType match {
        case s: StructType if path.size > 1 => value(row.getStruct(i, s.size), s, path.tail)
        case dt                             => row.get(i, dt)
      }
    }
    var ranges = 0
    check(new Random(44), cases = 8000)(model => Seq.fill(10)(model.file()).map(f => f -> f.exact)) {
      (condition, predicate, bound, models, _) =>
        val found = ValueRanges.of(predicate)
        for (file <- models; row <- file.rows if bound.eval(row) == true; (column, range) <- found) {
          ranges += 1
          val v = value(row, file.schema, column.path)
          def shown = s"$condition as $predicate: $row is not in $range of $column"
          if (v == null) assert(range.low.isEmpty, shown)
          else {
            val encoded = Value.of(column.dataType, v)
            assert(range.low.forall(Value.ordering.lteq(_, encoded)), shown)
            assert(range.high.forall(Value.ordering.lteq(encoded, _)), shown)
          }
        }
    }
    assert(ranges > 2000)
  }

  test("conjunctions narrow ranges, disjunctions widen them") {
    val (a, b) = (Column(Seq("a"), LongType), Column(Seq("b"), LongType))
    def is(c: Column, op: Operator, v: Long) = Comparison(c, op, LongValue(v))
    val both = And(And(is(a, Operator.Greater, 3), is(a, Operator.Less, 9)), is(a, Operator.GreaterOrEqual, 1))
    assert(ValueRanges.of(both) == Map(a -> ValueRange(Some(LongValue(3)), Some(LongValue(9)))))
    val either = Or(And(is(a, Operator.Equal, 3), is(b, Operator.Equal, 1)), is(a, Operator.Equal, 7))
    assert(ValueRanges.of(either) == Map(a -> ValueRange(Some(LongValue(3)), Some(LongValue(7)))))
    assert(ValueRanges.of(Not(is(a, Operator.Equal, 3))).isEmpty)
  }

  test("equal conditions of two plans are equal predicates") {
    val pairs = Seq.fill(2)(new RandomConditions(new Random(7))).map(m => Seq.fill(500)(m.condition(3)))
    pairs.head.zip(pairs(1)).foreach { case (a, b) =>
      val (p, q) = (CatalystTranslator.translate(a, byName), CatalystTranslator.translate(b, byName))
      assert(p == q && p.hashCode == q.hashCode)
    }
  }
}
