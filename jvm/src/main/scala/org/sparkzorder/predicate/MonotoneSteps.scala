package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.Expression

/** Finds the [[MonotoneStep]] that an expression is. */
private[predicate] object MonotoneSteps {

  /** None for everything that is not proven in [[NumericSteps]] or in [[TimeSteps]]. */
  def of(e: Expression): Option[MonotoneStep] = NumericSteps.of(e).orElse(TimeSteps.of(e))
}
