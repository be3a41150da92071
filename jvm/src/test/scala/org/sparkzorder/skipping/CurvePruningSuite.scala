package org.sparkzorder.skipping

import scala.util.Random

import org.apache.spark.sql.types.{DataType, DoubleType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.index.{IndexContents, Indexes}
import org.sparkzorder.layout._
import org.sparkzorder.predicate._
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileId, FileStats, KeyEncoding}

/** Rows placed as OPTIMIZE places them, files by their intervals, against the rows that pass. */
class CurvePruningSuite extends AnyFunSuite {
  private val types: IndexedSeq[DataType] = IndexedSeq(LongType, StringType, DoubleType)

  private def value(random: Random, dt: DataType): Any = if (random.nextInt(12) == 0) null
  else dt match {
    case LongType   => if (random.nextInt(20) == 0) random.nextLong() else random.nextInt(60).toLong
    case StringType =>
      // Some are alike in all the bytes that a layout looks at.
      val common = if (random.nextBoolean()) "p" * (KeyEncoding.MaxBytes - 1) else ""
      UTF8String.fromString(common + ('a' + random.nextInt(5)).toChar + random.nextInt(9))
    case _ =>
      random.nextInt(10) match {
        case 0 => Double.NaN
        case 1 => -0.0
        case 2 => 0.0
        case 3 => Double.NegativeInfinity
        case _ => random.nextInt(50) / 4.0 - 3
      }
  }

  private def encoded(encoding: KeyEncoding, v: Any): Any =
    if (v == null) null else if (encoding.isLong) encoding.long(v) else encoding.bytes(v)

  private def meets(range: ValueRange, min: Value, max: Value): Boolean =
    range.low.forall(Value.ordering.lteq(_, max)) && range.high.forall(Value.ordering.lteq(min, _))

  test("no file with a row that passes is left out, and files are left out that the bounds of the columns keep") {
    val random = new Random(31)
    var out = 0
    var beyondBounds = 0
    for (_ <- 1 to 100) {
      val encodings = types.map(new KeyEncoding(_))
      def row() = types.map(value(random, _))
      // The sample is of fewer rows than there are: values lie between those sampled, and beyond them.
      // With few different rows, files are cut within a point of the curve.
      val different = IndexedSeq.fill(if (random.nextBoolean()) 300 else 5 + random.nextInt(20))(row())
      val rows = IndexedSeq.fill(300)(different(random.nextInt(different.size)))
      val sample = rows.take(40 + random.nextInt(260))
      val distributions = types.indices.map { c =>
        val column = sample.map(r => encoded(encodings(c), r(c)))
        val nulls = column.count(_ == null)
        if (encodings(c).isLong) ValueDistribution.ofLongs(column.collect { case l: Long => l }.toArray, nulls)
        else ValueDistribution.ofBytes(column.collect { case b: Array[Byte] => b }.toArray, nulls)
      }
      val shape =
        LayoutShape(if (random.nextInt(4) == 0) LayoutSpec.Order else LayoutSpec.ZOrder, aligned = random.nextBoolean())
      val files = 2 + random.nextInt(20)
      val curve = shape.curveOf(Seq(1d, 1d, 1d), distributions, files)
      val unit = new UnitLayout(distributions, curve, Cuts.none)
      val z = rows.map(r => unit.z(types.indices.map(c => encoded(encodings(c), r(c)))))
      val cuts = shape.cutsOf(sample.indices.map(i => (z(i), i.toLong)).sorted, files, curve)
      val columns =
        types.indices.map(c => FrameColumn(ColumnKey(Seq(s"c$c"), types(c)), lasting = random.nextInt(8) > 0))
      val frame = new CurveFrame("f", columns, distributions, curve)
      val intervals = CurveInterval.ofSlots(curve, cuts)
      val held = rows.indices.groupBy(i => cuts.slot(z(i), i.toLong))
      for (_ <- 1 to 15) {
        // A conjunction of ranges: of each column none, one end, both or a point.
        val ends = types.map { dt =>
          Seq.fill(2)(value(random, dt)).filter(_ != null).map(Value.of(dt, _)).sorted(Value.ordering)
            .take(random.nextInt(3)) match {
            case Seq(a, b)                        => Some(ValueRange(Some(a), Some(b)))
            case Seq(a) if random.nextInt(3) == 0 => Some(ValueRange(Some(a), None))
            case Seq(a) if random.nextInt(2) == 0 => Some(ValueRange(None, Some(a)))
            case Seq(a)                           => Some(ValueRange(Some(a), Some(a)))
            case _                                => None
          }
        }
        val ranges = types.indices.flatMap(c => ends(c).map(Column(Seq(s"c$c"), types(c)) -> _)).toMap
        def passes(r: Seq[Any]) = types.indices.forall { c =>
          def own = Value.of(types(c), r(c))
          ends(c).forall(e => r(c) != null && meets(e, own, own))
        }
        CurvePruning.box(frame, ranges).foreach { box =>
          held.foreach { case (slot, own) =>
            if (!box.meets(intervals(slot)._1, intervals(slot)._2)) {
              own.foreach(i => assert(!passes(rows(i)), s"row ${rows(i)} of file $slot passes $ranges"))
              out += 1
              val inBounds = types.indices.forall { c =>
                val values = own.map(rows(_)(c)).filter(_ != null).map(Value.of(types(c), _))
                ends(c).forall(e => values.nonEmpty && meets(e, values.min(Value.ordering), values.max(Value.ordering)))
              }
              if (inBounds) beyondBounds += 1
            }
          }
        }
      }
    }
    info(s"$out files left out, $beyondBounds of them kept by the bounds of their columns")
    assert(out > 2000 && beyondBounds > 100)
  }

