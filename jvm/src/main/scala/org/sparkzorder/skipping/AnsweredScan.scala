package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * A scan that is not in the plan, since the index has answered for all of its files.
 *
 * @param relation its name
 */
final case class AnsweredScan(relation: String, report: SkippingReport)

/** A node of a physical plan that gives out what the index has answered. */
private[skipping] trait AnsweredNode { def answered: AnsweredScan }

object AnsweredScan {

  /** Of the rows that came in place of the scan. Spark drops it if it folds the plan above into the rows. */
  val Tag: TreeNodeTag[AnsweredScan] = TreeNodeTag[AnsweredScan]("zorder.answers")
}
