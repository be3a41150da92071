package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.predicate.{Reason, ReasonCode}

/** Why joins do not leave out files of a scan, for EXPLAIN SKIPPING. */
private[skipping] object JoinNotes {

  /** Reasons by the texts of keys, at the scan. */
  private val Tag = TreeNodeTag[Map[String, String]]("zorder.joins")

  /** Keys about partitions alone are Spark's own matter. */
  def add(l: LogicalRelation, key: Expression, why: String): Unit = {
    val partitions = l.relation.asInstanceOf[HadoopFsRelation].partitionSchema.fieldNames
    if (key.references.exists(a => !partitions.contains(a.name)))
      l.setTagValue(Tag, l.getTagValue(Tag).getOrElse(Map.empty[String, String]) + (JoinFilters.text(key) -> why))
  }

  def of(l: LogicalRelation): Seq[ConjunctReport] = l.getTagValue(Tag).toSeq.flatten.map { case (text, why) =>
    ConjunctReport(text, None, Some(Reason(ReasonCode.Join, why)))
  }
}
