package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.PartitionDirectory

import org.sparkzorder.predicate.{Evaluation, Outcomes}
import org.sparkzorder.skipping.ListedOrdinals
import org.sparkzorder.stats.StatsWithDefaults

/**
 * What the index knows of a file.
 *
 * @param hasRows whether it has rows. If not, it makes no group
 * @param values of the slots
 */
private[answer] final case class FileFact(hasRows: Boolean, values: Seq[Any])

/**
 * What the index knows about an aggregate, file by file.
 *
 * @param onData the scan's conjuncts, but for those about partitions alone
 */
private[answer] final class IndexFacts(asked: AnswerableAggregate, onData: Seq[Expression]) {
  private val view = asked.planned.views.head
  private val snapshot = view.snapshot.get
  private val table = StatsWithDefaults.of(snapshot, asked.relation.dataSchema)
  private val outcomes = Evaluation.outcomes(asked.predicate(onData), table)
  private lazy val slots = asked.slots.map(Slot.values(_, table))

  /** Whether all rows of some file pass the filter. */
  def mayAnswer: Boolean = outcomes.contains(Outcomes.True.toByte)

  /** None for files of which some slot is not known, and for those in which some row may not pass the filter. */
  def of(listed: Seq[PartitionDirectory]): Seq[Seq[Option[FileFact]]] = {
    val known = ListedOrdinals.of(asked.planned.base, view.root, snapshot, asked.scan.catalogTable.isDefined)
    listed.zip(known.of(listed.map(_.files))).map { case (d, l) => l.ordinals.toSeq.map(fact(_, d.values)) }
  }

  private def fact(ordinal: Int, partition: InternalRow): Option[FileFact] =
    if (ordinal < 0 || table.rows(ordinal) < 0 || (outcomes(ordinal) & ~Outcomes.True) != 0) None
    else {
      val values = slots.map(_(ordinal, partition))
      if (values.contains(Slot.Unknown)) None else Some(FileFact(table.rows(ordinal) > 0, values))
    }
}
