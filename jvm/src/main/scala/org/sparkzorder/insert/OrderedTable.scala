package org.sparkzorder.insert

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** Tells the write of a CREATE TABLE AS SELECT which table it is for. [[WriteOrderRule]] removes it again. */
private[insert] final case class OrderedTable(table: CatalogTable, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): OrderedTable = copy(child = newChild)
}
