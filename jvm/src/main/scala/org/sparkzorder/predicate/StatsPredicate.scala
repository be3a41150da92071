package org.sparkzorder.predicate

import org.apache.spark.sql.types.DataType

/**
 * A top-level column or a struct's field: its path, never split at dots, and the type its statistics are looked up
 * under.
 */
final case class Column(path: Seq[String], dataType: DataType)

/**
 * What a filter says, as far as statistics of files can answer it. Only names, types and encoded values: equal filters
 * of two plans are equal predicates, whatever their expression ids.
 *
 * A predicate *represents* a Catalyst expression when, for every row of a file, the outcome of the expression (true,
 * false or null) is among the outcomes that [[Evaluation]] gives for the file. Then a file without the outcome 'true'
 * holds no row that passes the filter. More outcomes than the rows have are always right, fewer never.
 *
 * How each form keeps to that is said at the form. Words used there, for one column in one file of at least one row:
 *  - `interval`: all values but nulls and NaN lie in [lo, hi]. Bounds may be loose (truncated strings, rounded
 *    decimals), so a form may not assume that lo or hi occurs, save when lo = hi: then all these values are that one.
 *  - `NaN`: Spark has NaN = NaN and NaN above everything. It is a point of its own outside of the interval, possible
 *    unless it is counted 0 times or all rows are null. -0.0 and 0.0 are one encoded value, as they are one value for
 *    Spark's comparisons.
 *  - `null`: possible unless counted 0 times. If all rows are null there is neither interval nor NaN; if nulls and NaNs
 *    are all rows there is no interval.
 *  - without bounds the interval is everything (of floats and doubles, infinity to infinity); unknown counts (-1) make
 *    null, or NaN, possible and exclude nothing.
 *
 * The outcomes of a column's form are the union over these three parts.
 */
sealed trait StatsPredicate extends Product with Serializable {

  /** The predicates that this one is made of. */
  def children: Seq[StatsPredicate] = this match {
    case And(left, right)      => Seq(left, right)
    case Or(left, right)       => Seq(left, right)
    case Not(child)            => Seq(child)
    case Undefined(child)      => Seq(child)
    case Within(domain, child) => Seq(domain, child)
    case _                     => Nil
  }

  /** The columns whose bounds are looked at. */
  def ordered: Set[Column] = this match {
    case Comparison(column, _, _) => Set(column)
    case In(column, _, _)         => Set(column)
    case StartsWith(column, _)    => Set(column)
    case _                        => children.flatMap(_.ordered).toSet
  }

  /** The columns whose statistics are looked at. */
  def columns: Set[Column] = this match {
    case IsNull(column)    => Set(column)
    case IsNotNull(column) => Set(column)
    case _                 => ordered ++ children.flatMap(_.columns)
  }

  /** Why parts of it are unknown, in reading order. */
  def reasons: Seq[Reason] = this match {
    case Unknown(reason) => Seq(reason)
    case _               => children.flatMap(_.reasons).distinct
  }
}

/**
 * `column operator value`. Null rows give null, for `<=>` false. The order is total, NaN included, so `<>`, `>` and
 * `>=` are the negations of `=`, `<=` and `<` row by row, and only the latter have rules:
 *  - `=` true needs lo <= v <= hi; false is impossible only when lo = hi = v.
 *  - `<` true needs lo < v (loose lo is still below a true minimum); false needs hi >= v.
 *  - `<=` true needs lo <= v; false needs hi > v.
 * A NaN in the file is the interval [NaN, NaN]: the same rules hold.
 */
final case class Comparison(column: Column, operator: Operator, value: Value) extends StatsPredicate

/**
 * `column IN (values)`, with a null in the list if `hasNull`. True needs a value within [lo, hi]; false is impossible
 * only when lo = hi = a value. Where it is not true, a null in the list makes it null instead of false: so `NOT IN`
 * with null is never true. Null rows give null. An empty list is false, null for null rows.
 *
 * @param values ascending and distinct, see [[In.of]]
 */
final case class In private (column: Column, values: Vector[Value], hasNull: Boolean) extends StatsPredicate

object In {
  def of(column: Column, values: Iterable[Value], hasNull: Boolean): In =
    new In(column, distinct(values), hasNull)

  /** There may be thousands: numbers are sorted as such. */
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
 * True needs a null row, false a row that is not null. Bounds and NaN say nothing. Columns of any type. Never null
 * itself.
 */
final case class IsNull(column: Column) extends StatsPredicate

/** The negation of [[IsNull]], never null itself. */
final case class IsNotNull(column: Column) extends StatsPredicate

/**
 * `startswith(column, prefix)` by bytes. The values with a prefix p are an interval of the byte order that begins at p.
 * True needs hi >= p and (lo <= p or lo has the prefix): a lo above p without the prefix is beyond that interval. False
 * is impossible only when both bounds have the prefix, as everything between them is then inside the interval. No
 * successor of p is needed, so 0xFF bytes are not special; the empty prefix is always true. Null rows give null.
 */
final case class StartsWith(column: Column, prefix: BytesValue) extends StatsPredicate

/**
 * Kleene's AND of any outcome of the one with any of the other: more than the rows have, since outcomes of one row may
 * belong together.
 */
final case class And(left: StatsPredicate, right: StatsPredicate) extends StatsPredicate

/** Kleene's OR, likewise. */
final case class Or(left: StatsPredicate, right: StatsPredicate) extends StatsPredicate

/** Swaps true and false in the set of outcomes, null stays. Never the negation of 'keep'. */
final case class Not(child: StatsPredicate) extends StatsPredicate

/**
 * `child IS NULL` of a condition: true if the child may be null, false if it may be true or false. Never null itself.
 */
final case class Undefined(child: StatsPredicate) extends StatsPredicate

/**
 * As the child for rows for which the domain is true or null, anything for those for which it is false: what holds of
 * the child is known of some rows only. A file with a row outside may be anything.
 */
final case class Within(domain: StatsPredicate, child: StatsPredicate) extends StatsPredicate

/** The same for all rows; None is null. */
final case class Const(value: Option[Boolean]) extends StatsPredicate

object Const {
  val True: Const = Const(Some(true))
  val False: Const = Const(Some(false))
  val Null: Const = Const(None)
}

/** Any outcome is possible. It makes only its own branch unknown. */
final case class Unknown(reason: Reason) extends StatsPredicate

sealed abstract class Operator(val symbol: String) extends Product with Serializable {

  /** The operator with both sides exchanged. */
  def swapped: Operator = this match {
    case Operator.Less           => Operator.Greater
    case Operator.LessOrEqual    => Operator.GreaterOrEqual
    case Operator.Greater        => Operator.Less
    case Operator.GreaterOrEqual => Operator.LessOrEqual
    case symmetric               => symmetric
  }

  override def toString: String = symbol
}

object Operator {
  case object Equal extends Operator("=")
  case object NullSafeEqual extends Operator("<=>")
  case object NotEqual extends Operator("<>")
  case object Less extends Operator("<")
  case object LessOrEqual extends Operator("<=")
  case object Greater extends Operator(">")
  case object GreaterOrEqual extends Operator(">=")

  val all: Seq[Operator] = Seq(Equal, NullSafeEqual, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual)
}
