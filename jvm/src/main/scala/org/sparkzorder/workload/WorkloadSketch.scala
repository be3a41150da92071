package org.sparkzorder.workload

/** How a query asks for a column. */
sealed abstract class Form(val name: String)
object Form {

  /** One value. */
  case object Equal extends Form("equal")

  /** Any of some values. */
  case object In extends Form("in")

  /** All values from one to another, or to the end. */
  case object Range extends Form("range")

  val all: Seq[Form] = Seq(Equal, In, Range)
}

/** A column that a query asks for, by its path of names, and how. */
final case class ColumnUse(path: Seq[String], form: Form)

/**
 * What one query says of one column.
 *
 * @param starts ranks, from 0 to 1, of the values, or of the lower end of the range; none when it has no lower end
 * @param ends of a range, the rank of the upper end; none when it has no upper end
 */
final case class ObservedUse(use: ColumnUse, starts: Seq[Double], ends: Seq[Double])

/**
 * Where the values lie that queries of one kind name for one column.
 *
 * @param starts of the values, or of lower ends; ranges without one are not counted
 * @param ends of upper ends
 */
final case class UseSketch(starts: Positions, ends: Positions) {
  def ++(other: UseSketch): UseSketch = UseSketch(starts ++ other.starts, ends ++ other.ends)
}

/** @param uses in the order of the columns of the kind */
final case class KindSketch(queries: Long, uses: Vector[UseSketch]) {
  def ++(other: KindSketch): KindSketch =
    KindSketch(Positions.sum(queries, other.queries), uses.zip(other.uses).map { case (a, b) => a ++ b })
}

/**
 * What queries asked a table for: how many were of each kind, a kind being the columns of a conjunction with how each is
 * asked for, and where the values lie. Counts and steps only, never a value.
 *
 * @param kinds columns of a kind are in the order of their paths, each once
 */
final case class WorkloadSketch(kinds: Map[Vector[ColumnUse], KindSketch]) {

  def isEmpty: Boolean = kinds.isEmpty

  def queries: Long = kinds.valuesIterator.map(_.queries).sum

  /** A query that asks for no column counts for nothing. */
  def add(query: Seq[ObservedUse]): WorkloadSketch = {
    val uses =
      query.distinctBy(_.use.path).sortBy(_.use.path.mkString("\u0000")).take(WorkloadSketch.MaxColumns).toVector
    if (uses.isEmpty) this
    else {
      val sketch = KindSketch(1, uses.map(u => UseSketch(Positions.of(u.starts), Positions.of(u.ends))))
      this ++ WorkloadSketch(Map(uses.map(_.use) -> sketch))
    }
  }

  def ++(other: WorkloadSketch): WorkloadSketch =
    WorkloadSketch(other.kinds.foldLeft(kinds) { case (sum, (kind, sketch)) =>
      sum.updated(kind, sum.get(kind).fold(sketch)(_ ++ sketch))
    })

  /** Without some columns; what is left of a query stays. */
  def without(isLeftOut: Seq[String] => Boolean): WorkloadSketch =
    if (!kinds.keysIterator.exists(_.exists(u => isLeftOut(u.path)))) this
    else
      kinds.foldLeft(WorkloadSketch.empty) { case (sum, (kind, sketch)) =>
        val kept = kind.indices.filterNot(i => isLeftOut(kind(i).path)).toVector
        if (kept.isEmpty) sum
        else sum ++ WorkloadSketch(Map(kept.map(kind(_)) -> KindSketch(sketch.queries, kept.map(sketch.uses(_)))))
      }

  /** The kinds of most queries; which of equally many does not depend on the order in which they came. */
  def most(n: Int): WorkloadSketch =
    if (kinds.size <= n) this else WorkloadSketch(ranked.take(n).toMap)

  /** Kinds, those of most queries first. */
  def ranked: Seq[(Vector[ColumnUse], KindSketch)] =
    kinds.toSeq.sortBy { case (kind, sketch) => (-sketch.queries, kind.map(u => (u.path, u.form.name)).toString) }

  /** Columns with the number of queries that ask for each, those of most queries first. */
  def columns: Seq[(Seq[String], Long)] =
    kinds.toSeq.flatMap { case (kind, sketch) => kind.map(_.path -> sketch.queries) }
      .groupMapReduce(_._1)(_._2)(_ + _).toSeq.sortBy { case (path, n) => (-n, path.mkString("\u0000")) }
}

object WorkloadSketch {

  /** Columns of one query that are looked at. */
  val MaxColumns = 8

  val empty: WorkloadSketch = WorkloadSketch(Map.empty)
}
