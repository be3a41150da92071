package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.execution.datasources.HadoopFsRelation

import org.sparkzorder.memory.RememberedFiles
import org.sparkzorder.predicate.{Column, MembershipEvaluation, Reason, ReasonCode, StatsPredicate, Unknown}
import org.sparkzorder.scan.ScanSnapshot
import org.sparkzorder.stats.{StatsColumn, StatsWithDefaults}

/** A condition over data, and what it says of statistics. */
private[skipping] final case class Conjunct(expression: Expression, predicate: StatsPredicate)

/**
 * What EXPLAIN SKIPPING says of a scan's conditions: each by itself, and those by which the stages after the bounds
 * leave out files.
 *
 * @param counts of the stages
 */
private[skipping] final class ConjunctReports(
    relation: HadoopFsRelation,
    views: Seq[ScanSnapshot],
    conjuncts: Seq[Conjunct],
    counts: Seq[StageCount],
    memory: Option[RememberedFiles]
) {
  private val snapshots = views.flatMap(_.snapshot)

  def of(table: ScannedTable): Seq[ConjunctReport] =
    conjuncts.map(report(_, table)) ++ counts.flatMap(ofStage) ++ memory.map(ofMemory(_, table))

  private def ofStage(count: StageCount): Option[ConjunctReport] = count match {
    case StageCount(StageCount.Curve, _, kept) if count.leftOut > 0 =>
      val words = s"the query's box has no point in the interval of the curve of ${count.leftOut} more files"
      Some(together(kept, ReasonCode.CurveInterval, words)(p => snapshots.exists(CurvePruning.columns(p, _).nonEmpty)))
    case StageCount(StageCount.Values, _, kept) if count.leftOut > 0 =>
      val tables = snapshots.map(StatsWithDefaults.of(_, relation.dataSchema))
      val words = s"${count.leftOut} more files do not have the values"
      Some(together(kept, ReasonCode.Membership, words)(p => tables.exists(MembershipEvaluation.isUseful(p, _))))
    case _ => None
  }

  private def ofMemory(remembered: RememberedFiles, table: ScannedTable): ConjunctReport = {
    val leftOut = counts.filter(_.name == StageCount.Memory).map(_.leftOut).sum
    val kept = table.kept(Selection(Nil, Some(remembered))).count.toLong
    together(kept, ReasonCode.Memory, s"earlier queries found no row in $leftOut more files")(_ => true)
  }

  private def together(kept: Long, code: ReasonCode, words: String)(isOne: StatsPredicate => Boolean): ConjunctReport =
    ConjunctReport(
      conjuncts.filter(c => isOne(c.predicate)).map(_.expression.sql).mkString(" AND "),
      Some(kept),
      Some(Reason(code, words))
    )

  private def report(conjunct: Conjunct, table: ScannedTable): ConjunctReport = {
    val Conjunct(f, p) = conjunct
    def without(tells: StatsColumn => Boolean)(c: Column): Boolean =
      !relation.partitionSchema.fieldNames.contains(c.path.head) &&
        snapshots.forall(!_.column(c.path, c.dataType).exists(tells))
    def nothing(what: String, columns: Set[Column]) = {
      val words = s"the index has no $what of ${quoteNameParts(columns.head.path)} under this type"
      ConjunctReport(f.sql, None, Some(Reason(ReasonCode.NoStatistics, words)))
    }
    val unbounded = p.ordered.filter(without(!_.bounded.isEmpty))
    p match {
      case Unknown(reason)                                                 => ConjunctReport(f.sql, None, Some(reason))
      case _ if p.columns.nonEmpty && p.columns.forall(without(_ => true)) => nothing("statistics", p.columns)
      case _                                                               =>
        val kept = table.kept(table.byBounds(Seq(p))).count
        // Without bounds, files that hold only nulls may still be ruled out.
        if (kept == table.files && unbounded.nonEmpty && unbounded == p.columns) nothing("bounds", unbounded)
        else ConjunctReport(f.sql, Some(kept.toLong), p.reasons.headOption)
    }
  }
}
