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
    CatalystTranslator.translate(f, columnOf(relation, notByName, _))

  /** Whether a part of a predicate is about partition columns, whose values come from a listing. */
  def isAboutPartitions(relation: HadoopFsRelation, p: StatsPredicate): Boolean =
    p.columns.exists(c => relation.partitionSchema.fieldNames.contains(c.path.head))

  private def columnOf(
      relation: HadoopFsRelation,
      notByName: Option[Reason],
      a: AttributeReference
  ): Either[Reason, Seq[String]] =
    if (relation.partitionSchema.fieldNames.contains(a.name)) Right(Seq(a.name))
    else if (relation.dataSchema.fieldNames.contains(a.name))
      notByName.orElse(ColumnsByName.whyNot(relation, a.name)).toLeft(Seq(a.name))
    else Left(Reason(ReasonCode.MetadataColumn, s"${quoteIdentifier(a.name)} is not a column of the files"))
}
