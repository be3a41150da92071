package org.sparkzorder.predicate

/**
 * A filter, as far as statistics of files can answer it. It holds names, types, values and functions over numbered
 * arguments, so equal filters of two plans are equal predicates, whatever their expression ids.
 *
 * A predicate *represents* a Catalyst expression when, for every row of a file, the outcome of the
 * expression (true, false or null) is among the outcomes that [[Evaluation]] gives for the file.
 * Then a file without the outcome 'true' holds no row that passes the filter. It is always right to
 * give more outcomes than the rows have, and never right to give fewer.
 *
 * The comment of each form says why the form represents its expression. These words are used there,
 * for one column in one file with at least one row:
 *  - `interval`: all values but nulls and NaN are in [lo, hi]. Bounds may be loose (truncated
 *    strings, rounded decimals), so a form may not assume that lo or hi occurs. Only when lo = hi
 *    do all these values equal lo.
 *  - `NaN`: in Spark NaN = NaN, and NaN is above everything. It is a point of its own outside of
 *    the interval. A file may have a NaN unless its count is 0 or all rows are null. -0.0 and 0.0
 *    are one encoded value, as Spark's comparisons take them for one.
 *  - `null`: a file may have a null unless its count is 0. If all rows are null there is neither
 *    interval nor NaN. If all rows are null or NaN there is no interval.
 *  - Without bounds the interval is everything; for floats and doubles, from infinity to infinity.
 *    If a count is unknown (-1), the file may have null, or NaN, and any other value as well.
 *
 * The outcomes of a form over a column are the union of those for these three parts.
 */
sealed trait StatsPredicate extends Product with Serializable {

  /** The operands of this predicate. */
  def children: Seq[StatsPredicate] = this match {
    case And(left, right)      => Seq(left, right)
    case Or(left, right)       => Seq(left, right)
    case Not(child)            => Seq(child)
    case Undefined(child)      => Seq(child)
    case Within(domain, child) => Seq(domain, child)
    case IsTrue(child)         => Seq(child)
    case Choice(c, a, b)       => Seq(c, a, b)
    case _                     => Nil
  }

  /** The columns whose bounds are used. */
  def ordered: Set[Column] = gathered(_.ownOrdered)

  private def ownOrdered: Set[Column] = this match {
    case Comparison(column, _, _) => Set(column)
    case RangeComparison(a, _, b) => a.columns ++ b.columns
    case RangeIn(range, _)        => range.columns
    case In(column, _, _)         => Set(column)
    case StartsWith(column, _)    => Set(column)
    case _                        => Set.empty
  }

  /** The columns whose statistics are used. */
  def columns: Set[Column] = gathered {
    case IsNull(column)    => Set(column)
    case IsNotNull(column) => Set(column)
    case other             => other.ownOrdered
  }

  // In one walk, since a query may have thousands of conditions.
  private def gathered(own: StatsPredicate => Set[Column]): Set[Column] = {
    val found = Set.newBuilder[Column]
    def walk(p: StatsPredicate): Unit = {
      found ++= own(p)
      p.children.foreach(walk)
    }
    walk(this)
    found.result()
  }

  /** How many columns, literals and functions are evaluated for each file. */
  private[predicate] def rangeCost: Int = this match {
    case RangeComparison(a, _, b) => a.size + b.size
    case RangeIn(range, _)        => range.size
    case _                        => children.map(_.rangeCost).sum
  }

  /** Why parts of it are unknown, in reading order. */
  def reasons: Seq[Reason] = this match {
    case Unknown(reason) => Seq(reason)
    case _               => children.flatMap(_.reasons).distinct
  }
}

/**
 * `column operator value`. Null rows give null, or false for `<=>`. The order is total, NaN
 * included. So `<>`, `>` and `>=` are the negations of `=`, `<=` and `<` for each row, and only the
 * latter have rules:
 *  - `=` true needs lo <= v <= hi; false is impossible only when lo = hi = v.
 *  - `<` true needs lo < v (a loose lo is below the real minimum); false needs hi >= v.
 *  - `<=` true needs lo <= v; false needs hi > v. For a NaN in the file the same rules hold, with
 *    the interval [NaN, NaN].
 */
final case class Comparison(column: Column, operator: Operator, value: Value) extends StatsPredicate

/**
 * `left operator right`, for two expressions of one type whose least and greatest values in a file follow from the
 * bounds of columns. The rules are those of [[Extent.compared]].
 */
final case class RangeComparison private[predicate] (
    private[predicate] val left: RangeOf,
    operator: Operator,
    private[predicate] val right: RangeOf
) extends StatsPredicate

