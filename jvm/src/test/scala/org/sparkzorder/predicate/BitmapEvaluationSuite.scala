package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.types.{DoubleType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, LongStatsColumn, OrderedValue}

/** Compares bitmaps with the outcomes that they stand for. */
class BitmapEvaluationSuite extends AnyFunSuite with Choices {
  override protected val random = new Random(17)
  private val (a, d, s) = (Column(Seq("a"), LongType), Column(Seq("d"), DoubleType), Column(Seq("s"), StringType))

  private def long(): Long =
    if (random.nextInt(6) == 0) one(Seq(Long.MinValue, Long.MinValue + 1, Long.MaxValue - 1, Long.MaxValue))
    else random.nextInt(20).toLong

  private def double(): Long =
    OrderedValue.ofDouble(one(Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 0.0, 1.5, -3.0)))

  private def text(): Array[Byte] = one(Seq("", "a", "ab", "b", "c")).getBytes

  private def stats(complete: Boolean): FileStats = {
    def counts(): Long = if (complete) 0L else one(Seq(0L, 0L, 1L, 5L, -1L))
    def of[A](value: => A)(smaller: (A, A) => Boolean): ColumnStats = {
      val (x, y) = (value, value)
      val (min, max) = if (smaller(x, y)) (x, y) else (y, x)
      if (complete || random.nextInt(5) > 0) ColumnStats(min, max, counts(), counts())
      else ColumnStats(null, null, counts(), counts())
    }
    FileStats(
      if (complete) 5L else one(Seq(5L, 5L, 0L)),
      Map(
        ColumnKey(a.path, a.dataType) -> of(long())(_ < _),
        ColumnKey(d.path, d.dataType) -> of(double())(_ < _),
        ColumnKey(s.path, s.dataType) -> of(text())(OrderedValue.compare(_, _) < 0)
      )
    )
  }

  private def leaf(): StatsPredicate = {
    def ofColumn(column: Column, value: () => Value): StatsPredicate = random.nextInt(8) match {
      case 0 => In.of(column, Seq.fill(1 + random.nextInt(5))(value()), random.nextBoolean())
      case 1 => IsNull(column)
      case _ => Comparison(column, one(Operator.all), value())
    }
    random.nextInt(6) match {
      case 0 => ofColumn(s, () => Value.of(StringType, org.apache.spark.unsafe.types.UTF8String.fromBytes(text())))
      case 1 => Unknown(Reason(ReasonCode.Subquery, "unknown"))
      case 2 => Const.True
      case 3 => ofColumn(d, () => LongValue(double()))
      case _ => ofColumn(a, () => LongValue(long()))
    }
  }

  private def predicate(depth: Int): StatsPredicate = if (depth == 0) leaf()
  else
    random.nextInt(4) match {
      case 0 => And(predicate(depth - 1), predicate(depth - 1))
      case 1 => Or(predicate(depth - 1), predicate(depth - 1))
      case 2 => Not(predicate(depth - 1))
      case _ => leaf()
    }

  for (complete <- Seq(true, false))
    test(
      s"the files that may have true, with ${if (complete) "complete bounds" else "nulls, NaN and missing bounds"}",
      (if (complete) Seq(InRest) else Nil): _*
    ) {
      for (_ <- 1 to 300) {
        val files = Seq.fill(1 + random.nextInt(150))(stats(complete))
        val table = new ModelTable(files)
        assert(table.allHaveRows == files.forall(_.rows > 0))
        if (complete) Seq(a, d).foreach { c =>
          assert(table.column(c.path, c.dataType).exists(_.asInstanceOf[LongStatsColumn].isComplete))
        }
        for (_ <- 1 to 20) {
          val p = predicate(random.nextInt(4))
          val masks = Evaluation.outcomes(p, table)
          val keep = Evaluation.keep(p, table)
          files.indices.foreach { i =>
            assert(keep.get(i) == ((masks(i) & Outcomes.True) != 0), s"$p for file $i, ${files(i)}")
          }
          assert(keep.length <= files.length)
        }
      }
    }
}
