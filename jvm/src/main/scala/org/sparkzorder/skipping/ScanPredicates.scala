package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

import org.sparkzorder.predicate.{CatalystTranslator, Reason, ReasonCode, StatsPredicate}

/** Conditions over a scan as predicates over statistics. */
private[skipping] object ScanPredicates {

  /** @param notByName why the scan's reader does not find columns by their names; None if it does */
  def translate(
      relation: HadoopFsRelation,
      notByName: Option[Reason],
      f: Expression
  ): StatsPredicate =
    CatalystTranslator.translate(f, attribute => notByName.toLeft(()).flatMap(_ => columnOf(relation, attribute)))

  private def columnOf(relation: HadoopFsRelation, a: AttributeReference): Either[Reason, Seq[String]] =
    if (isPartitionColumn(relation, a.name))
      Left(Reason(ReasonCode.PartitionColumn, s"${quoteIdentifier(a.name)} is a partition column"))
    else if (relation.dataSchema.fieldNames.contains(a.name))
      ColumnsByName.whyNot(relation, a.name).toLeft(Seq(a.name))
    else Left(Reason(ReasonCode.MetadataColumn, s"${quoteIdentifier(a.name)} is not a column of the files"))

  private def isPartitionColumn(relation: HadoopFsRelation, name: String): Boolean =
    relation.partitionSchema.fieldNames.contains(name)
}
