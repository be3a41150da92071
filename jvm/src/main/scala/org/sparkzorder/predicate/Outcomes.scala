package org.sparkzorder.predicate

/**
 * Sets of outcomes that rows may have, as bit masks. A file is kept if and only if its set holds
 * [[Outcomes.True]]. Files without rows have the empty set, and only they do.
 */
object Outcomes {
  final val True = 1
  final val False = 2
  final val Null = 4
  final val None = 0
  final val Any = 7

  private val values = Seq(True, False, Null)

  def not(a: Int): Int = (a & Null) | ((a & True) << 1) | ((a & False) >> 1)

  /** The outcomes of `x IS NULL` when `a` are the outcomes of x. */
  def undefined(a: Int): Int = (if ((a & Null) != 0) True else None) | (if ((a & ~Null) != 0) False else None)

  /** The outcomes of `x IS TRUE` when `a` are the outcomes of x. */
  def isTrue(a: Int): Int = (a & True) | (if ((a & ~True) != 0) False else None)

  private[predicate] val conjunctions: Array[Byte] = table { (x, y) =>
    if (x == False || y == False) False else if (x == Null || y == Null) Null else True
  }

  private[predicate] val disjunctions: Array[Byte] = table { (x, y) =>
    if (x == True || y == True) True else if (x == Null || y == Null) Null else False
  }

  /** All outcomes if the first operand may be false, else those of the second. */
  private[predicate] val within: Array[Byte] =
    Array.tabulate(64)(i => (if ((i >> 3 & False) != 0) Any else i & 7).toByte)

  private def table(kleene: (Int, Int) => Int): Array[Byte] = Array.tabulate(64) { i =>
    val pairs = for (x <- values if (i >> 3 & x) != 0; y <- values if (i & 7 & y) != 0) yield kleene(x, y)
    pairs.foldLeft(None)(_ | _).toByte
  }
}
