package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.compat._
import org.sparkzorder.memory.RememberedFiles
import org.sparkzorder.memory.learn.MemoryPlanning
import org.sparkzorder.predicate.{Column, Filters, MembershipEvaluation, Reason, ReasonCode, StatsPredicate, Unknown}
import org.sparkzorder.scan.{CorrectedListing, FileRevalidation, Listing, ScanSnapshot}
import org.sparkzorder.stats.{StatsColumn, StatsWithDefaults}

/** Chooses the files that a scan reads, by its filters. */
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
    lazy val notByName = ColumnsByName.whyNot(relation, views)
    val conjuncts =
      if (dataFilters.nonEmpty && usable) dataFilters.map(f => f -> ScanPredicates.translate(relation, notByName, f))
      else Nil
    if (conjuncts.isEmpty && !(hasLater && usable) && !views.exists(_.corrects)) None
    else {
      val predicate = Filters.conjunction(conjuncts.map(_._2))
      val remembered = if (conjuncts.isEmpty) None else MemoryPlanning.filesWithout(l, relation, dataFilters)
      val hasOutside = l.catalogTable.isDefined
      val known =
        for (v <- views; snapshot <- v.snapshot)
          yield ListedOrdinals.of(relation.location, v.root, snapshot, hasOutside)
      val listed =
        new ListedTable(
          CorrectedListing.of(listing.within(partitionFilters), views, listing.source),
          known,
          relation.partitionSchema
        )
      // A conjunction keeps what all conjuncts keep. Each conjunct is also reported by itself.
      val ofConjuncts = conjuncts.map { case (_, p) => listed.selected(p, relation) }
      val byBounds = ofConjuncts
        .reduceLeftOption((a, b) => a.zip(b).map { case (x, y) => x.and(y) })
        .getOrElse(listed.selected(predicate, relation))
      val byCurve = byBounds.map(_.byCurve(predicate, relation))
      val keepers = listed.byMembers(byCurve, predicate, relation)
      val beforeMemory = listed.count(keepers)
      val kept = if (remembered.isEmpty) beforeMemory else listed.count(keepers, remembered)
      val bytesBeforeMemory = listed.bytes(keepers, None)
      val bytesKept = if (remembered.isEmpty) bytesBeforeMemory else listed.bytes(keepers, remembered)
      val elapsed = (System.nanoTime() - start) / 1e6
      def fewer(before: Seq[SelectedFiles], after: Seq[SelectedFiles]): Int =
        if (before.zip(after).forall { case (b, k) => b.keepsAsMuchAs(k) }) 0
        else listed.count(before) - listed.count(after)
      val leftOutByCurve = fewer(byBounds, byCurve)
      val leftOutByMembers = fewer(byCurve, keepers)
      val reports = conjuncts.zip(ofConjuncts).map { case ((f, p), k) => report(relation, f, p, k, listed, views) } ++
        curveReport(conjuncts, views, beforeMemory + leftOutByMembers, leftOutByCurve) ++
        membersReport(conjuncts, relation, views, beforeMemory, leftOutByMembers) ++
        remembered.map(memoryReport(dataFilters, _, listed, beforeMemory - kept))
      val summary =
        if (usable) {
          val leftOut = LeftOutBy(
            bounds = listed.files - beforeMemory - leftOutByCurve - leftOutByMembers,
            curve = leftOutByCurve,
            members = leftOutByMembers,
            memory = beforeMemory - kept
          )
          Some(SkippingReport(listed.files, kept, listed.bytes, bytesKept, elapsed, leftOut, reports))
        } else None
      def look = FileRevalidation.of(relation.sparkSession, (folder, e) => SkippingErrors.warn(Seq(folder), e))
      // Spark lists the partitions of a catalog's table when the query runs, and files that are new then are read.
      Some(new SkippingFileIndex(listing.of, views, keepers, remembered, look, () => look, bytesBeforeMemory, summary))
    }
  }

  /** Reports the conjuncts that form a box on the curve, if the curve rules out files that the bounds do not. */
  private def curveReport(
      conjuncts: Seq[(Expression, StatsPredicate)],
      views: Seq[ScanSnapshot],
      kept: Int,
      leftOut: Int
  ): Option[ConjunctReport] = Option.when(leftOut > 0) {
    val snapshots = views.flatMap(_.snapshot)
    val ofCurve = conjuncts.collect { case (f, p) if snapshots.exists(CurvePruning.columns(p, _).nonEmpty) => f }
    val words = s"the query's box has no point in the interval of the curve of $leftOut more files"
    ConjunctReport(
      ofCurve.map(_.sql).mkString(" AND "),
      Some(kept.toLong),
      Some(Reason(ReasonCode.CurveInterval, words))
    )
  }

  /** Reports the conjuncts that ask for values, if the values of columns rule out files that the bounds do not. */
  private def membersReport(
      conjuncts: Seq[(Expression, StatsPredicate)],
      relation: HadoopFsRelation,
      views: Seq[ScanSnapshot],
      kept: Int,
      leftOut: Int
  ): Option[ConjunctReport] = Option.when(leftOut > 0) {
    val tables = views.flatMap(_.snapshot).map(StatsWithDefaults.of(_, relation.dataSchema))
    val ofMembers = conjuncts.collect { case (f, p) if tables.exists(MembershipEvaluation.isUseful(p, _)) => f }
    val words = s"$leftOut more files do not have the values"
    ConjunctReport(
      ofMembers.map(_.sql).mkString(" AND "),
      Some(kept.toLong),
      Some(Reason(ReasonCode.Membership, words))
    )
  }

  /** Reports the filter, if an earlier query has found files without a row for it. */
  private def memoryReport(
      filters: Seq[Expression],
      memory: RememberedFiles,
      listed: ListedTable,
      leftOut: Int
  ): ConjunctReport = ConjunctReport(
    filters.map(_.sql).mkString(" AND "),
    Some(listed.count(Nil, Some(memory)).toLong),
    Some(Reason(ReasonCode.Memory, s"earlier queries found no row in $leftOut more files"))
  )

  private def report(
      relation: HadoopFsRelation,
      f: Expression,
      p: StatsPredicate,
      keepers: Seq[SelectedFiles],
      listed: ListedTable,
      views: Seq[ScanSnapshot]
  ): ConjunctReport = {
    val snapshots = views.flatMap(_.snapshot)
    def without(tells: StatsColumn => Boolean)(c: Column): Boolean =
      !relation.partitionSchema.fieldNames.contains(c.path.head) &&
        snapshots.forall(!_.column(c.path, c.dataType).exists(tells))
    def nothing(what: String, columns: Set[Column]): ConjunctReport = {
      val column = quoteNameParts(columns.head.path)
      ConjunctReport(
        f.sql,
        None,
        Some(Reason(ReasonCode.NoStatistics, s"the index has no $what of $column under this type"))
      )
    }
    val unbounded = p.ordered.filter(without(!_.bounded.isEmpty))
    p match {
      case Unknown(reason)                                                 => ConjunctReport(f.sql, None, Some(reason))
      case _ if p.columns.nonEmpty && p.columns.forall(without(_ => true)) => nothing("statistics", p.columns)
      case _                                                               =>
        val kept = listed.count(keepers)
        // Without bounds, files that hold only nulls may still be ruled out.
        if (kept == listed.files && unbounded.nonEmpty && unbounded == p.columns) nothing("bounds", unbounded)
        else ConjunctReport(f.sql, Some(kept.toLong), p.reasons.headOption)
    }
  }
}
