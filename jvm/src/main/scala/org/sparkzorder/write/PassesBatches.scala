package org.sparkzorder.write

import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/** A node of a rewrite that hands on batches of its child as they are. Others, such as filters of Spark, take rows. */
private[write] trait PassesBatches { this: UnaryNode => }