  test("an interval is believed of a file of which the index has bounds, and of no other") {
    val keys = IndexedSeq("a", "b").map(n => ColumnKey(Seq(n), LongType))
    val d = ValueDistribution.ofLongs(Array.tabulate(16)(_.toLong), 0)
    val plan = BitPlan.ofSequence(Seq(0, 1, 0, 1), 2)
    val frame = new CurveFrame("f", keys.map(FrameColumn(_, lasting = true)), IndexedSeq(d, d), plan)
    def stats(columns: Seq[ColumnKey]) = FileStats(9, columns.map(_ -> ColumnStats(0L, 15L, 0, 0)).toMap)
    val files = (0 until 5).map { i =>
      FileId(s"f$i", 1, 1) -> (if (i == 3) stats(keys.take(1)) else stats(keys))
    }
    val placed = (0 until 4).map(i => files(i)._1 -> CurveInterval(frame, 4L * i, 4L * i + 3, CurveInterval.Cell))
    val snapshot = Indexes.open(Indexes.written(IndexContents(files, Map.empty, placed.toMap)))
    def kept(value: Long): Set[String] = {
      val keep = new java.util.BitSet
      keep.set(0, 5)
      val is = keys.map(k => Comparison(Column(k.path, k.dataType), Operator.Equal, LongValue(value)))
      CurvePruning.leaveOut(keep, And(is(0), is(1)), snapshot, Set.empty)
      (0 until 5).filter(keep.get).map(i => snapshot.fileId(i).path).toSet
    }
    // Of f3 there are no bounds of b, and f4 was not placed.
    assert(kept(0) == Set("f0", "f3", "f4") && kept(15) == Set("f3", "f4"))
  }

  test("another type, a column that does not last, a Hilbert curve and an impossible box leave nothing out") {
    val d = ValueDistribution.ofLongs(Array.tabulate(100)(_.toLong), 0)
    val plan = BitPlan(Seq(1d, 1d), 5, 10)
    val a = Column(Seq("a"), LongType)
    def isUsed(curve: Curve = plan, lasting: Boolean = true, column: Column = a, from: Long = 5L): Boolean = {
      val columns = IndexedSeq("a", "b").map(n => FrameColumn(ColumnKey(Seq(n), LongType), lasting))
      val range = ValueRange(Some(LongValue(from)), Some(LongValue(5)))
      CurvePruning.box(new CurveFrame("f", columns, IndexedSeq(d, d), curve), Map(column -> range)).isDefined
    }
    assert(isUsed())
    assert(!isUsed(lasting = false) && !isUsed(column = a.copy(dataType = DoubleType)))
    assert(!isUsed(curve = HilbertCurve.of(plan, 4)) && !isUsed(from = 80L))
  }
}
