package org.sparkzorder.skipping.answer

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionDirectory

import org.sparkzorder.skipping.SkippingReport

/**
 * The answers of the index to an aggregate, one row for each group of the files that it answers for: the values of the
 * groups' columns, then of the measures. The remaining files must be read.
 */
private[answer] final case class FileAnswers(
    rows: Seq[Seq[Any]],
    remaining: Seq[PartitionDirectory],
    report: SkippingReport
)

private[answer] object FileAnswers {

  /** What the index knows of a file of which all rows pass the filter. A file without rows makes no group. */
  private final case class FileFact(hasRows: Boolean, values: Seq[Any])

  /** So many groups are put into a plan at most. */
  private val MostGroups = 10000

  /** None if the index answers for too few files to be worth another operator. */
  def of(asked: AnswerableAggregate): Option[FileAnswers] = {
    val begin = System.nanoTime()
    val facts = new FileFacts(asked.scan)
    if (!facts.mayAnswer) None
    else {
      val listed = facts.listed
      // The files that are read must be of the same state as those that the index answers for.
      if (asked.scan.isMoved || !asked.scan.areAsListed(listed.flatMap(_.files))) None
      else answered(asked, facts, listed, begin)
    }
  }

  private def answered(
      asked: AnswerableAggregate,
      facts: FileFacts,
      listed: Seq[PartitionDirectory],
      begin: Long
  ): Option[FileAnswers] = {
    val measures = asked.measures.map(AggregateValue.values(_, facts.table))
    def factOf(ordinal: Int, partition: InternalRow): Option[FileFact] =
      if (!facts.isSure(ordinal)) None
      else {
        val values = measures.map(_(ordinal, partition))
        if (values.contains(AggregateValue.Unknown)) None else Some(FileFact(facts.table.rows(ordinal) > 0, values))
      }
    val found = listed.zip(facts.ordinals).map { case (d, ordinals) => ordinals.map(factOf(_, d.values)) }
    val groups = mutable.LinkedHashMap.empty[Seq[Any], Seq[Any]]
    var answers = 0L
    val remaining = listed.zip(found).map { case (d, f) =>
      lazy val key = asked.groups.map(i => d.values.get(i, asked.scan.relation.partitionSchema(i).dataType))
      val (known, read) = d.files.zip(f).partition(_._2.isDefined)
      answers += known.size
      known.iterator.flatMap(_._2).filter(_.hasRows).foreach { fact =>
        groups(key) = groups.get(key).fold(fact.values)(merged(asked.measures, _, fact.values))
      }
      d.copy(files = read.map(_._1))
    }
    val left = remaining.iterator.map(_.files.size).sum
    val (what, why) = (asked.functions.map(_.sql).mkString(", "), s"the index answers for $answers files")
    if (answers == 0 || answers * 4 < left || groups.size > MostGroups) None
    else Some(FileAnswers(
      groups.toSeq.map { case (key, values) => key ++ values },
      remaining.filter(_.files.nonEmpty),
      RemainingFiles.report(asked.scan, listed, remaining, what, why, begin, answers)
    ))
  }

  private def merged(measures: Seq[AggregateValue], a: Seq[Any], b: Seq[Any]): Seq[Any] =
    measures.indices.map(i => measures(i).merge(a(i), b(i)))
}
