package org.sparkzorder.predicate

/** The conjuncts of a scan's filter. */
object Filters {

  /** All of them, joined by AND. Without any, every row passes. */
  def conjunction(predicates: Seq[StatsPredicate]): StatsPredicate =
    predicates.reduceLeftOption(And(_, _)).getOrElse(Const.True)
}
