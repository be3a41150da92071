package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}

/** Translates the conjuncts of a scan's filter, each by itself. */
object Filters {

  /**
   * Each conjunct with its predicate, in order. A conjunct that cannot be used is [[Unknown]], or
   * has unknown parts. It does not harm the others.
   */
  def translate(
      conjuncts: Seq[Expression],
      columnOf: AttributeReference => Either[Reason, Seq[String]]
  ): Seq[(Expression, StatsPredicate)] = conjuncts.map(c => c -> CatalystTranslator.translate(c, columnOf))

  /** All of them, joined by AND. Without any, every row passes. */
  def conjunction(predicates: Seq[StatsPredicate]): StatsPredicate =
    predicates.reduceLeftOption(And(_, _)).getOrElse(Const.True)
}