/**
 * `range IN (values)`. True needs a value within the range's bounds; false is impossible only when they are both one of
 * the values. Null gives null.
 *
 * @param values Catalyst's, ascending
 */
final case class RangeIn private[predicate] (private[predicate] val range: RangeOf, values: Seq[Any])
    extends StatsPredicate

/**
 * `column IN (values)`, with a null in the list if `hasNull`. True needs a value within [lo, hi]; false is impossible
 * only when lo = hi = a value. Where it is not true, a null in the list makes it null instead of false, so `NOT IN`
 * with a null is never true. Null rows give null. An empty list gives false, and null for null rows.
 *
 * @param values ascending and distinct, see [[In.of]]
 */
final case class In private (column: Column, values: Vector[Value], hasNull: Boolean) extends StatsPredicate

object In {
  def of(column: Column, values: Iterable[Value], hasNull: Boolean): In = new In(column, distinct(values), hasNull)

  /** There may be thousands of values, so numbers are sorted as an array of longs. */
  private def distinct(values: Iterable[Value]): Vector[Value] =
    if (values.forall(_.isInstanceOf[LongValue])) {
      val numbers = values.iterator.map { case LongValue(v) => v; case _ => 0L }.toArray
      java.util.Arrays.sort(numbers)
      val once = Vector.newBuilder[Value]
      for (i <- numbers.indices if i == 0 || numbers(i) != numbers(i - 1)) once += LongValue(numbers(i))
      once.result()
    } else {
      val sorted = values.toVector.sorted(Value.ordering)
      sorted.take(1) ++ sorted.iterator.zip(sorted.iterator.drop(1)).collect { case (a, b) if a != b => b }
    }
}

/**
 * `column IS NULL`, for a column of any type. True needs a null row, false a row that is not null.
 * Bounds and NaN do not matter. It is never null itself.
 */
final case class IsNull(column: Column) extends StatsPredicate

/** The negation of [[IsNull]], never null itself. */
final case class IsNotNull(column: Column) extends StatsPredicate

/**
 * `startswith(column, prefix)` by bytes. The values with a prefix p are an interval of the byte order that begins at p.
 * True needs hi >= p and (lo <= p or lo has the prefix): a lo above p without the prefix is behind that interval. False
 * is impossible only when both bounds have the prefix, as everything between them is then inside the interval. The rule
 * needs no successor of p, so 0xFF bytes are not special. The empty prefix gives true. Null rows give null.
 */
final case class StartsWith(column: Column, prefix: BytesValue) extends StatsPredicate

/**
 * Kleene's AND of each outcome of one side with each of the other. These may be more outcomes than
 * the rows have, since not every pair need occur in a row.
 */
final case class And(left: StatsPredicate, right: StatsPredicate) extends StatsPredicate

/** Kleene's OR, likewise. */
final case class Or(left: StatsPredicate, right: StatsPredicate) extends StatsPredicate

/**
 * Swaps true and false in the set of outcomes; null stays. The files to keep are not those that the
 * child does not keep: a file may have both outcomes.
 */
final case class Not(child: StatsPredicate) extends StatsPredicate

/**
 * `child IS NULL`, for a condition. It may be true if the child may be null, and false if the child
 * may be true or false. It is never null itself.
 */
final case class Undefined(child: StatsPredicate) extends StatsPredicate

/** `child IS TRUE`: false where the child is null. Never null itself. */
final case class IsTrue(child: StatsPredicate) extends StatsPredicate

/** `first` for rows for which `condition` is true, and `second` for those for which it is false or null. */
final case class Choice(condition: StatsPredicate, first: StatsPredicate, second: StatsPredicate)
    extends StatsPredicate

/**
 * The outcomes of `child` are known only for rows where `domain` is true or null. Rows where it is
 * false may have any outcome, and so may a file that may have such a row.
 */
final case class Within(domain: StatsPredicate, child: StatsPredicate) extends StatsPredicate

/** The same outcome for all rows; None is null. */
final case class Const(value: Option[Boolean]) extends StatsPredicate

object Const {
  val True: Const = Const(Some(true))
  val False: Const = Const(Some(false))
  val Null: Const = Const(None)
}

/** Every outcome is possible. Other branches of the predicate are not affected. */
final case class Unknown(reason: Reason) extends StatsPredicate

/** The conjuncts of a scan's filter. */
object Filters {

  /** All of them, joined by AND. Without any, every row passes. */
  def conjunction(predicates: Seq[StatsPredicate]): StatsPredicate =
    predicates.reduceLeftOption(And(_, _)).getOrElse(Const.True)
}
