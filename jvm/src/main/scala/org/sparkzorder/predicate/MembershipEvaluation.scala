package org.sparkzorder.predicate

import java.util.BitSet

import org.sparkzorder.membership.{ColumnMembership, Membership, MembershipHash}
import org.sparkzorder.stats._

/**
 * Leaves out files by the values that columns have in them, where bounds do not decide. `=` and `<=>`
 * with a value, and `IN`, are true for no row of a file that has none of the values. Nothing else is
 * concluded: nulls and NaN are not among a file's values.
 */
object MembershipEvaluation {

  /** Whether values that the table knows could rule out files. */
  def isUseful(predicate: StatsPredicate, table: StatsTable): Boolean = predicate match {
    case Equality(column, _) => table.members(column.path, column.dataType).isDefined
    case _                   => predicate.children.exists(isUseful(_, table))
  }

  /** Those of the files, which the bounds do not rule out, that may have a row for which the predicate is true. */
  def keep(predicate: StatsPredicate, table: StatsTable, files: BitSet): BitSet =
    if (files.isEmpty || !isUseful(predicate, table)) files else new MembershipEvaluation(table).keep(predicate, files)

  /** Of one condition, in all files together: about a second. */
  private val MostLookups = 30000000L

  /** A condition that is true only for rows with one of these values in the column. */
  private object Equality {
    def unapply(p: StatsPredicate): Option[(Column, Seq[Value])] = p match {
      case Comparison(c, Operator.Equal | Operator.NullSafeEqual, v) => Some((c, Vector(v)))
      case In(c, values, _) if values.nonEmpty                       => Some((c, values))
      case _                                                         => None
    }
  }
}

private final class MembershipEvaluation(table: StatsTable) {
  import MembershipEvaluation.Equality

  def keep(predicate: StatsPredicate, files: BitSet): BitSet = predicate match {
    case And(left, right)                      => keep(right, keep(left, files))
    case or: Or                                => keepAny(alternatives(or), files)
    case IsTrue(child)                         => keep(child, files)
    case Within(domain, child) if isUse(child) =>
      either(keep(child, files), both(files, Evaluation.keep(Not(domain), table)))
    case Equality(column, values) =>
      val kept = for {
        members <- table.members(column.path, column.dataType)
        stats <- table.column(column.path, column.dataType)
        if !values.exists(isNaN(column, _))
      } yield having(values.toArray, members, stats, files)
      kept.getOrElse(files)
    case _ => files
  }

  private def isUse(predicate: StatsPredicate) = MembershipEvaluation.isUseful(predicate, table)

  private def alternatives(predicate: StatsPredicate): Vector[StatsPredicate] = predicate match {
    case Or(left, right) => alternatives(left) ++ alternatives(right)
    case other           => Vector(other)
  }

  /** The bounds have ruled out files for all alternatives at once, so they are asked again for each, or for some. */
  private def keepAny(any: Vector[StatsPredicate], files: BitSet): BitSet = {
    val (useful, others) = any.partition(isUse)
    val byBounds =
      others.reduceOption[StatsPredicate](Or(_, _)).fold(new BitSet)(o => both(files, Evaluation.keep(o, table)))
    useful.foldLeft(byBounds) { (kept, one) =>
      val rest = files.clone().asInstanceOf[BitSet]
      rest.andNot(kept)
      if (rest.isEmpty) kept else either(kept, keep(one, both(rest, Evaluation.keep(one, table))))
    }
  }

  private def having(values: Array[Value], members: ColumnMembership, stats: StatsColumn, files: BitSet): BitSet = {
    val known = both(files, stats.bounded)
    val within = valuesWithin(values, stats)
    val sought = new Sought(values)
    val reader = members.reader(known)
    val kept = files.clone().asInstanceOf[BitSet]
    var left = MembershipEvaluation.MostLookups
    var i = known.nextSetBit(0)
    while (i >= 0) {
      val (from, until) = within(i)
      val most =
        math.min(left, if (members.isFilter(i)) Membership.MostInFilter.toLong else Membership.MostInSet.toLong)
      // Where there are too many values to look for, the block is not read either.
      if (from == until) kept.clear(i)
      else if (until - from <= most) reader(i).foreach { m =>
        val found = sought.firstOf(m, from, until)
        left -= found - from
        if (found == until) kept.clear(i)
      }
      i = known.nextSetBit(i + 1)
    }
    kept
  }

  /** Values that are looked for in many files, each with its hash. */
  private final class Sought(values: Array[Value]) {
    private val hashes = values.map {
      case LongValue(v)  => MembershipHash.of(v)
      case b: BytesValue => MembershipHash.of(b.bytes)
    }
    private val numbers = values.zip(hashes).map {
      case (LongValue(v), _) => v
      case (_, hash)         => hash
    }

    /** The first of these values that a file may have; `until` if there is none. */
    def firstOf(members: Membership, from: Int, until: Int): Int = {
      var i = from
      while (i < until && !members.mayHave(numbers(i), hashes(i))) i += 1
      i
    }
  }

  /** The part of the values, which ascend, that is within the bounds of a file. */
  private def valuesWithin(values: Array[Value], stats: StatsColumn): Int => (Int, Int) = {
    def first(isAtOrAbove: Value => Boolean): Int = {
      var (low, high) = (0, values.length)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (isAtOrAbove(values(middle))) high = middle else low = middle + 1
      }
      low
    }
    val order = Value.ordering
    stats match {
      case c: LongStatsColumn =>
        i => (first(order.gteq(_, LongValue(c.min(i)))), first(order.gt(_, LongValue(c.max(i)))))
      case c: BytesStatsColumn =>
        i => {
          val (min, max) = (new BytesValue(c.min(i)), new BytesValue(c.max(i)))
          (first(order.gteq(_, min)), first(order.gt(_, max)))
        }
    }
  }

  private def isNaN(column: Column, value: Value): Boolean =
    OrderedValue.hasNaN(column.dataType) && value == LongValue(OrderedValue.ofDouble(Double.NaN))

  private def both(a: BitSet, b: BitSet): BitSet = {
    val c = a.clone().asInstanceOf[BitSet]
    c.and(b)
    c
  }

  private def either(a: BitSet, b: BitSet): BitSet = {
    val c = a.clone().asInstanceOf[BitSet]
    c.or(b)
    c
  }
}
