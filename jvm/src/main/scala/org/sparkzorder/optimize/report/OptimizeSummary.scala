package org.sparkzorder.optimize.report

import java.util.Locale

import org.sparkzorder.compat._
import org.sparkzorder.conf.ByteSizes

/**
 * The result of OPTIMIZE in a few sentences for people, for example:
 *
 * {{{
 * 24 → 19 files, 1.2 GiB in 41 s. A lookup on `carrier` reads 5.6 of 19 files, before: 24 of 24, best possible: 4.4.
 * Retired files take 1.2 GiB until VACUUM.
 * }}}
 */
private[sparkzorder] object OptimizeSummary {

  /** The means are of samples. */
  private val BoundTolerance = 0.98

  def of(metrics: OptimizeMetrics, keeping: Int = 0): String =
    summary(metrics) + (if (keeping == 0) "" else s" Partitions that keep a layout of their own: $keeping.")

  private def summary(metrics: OptimizeMetrics): String =
    if (metrics.removed.isEmpty) nothing(metrics)
    else
      (exchanged(metrics) +: (chosen(metrics) ++ lookups(metrics) ++ workload(metrics) ++ forgotten(metrics) ++ trash(
        metrics
      ))).mkString(" ")

  private def nothing(metrics: OptimizeMetrics): String =
    if (metrics.considered == 0) "No data files were found."
    else s"Nothing to do: ${files(metrics.considered)}, all as they should be."

  private def exchanged(metrics: OptimizeMetrics): String = {
    val counts = s"${metrics.removed.size} → ${files(metrics.added.size.toLong)}"
    val (would, time) =
      if (metrics.dryRun) ("Would rewrite ", metrics.millis.fold("")(ms => s" in about ${duration(ms)}"))
      else ("", metrics.millis.fold("")(ms => s" in ${duration(ms)}"))
    s"$would$counts, ${ByteSizes.rounded(metrics.removed.sum)}$time."
  }

  private def lookups(metrics: OptimizeMetrics): Seq[String] =
    if (metrics.totalFiles == 1)
      Seq("One file is left, so nothing can be skipped. For more files set 'num-files' or 'target-file-size-bytes'.")
    else if (!metrics.clustered)
      Seq("These files have no layout, so few can be skipped. ZORDER BY the columns that queries ask for.")
    else metrics.clustering.flatMap(c => lookup(metrics, c))

  private def lookup(metrics: OptimizeMetrics, c: ColumnClustering): Option[String] =
    c.meanFilesAfter.map { after =>
      val place = if (metrics.elsewhere == 0) "" else " in the rewritten folders"
      val (now, earlier) = (metrics.added.size + metrics.untouched, metrics.removed.size + metrics.untouched)
      val before = c.meanFilesBefore.fold("")(b => s", before: ${number(b)} of $earlier")
      // The bound is about columns that have nothing to do with each other, and values that are not null.
      val best = if (after < c.bound * BoundTolerance) "" else s", best possible: ${number(c.bound)}"
      val will = if (metrics.dryRun) "would read about" else "reads"
      val half = c.meanFilesOfHalf
        .fold("")(n => s", with files of half the size: ${number(n)} of ${now + metrics.added.size}")
      s"A lookup on `${c.column.replace("`", "``")}` $will ${number(after)} of ${files(now)}$place$before$best$half."
    }

  /** What AUTO would choose, and what it would choose next. */
  private def chosen(metrics: OptimizeMetrics): Seq[String] =
    metrics.auto.filter(_ => metrics.dryRun).toSeq.map { auto =>
      val next = auto.runnerUp.fold("") { case (layout, share) => s", next best: $layout with ${percent(share)}" }
      s"AUTO would choose ${auto.layout}: a recorded query reads about ${percent(auto.touched)} of the files$next."
    }

  private def workload(metrics: OptimizeMetrics): Option[String] = metrics.workload.map { w =>
    val queries = if (w.queries == 1) "1 recorded query" else s"${w.queries} recorded queries"
    s"The $queries would read about ${percent(w.after)} of the bytes, before: ${percent(w.before)}."
  }

  private def forgotten(metrics: OptimizeMetrics): Option[String] = Option.when(metrics.forgotten > 0) {
    val filters = if (metrics.forgotten == 1) "1 filter" else s"${metrics.forgotten} filters"
    s"What $filters had found in the old files is forgotten."
  }

  private def percent(share: Double): String = s"${"%.1f".formatLocal(Locale.ROOT, 100 * share)} %"

  private def trash(metrics: OptimizeMetrics): Seq[String] =
    if (metrics.dryRun) Seq("Nothing was changed.")
    else Seq(s"Retired files take ${ByteSizes.rounded(metrics.removed.sum)} until VACUUM.")

  private def files(n: Long): String = if (n == 1) "1 file" else s"$n files"

  /** With one decimal, unless it is a whole number. */
  private def number(n: Double): String = "%.1f".formatLocal(Locale.ROOT, n).stripSuffix(".0")

  private def duration(millis: Long): String =
    if (millis < 10000) s"${"%.1f".formatLocal(Locale.ROOT, millis / 1000d)} s"
    else if (millis < 120000) s"${millis / 1000} s"
    else if (millis < 7200000) s"${number(math.rint(millis / 6000d) / 10)} min"
    else s"${"%.1f".formatLocal(Locale.ROOT, millis / 3600000d)} h"
}
