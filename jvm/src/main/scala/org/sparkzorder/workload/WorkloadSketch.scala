package org.sparkzorder.workload

import org.sparkzorder.compat._
import org.sparkzorder.layout.JoinSpec

sealed abstract class Form(val name: String)
object Form {

  case object Equal extends Form("equal")

  case object In extends Form("in")

  /** All values of a range, which may have one end only. */
  case object Range extends Form("range")

  val all: Seq[Form] = Seq(Equal, In, Range)
}

/**
 * A column that a query asks for.
 *
 * @param path its names, from the top-level column down; for an attribute of a dimension, see [[JoinSpec.attribute]]
 * @param form how the query asks for it
 * @param join how the query joins the dimension that has the column; None for a column of the table itself
 */
final case class ColumnUse(path: Seq[String], form: Form, join: Option[JoinSpec] = None)

/**
 * The ranks from 0 to 1 that a query names for a column: of its values or a range's lower end, and of the upper end.
 */
final case class ObservedUse(use: ColumnUse, starts: Seq[Double], ends: Seq[Double])

/** The ranks that all queries of one kind name for a column: of values and lower ends of ranges, and of upper ends. */
final case class UseSketch(starts: RankCounts, ends: RankCounts) {
  def ++(other: UseSketch): UseSketch = UseSketch(starts ++ other.starts, ends ++ other.ends)
}

/** How many queries of one kind there were, with one sketch for each column of the kind, in the same order. */
final case class KindSketch(queries: Long, uses: Vector[UseSketch]) {
  def ++(other: KindSketch): KindSketch =
    KindSketch(RankCounts.sum(queries, other.queries), uses.zip(other.uses).map { case (a, b) => a ++ b })
}

/**
 * The values that queries asked a table for, without the values themselves. Queries are of the same kind if they ask
 * for the same columns in the same forms. For each kind there is the number of queries, and the positions of the
 * values.
 *
 * @param kinds the columns of a kind are in the order of their paths, and each is there once
 */
final case class WorkloadSketch(kinds: Map[Vector[ColumnUse], KindSketch]) {

  def isEmpty: Boolean = kinds.isEmpty

  def queries: Long = kinds.valuesIterator.map(_.queries).sum

  /** A query that asks for no column is not counted. */
  def add(query: Seq[ObservedUse]): WorkloadSketch = {
    val uses =
      query.distinctBy(_.use.path).sortBy(_.use.path.mkString("\u0000")).take(WorkloadSketch.MaxColumns).toVector
    if (uses.isEmpty) this
    else {
      val sketch = KindSketch(1, uses.map(u => UseSketch(RankCounts.of(u.starts), RankCounts.of(u.ends))))
      this ++ WorkloadSketch(Map(uses.map(_.use) -> sketch))
    }
  }

  def ++(other: WorkloadSketch): WorkloadSketch =
    WorkloadSketch(other.kinds.foldLeft(kinds) { case (sum, (kind, sketch)) =>
      sum.updated(kind, sum.get(kind).fold(sketch)(_ ++ sketch))
    })

  /** Without what is known of some columns. The attributes of a dimension go with the column that is joined. */
  def without(isExcluded: Seq[String] => Boolean): WorkloadSketch = only(u => !isExcluded(JoinSpec.columnOf(u.path)))

  def only(isKept: ColumnUse => Boolean): WorkloadSketch =
    if (kinds.keysIterator.forall(_.forall(isKept))) this
    else
      kinds.foldLeft(WorkloadSketch.empty) { case (sum, (kind, sketch)) =>
        val kept = kind.indices.filter(i => isKept(kind(i))).toVector
        if (kept.isEmpty) sum
        else sum ++ WorkloadSketch(Map(kept.map(kind(_)) -> KindSketch(sketch.queries, kept.map(sketch.uses(_)))))
      }

  /** The n kinds with the most queries. The choice does not depend on the order in which queries came. */
  def most(n: Int): WorkloadSketch =
    if (kinds.size <= n) this else WorkloadSketch(ranked.take(n).toMap)

  /** The kinds, those with the most queries first. */
  def ranked: Seq[(Vector[ColumnUse], KindSketch)] =
    kinds.toSeq.sortBy { case (kind, sketch) => (-sketch.queries, kind.map(u => (u.path, u.form.name)).toString) }

  /** The columns with the number of queries that ask for them, those with the most queries first. */
  def columns: Seq[(Seq[String], Long)] = counted(u => Seq(u.path))(_.mkString("\u0000"))

  /** The joins with dimensions by whose attributes queries filter, those with the most queries first. */
  def joins: Seq[JoinSpec] = counted(_.join.toSeq)(_.toString).map(_._1)

  private def counted[T](of: ColumnUse => Seq[T])(name: T => String): Seq[(T, Long)] =
    kinds.toSeq.flatMap { case (kind, sketch) => kind.flatMap(of).distinct.map(_ -> sketch.queries) }
      .groupMapReduce(_._1)(_._2)(_ + _).toSeq.sortBy { case (t, n) => (-n, name(t)) }
}

object WorkloadSketch {

  /** The most columns of a query that are recorded. */
  val MaxColumns = 8

  val empty: WorkloadSketch = WorkloadSketch(Map.empty)
}

/**
 * The ranks of values in their column, as counts over [[RankCounts.Bins]] equal steps from the least value (rank 0) to
 * the greatest (rank 1). Only the step of a value is kept.
 */
final class RankCounts private (private val counts: Array[Long]) {

  def total: Long = counts.sum

  def isEmpty: Boolean = counts.forall(_ == 0)

  def count(bin: Int): Long = counts(bin)

  /** The steps with a count above 0, ascending. */
  def bins: IndexedSeq[Int] = counts.indices.filter(counts(_) != 0)

  /** @param rank from 0 to 1 */
  def add(rank: Double): RankCounts = {
    val sum = counts.clone()
    val bin = RankCounts.binOf(rank)
    sum(bin) = RankCounts.sum(sum(bin), 1)
    new RankCounts(sum)
  }

  def ++(other: RankCounts): RankCounts =
    new RankCounts(Array.tabulate(RankCounts.Bins)(i => RankCounts.sum(counts(i), other.counts(i))))

  override def equals(other: Any): Boolean = other match {
    case that: RankCounts => java.util.Arrays.equals(counts, that.counts)
    case _                => false
  }
  override def hashCode: Int = java.util.Arrays.hashCode(counts)
  override def toString: String = bins.map(b => s"$b: ${counts(b)}").mkString("RankCounts(", ", ", ")")
}

object RankCounts {
  val Bins = 128

  /** The largest count. It is so small that sums of counts fit a long easily. */
  val MaxCount: Long = 1L << 40

  val empty: RankCounts = new RankCounts(new Array[Long](Bins))

  def of(ranks: Seq[Double]): RankCounts = ranks.foldLeft(empty)(_.add(_))

  /**
   * @param counts the counts of some steps; others are 0
   * @throws IllegalArgumentException when a step or a count is out of range
   */
  def of(counts: Map[Int, Long]): RankCounts = {
    val all = new Array[Long](Bins)
    counts.foreach { case (bin, n) =>
      require(bin >= 0 && bin < Bins && n >= 0 && n <= MaxCount, s"$n values in step $bin")
      all(bin) = n
    }
    new RankCounts(all)
  }

  def binOf(rank: Double): Int = math.max(0, math.min(Bins - 1, (rank * Bins).toInt))

  private[workload] def sum(a: Long, b: Long): Long = math.min(a + b, MaxCount)
}
