package org.sparkzorder.command

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.{SkippingIndexRows, TableIndex}
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{KeyColumns, NamedJobs, TableSideFolder}

/**
 * `DESCRIBE SKIPPING INDEX`: a row for each file and indexed column. It is a query rather than a
 * command, because the rows of a command are all in the driver at once, with about 750 bytes each.
 *
 * @param columns names as written; empty for all columns that the index has
 */
final case class DescribeSkippingIndex(target: Target, columns: Seq[Seq[String]]) extends LeafNode {
  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = Nil
}

/** Opens the table when the statement is analyzed, so that its errors appear at once, like those of a command. */
class ResolveDescribeSkippingIndex(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp { case d: DescribeSkippingIndex =>
    val context = session.asInstanceOf[ClassicSession].sparkContext
    val found = NamedJobs.named(context, s"DESCRIBE SKIPPING INDEX ON ${d.target.title}")(rows(d))
    DataSourceV2Relation.create(found, None, None, CaseInsensitiveStringMap.empty)
  }

  private def rows(d: DescribeSkippingIndex): SkippingIndexRows = {
    val table = TableRecovery.settled(session, d.target)
    val snapshot =
      TableIndex.of(table, TableSideFolder.of(table)).getOrElse(throw ZOrderErrors.indexNotFound(table.name))
    val ordinals = table.dataSchema.fieldNames.zipWithIndex.reverseIterator.toMap
    val known = if (snapshot.isOutdated) TableIndex.columnsOf(table, Some(snapshot)).keys else snapshot.columns
    val all = known.sortBy(c => (ordinals.getOrElse(c.path.head, -1), c.path.mkString(".")))
    val shown = if (d.columns.isEmpty) all else all.filter(KeyColumns.named(table, d.columns))
    new SkippingIndexRows(table, snapshot, shown)
  }
}
