package org.sparkzorder.workload

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.layout._

/** Compares AUTO's choices on samples of known data with the counted files that single queries touch. */
class LayoutChooserSuite extends AnyFunSuite {
  private type Columns = IndexedSeq[ConstrainedColumn]
  private type Queries = Seq[Seq[ObservedUse]]
  private val span = 1000000

  private def column(name: String, values: Array[Any]): ConstrainedColumn = {
    val known = values.collect { case v: Long => v }
    val d = ValueDistribution.ofLongs(known, values.length - known.length)
    val ofRow = values.map { case v: Long => d.place(v) / 2 - 1; case _ => -1 }
    new ConstrainedColumn(Seq(name), d, ofRow, d.values.map(_.toDouble / span))
  }

  private def uniform(random: Random, names: Seq[String], rows: Int): Columns =
    names.map(n => column(n, Array.fill[Any](rows)(random.nextInt(span).toLong))).toIndexedSeq

  private def at(name: String, rank: Double) = ObservedUse(ColumnUse(Seq(name), Form.Equal), Seq(rank), Nil)

  private def between(name: String, low: Double, high: Double) =
    ObservedUse(ColumnUse(Seq(name), Form.Range), Seq(low), Seq(high))

  private def sketch(queries: Queries) = queries.foldLeft(WorkloadSketch.empty)(_.add(_))

  private def choose(columns: Columns, s: WorkloadSketch, files: Int, current: Option[Trial] = None) =
    LayoutChooser.choose(new LayoutEstimate(columns, s, files, aligned = true, 0d), columns, 8, current)

  /** The share of 100 files that queries touch, counted query by query. The estimate should be near to it. */
  private def counted(columns: Columns, trial: Trial, room: IndexedSeq[ValueDistribution], queries: Queries): Double = {
    val files = 100
    val shape = LayoutShape(trial.curve, aligned = true)
    val keys = trial.columns.map { case (c, _) => columns.indexWhere(_ eq c) }
    val distributions = keys.map(room).toIndexedSeq
    val curve = shape.curveOf(trial.columns.map(_._2), distributions, files)
    val uncut = new UnitLayout(distributions, curve, Cuts.none)
    def value(c: Int, row: Int): Any = {
      val v = columns(c).ofRow(row)
      if (v < 0) null else ConstrainedColumn.valuesOf(columns(c).values)(v)
    }
    val rows = columns.head.ofRow.indices
    val zs = rows.map(row => (uncut.z(keys.map(value(_, row))), row.toLong))
    val cuts = shape.cutsOf(zs.sorted, files, curve)
    val boxes = rows.groupBy(row => cuts.slot(zs(row)._1, row.toLong)).values.map { of =>
      columns.indices.map { c =>
        val values = of.map(value(c, _)).collect { case v: Long => v.toDouble / span }
        if (values.isEmpty) None else Some((values.min, values.max))
      }
    }.toSeq
    val touched = queries.map { query =>
      boxes.count(box =>
        query.forall { u =>
          box(columns.indexWhere(_.path == u.use.path)).exists { case (min, max) =>
            if (u.use.form == Form.Range) u.starts.forall(_ <= max) && u.ends.forall(_ >= min)
            else u.starts.exists(r => min <= r && r <= max)
          }
        }
      )
    }
    val share = touched.sum.toDouble / queries.length / cuts.slots
    share * math.pow(cuts.slots.toDouble / files, 1d / trial.columns.length)
  }

