package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.memory.RememberedFiles
import org.sparkzorder.memory.learn.MemoryPlanning
import org.sparkzorder.predicate.{Column, Filters, MembershipEvaluation, Reason, ReasonCode, StatsPredicate, Unknown}
import org.sparkzorder.scan.{ExchangeAwareListing, FileRevalidation, Listing, ScanSnapshot}
import org.sparkzorder.stats.{StatsColumn, StatsWithDefaults}

/** A means by which files are left out: of those that the means before it keep. */
private[skipping] final case class Stage(name: String, keep: Selection => Selection)

private[skipping] object Pruning {

  /**
   * The index to read through; None if Spark's own would read the same files.
   *
   * @param listing of the relation's index
   * @param filters conjuncts over the scan that can be evaluated now, with the relation's own names
   * @param hasLater whether there are conjuncts that can be evaluated when the query runs
   */
  def apply(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      views: Seq[ScanSnapshot],
      listing: Listing,
      filters: Seq[Expression],
      enabled: Boolean,
      hasLater: Boolean
  ): Option[SkippingFileIndex] = {
    val start = System.nanoTime()
    val (partitionFilters, dataFilters) = ScanFilters.byPartition(filters, l, relation)
    lazy val usable = enabled && views.exists(_.snapshot.isDefined)
    val conjuncts =
      if (dataFilters.isEmpty || !usable) Nil
      else dataFilters.zip(ScanPredicates.translated(relation, views, dataFilters)).map((Conjunct.apply _).tupled)
    if (conjuncts.isEmpty && !(hasLater && usable) && !views.exists(_.corrects)) None
    else {
      val remembered = if (conjuncts.isEmpty) None else MemoryPlanning.filesWithout(l, relation, dataFilters)
      val known =
        for (v <- views; snapshot <- v.snapshot)
          yield FileOrdinals.of(relation.location, v.root, snapshot, hasOutside = l.catalogTable.isDefined)
      def scanned(listing: Listing) =
        ScannedTable(ExchangeAwareListing.of(listing.within(partitionFilters), views, listing.source), known, relation)
      val table = scanned(listing)
      val (selection, counts, bytes) = folded(table, stages(table, conjuncts, remembered))
      val millis = (System.nanoTime() - start) / 1e6
      val reports = new ConjunctReports(relation, views, conjuncts, counts, remembered)
      // Only EXPLAIN asks for the reports. What is listed again then is not kept until then.
      def explained = reports.of(scanned(new Listing(relation.location)))
      val summary =
        new SkippingReport(table.files, counts.last.after, table.bytes, bytes.last, millis, counts, explained)
      def look() = FileRevalidation.of(relation.sparkSession, (folder, e) => SkippingErrors.warn(Seq(folder), e))
      val beforeMemory = bytes.init.last
      val predicates = conjuncts.map(_.predicate)
      val report = if (usable) Some(summary) else None
      Some(new SkippingFileIndex(relation, views, predicates, selection, () => look(), beforeMemory, report))
    }
  }

  /** In the order in which they are tried. */
  private def stages(table: ScannedTable, conjuncts: Seq[Conjunct], remembered: Option[RememberedFiles]): Seq[Stage] = {
    val predicates = conjuncts.map(_.predicate)
    val all = Filters.conjunction(predicates)
    Seq(
      Stage(StageCount.Bounds, _ => table.byBounds(predicates)),
      Stage(StageCount.Curve, table.byCurve(_, all)),
      Stage(StageCount.Values, table.byValues(_, all)),
      Stage(StageCount.Memory, _.copy(memory = remembered))
    )
  }

  /** The files that all stages keep, with the counts of each stage and the bytes that it keeps. */
  private def folded(table: ScannedTable, stages: Seq[Stage]): (Selection, Seq[StageCount], Seq[Long]) = {
    val none = (Selection(Nil), StageCount("", table.files, table.files), table.bytes)
    val steps = stages.scanLeft(none) { case ((before, count, bytes), stage) =>
      val kept = stage.keep(before)
      // The files are only counted if a stage has left out some.
      if (kept == before) (before, StageCount(stage.name, count.after, count.after), bytes)
      else {
        val now = table.kept(kept)
        (kept, StageCount(stage.name, count.after, now.count), now.bytes)
      }
    }
    (steps.last._1, steps.tail.map(_._2), steps.map(_._3))
  }
}

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

  private def together(
      kept: Long,
      code: ReasonCode,
      words: String
  )(isOne: StatsPredicate => Boolean): ConjunctReport = {
    def text = conjuncts.filter(c => isOne(c.predicate)).map(_.expression.sql).mkString(" AND ")
    ConjunctReport(text, Some(kept), Some(Reason(code, words)))
  }

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
