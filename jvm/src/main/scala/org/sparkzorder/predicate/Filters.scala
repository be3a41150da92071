package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}

/** The conjuncts of a scan's filter, each for itself. */
object Filters {

  /**
   * Each conjunct with its predicate, in order. One that cannot be used is [[Unknown]] or has unknown parts; the others
   * stay as they are.
   */
  def translate(
      conjuncts: Seq[Expression],
      columnOf: AttributeReference => Either[Reason, Seq[String]]
  ): Seq[(Expression, StatsPredicate)] = conjuncts.map(c => c -> CatalystTranslator.translate(c, columnOf))

  /** All of them at once. No conjunct is no filter. */
  def conjunction(predicates: Seq[StatsPredicate]): StatsPredicate =
    predicates.reduceLeftOption(And(_, _)).getOrElse(Const.True)
}
