package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * A function of one argument that keeps the order of its argument between two ends, or always
 * reverses it there. For each argument from `from` to `to`, both included, it gives a value. For
 * null it gives null.
 *
 * @param rising whether it keeps the order; else it reverses it
 * @param from Catalyst's value of the argument's type, None for the least one
 * @param to likewise, None for the greatest one
 */
private[predicate] final case class MonotoneStep(
    argument: Expression,
    rising: Boolean = true,
    from: Option[Any] = None,
    to: Option[Any] = None
)
