package org.sparkzorder.write

import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Expression}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LogicalPlan}

/**
 * The rows of a dimension, which give the rows of a rewrite the attributes that place them.
 *
 * No row of the rewrite is lost or doubled by it, whatever the dimension has: the join keeps rows without a
 * partner, and `rows` has each key once. `rows` gives the same rows whenever it is read, so a task that runs
 * again sends each row to the same file.
 *
 * @param column path of the files' column that the key is compared with
 * @param input stands for this column in `compared`
 * @param compared the value that is equal to the key: the column, cast to a common type
 * @param rows the key, then the attributes
 * @param attributes the paths of the attributes in a layout, in their order in `rows`
 */
final case class Dimension(
    column: Seq[String],
    input: Attribute,
    compared: Expression,
    rows: LogicalPlan,
    attributes: Seq[Seq[String]]
) {

  /** @param value the column in the output of the plan */
  private[write] def joinedTo(plan: LogicalPlan, value: Expression): LogicalPlan = {
    val equal = EqualTo(compared.transform { case a if a.semanticEquals(input) => value }, rows.output.head)
    Join(plan, rows, LeftOuter, Some(equal), JoinHint.NONE)
  }

  private[write] def attribute(path: Seq[String]): Option[Attribute] =
    Some(attributes.indexOf(path)).filter(_ >= 0).map(i => rows.output(i + 1))
}
