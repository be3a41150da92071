package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import org.sparkzorder.memory.RememberedFiles
import org.sparkzorder.memory.learn.MemoryPlanning
import org.sparkzorder.predicate.Filters
import org.sparkzorder.scan.{ExchangeAwareListing, FileRevalidation, Listing, ScanSnapshot}

/** A means by which files are left out: of those that the means before it keep. */
private[skipping] final case class Stage(name: String, keep: Selection => Selection)

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
      val look = FileRevalidation.of(relation.sparkSession, (folder, e) => SkippingErrors.warn(Seq(folder), e))
      val beforeMemory = bytes.init.last
      val predicates = conjuncts.map(_.predicate)
      val report = if (usable) Some(summary) else None
      Some(new SkippingFileIndex(relation, views, predicates, selection, look, beforeMemory, report))
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