  test("estimates are within a tenth of the counted files", InRest) {
    val random = new Random(1)
    val columns = uniform(random, Seq("a", "b", "c"), 10000)
    val queries = Seq.fill(600)(random.nextInt(4) match {
      case 0 => Seq(at("a", random.nextDouble()))
      case 1 => Seq(at("b", random.nextDouble() * 0.1), at("a", random.nextDouble()))
      case 2 =>
        val low = random.nextDouble() * 0.9
        Seq(between("c", low, low + 0.1))
      case _ => Seq(ObservedUse(ColumnUse(Seq("b"), Form.In), Seq.fill(3)(random.nextDouble()), Nil))
    })
    for (share <- Seq(0d, 0.5); curve <- Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order)) {
      val estimate = new LayoutEstimate(columns, sketch(queries), 100, aligned = true, share)
      val trial = Trial(curve, Seq(columns(0) -> 2d, columns(1) -> 1d, columns(2) -> 1d))
      val trialOf = if (curve == LayoutSpec.Order) trial.copy(columns = trial.columns.map(_._1 -> 1d)) else trial
      val room = columns.map(ConstrainedColumn.mixed(_, sketch(queries), share))
      val real = counted(columns, trialOf, room, queries)
      assert(math.abs(estimate.touched(trialOf) - real) < 0.1 * real, (curve, share, estimate.touched(trialOf), real))
    }
  }

  test("a column that queries hardly ask for is left out, and the one asked for most has the most weight") {
    val random = new Random(2)
    val columns = uniform(random, Seq("a", "b", "c"), 10000)
    val s = sketch(
      Seq.fill(800)(Seq(at("a", random.nextDouble()))) ++ Seq.fill(100)(Seq(at("b", random.nextDouble()))) ++
        Seq(Seq(at("c", 0.5)))
    )
    val choice = choose(columns, s, 100)
    assert(choice.trial.columns.map(_._1.path.head) == Seq("a", "b"))
    assert(choice.trial.columns.head._2 > choice.trial.columns.last._2)
    assert(choice.touched < 0.8 * choice.naive, choice)
  }

  test("the choice is within 6 % of the bound for weights of 0.8, 0.1 and 0.1") {
    val random = new Random(3)
    val columns = uniform(random, Seq("a", "b", "c"), 20000)
    val s = sketch(Seq("a" -> 800, "b" -> 100, "c" -> 100).flatMap { case (c, n) =>
      Seq.fill(n)(Seq(at(c, random.nextDouble())))
    })
    val choice = choose(columns, s, 256)
    val bound = 3 * math.pow(0.8 * 0.1 * 0.1 / 256, 1d / 3)
    assert(choice.touched < 1.06 * bound, (choice.touched, bound))
  }

  test("of two columns in the same order one is enough, and columns of few values or mostly nulls work") {
    val random = new Random(4)
    val a = Array.fill[Any](5000)(random.nextInt(span).toLong)
    val columns = IndexedSeq(
      column("a", a),
      column("same", a.map { case v: Long => v / 7; case v => v }),
      column("flag", Array.fill[Any](5000)(random.nextInt(2).toLong * 500000)),
      column("mostlyNull", Array.fill[Any](5000)(if (random.nextInt(10) > 0) null else random.nextInt(span).toLong))
    )
    val s = sketch(Seq.fill(100)(Seq(at("a", random.nextDouble()))) ++ Seq.fill(80)(Seq(between("same", 0.05, 0.06))))
    val choice = choose(columns.take(2), s, 50)
    assert(choice.trial.columns.length == 1, choice)
    assert(choice.touched < 0.06, choice)
    val t = sketch(Seq.fill(10)(Seq(at("flag", 0.5))) ++ Seq.fill(10)(Seq(at("mostlyNull", random.nextDouble()))))
    val other = choose(columns.drop(2), t, 32)
    assert(other.touched < 0.4 && other.touched > 0, other)
  }

  test("the layout that a table has is kept unless another saves a tenth") {
    val random = new Random(5)
    val columns = uniform(random, Seq("a", "b"), 8000)
    val s = sketch(Seq.fill(100)(Seq(at("a", random.nextDouble()))) ++ Seq.fill(90)(Seq(at("b", random.nextDouble()))))
    val good = Trial(LayoutSpec.Hilbert, columns.map(_ -> 1d))
    val kept = choose(columns, s, 64, Some(good))
    assert(kept.kept && kept.trial == good && kept.current.contains(kept.touched))
    val bad = Trial(LayoutSpec.Order, Seq(columns(1) -> 1d))
    val left = choose(columns, s, 64, Some(bad))
    assert(!left.kept && left.touched < 0.9 * left.current.get)
  }

  test("with half of the room for the hot ranges of queries, a query reads at most 50 files instead of 104 of 1000") {
    val random = new Random(6)
    val columns = uniform(random, Seq("a", "b", "c"), 100000)
    // Nine of ten queries ask for the upper tenth of a column.
    def hot() = if (random.nextInt(10) < 9) 0.9 + random.nextDouble() / 10 else random.nextDouble()
    val queries = Seq.fill(3000)(Seq(at(Seq("a", "b", "c")(random.nextInt(3)), hot())))
    val trial = Trial(LayoutSpec.ZOrder, columns.map(_ -> 1d))
    def touched(share: Double) =
      1000 * new LayoutEstimate(columns, sketch(queries), 1000, aligned = true, share).touched(trial)
    val (none, half) = (touched(0), touched(0.5))
    assert(none > 90 && none < 110 && half < 50, (none, half))
  }
}
