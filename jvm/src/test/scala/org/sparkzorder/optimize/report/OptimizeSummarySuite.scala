package org.sparkzorder.optimize.report

import org.scalatest.funsuite.AnyFunSuite

class OptimizeSummarySuite extends AnyFunSuite {

  private val rewritten = OptimizeMetrics(
    added = Seq.fill(19)(64L << 20),
    removed = Seq.fill(24)(51L << 20),
    considered = 24,
    partitions = 1,
    batches = 1,
    clustered = true,
    version = 1,
    clustering = Seq(ColumnClustering("carrier", Some(24), Some(5.63), 5.1)),
    strategy = OptimizeStrategy("full", "", None),
    auto = None,
    target = None,
    millis = Some(41000)
  )
  private val one = rewritten.copy(added = Seq(100L), removed = Seq(60L, 60L), considered = 2, millis = None)
  private val nothing = rewritten.copy(added = Nil, removed = Nil)

  test("whole summaries") {
    Seq(
      rewritten -> ("24 → 19 files, 1.2 GiB in 41 s. A lookup on `carrier` reads 5.6 of 19 files, before: 24 of 24, " +
        "best possible: 5.1. Retired files take 1.2 GiB until VACUUM."),
      one -> ("2 → 1 file, 120 B. One file is left, so nothing can be skipped. For more files set 'num-files' or " +
        "'target-file-size-bytes'. Retired files take 120 B until VACUUM."),
      nothing -> "Nothing to do: 24 files, all as they should be.",
      nothing.copy(considered = 0) -> "No data files were found.",
      rewritten.copy(dryRun = true, millis = Some(150000)) ->
        ("Would rewrite 24 → 19 files, 1.2 GiB in about 2.5 min. A lookup on `carrier` would read about 5.6 of 19 " +
          "files, before: 24 of 24, best possible: 5.1. Nothing was changed.")
    ).foreach { case (metrics, summary) => assert(OptimizeSummary.of(metrics) == summary) }
  }

  test("files that stay in the folders are counted with both sides, and those of other folders are not counted") {
    val untouched = OptimizeSummary.of(rewritten.copy(considered = 30, untouched = 6))
    assert(untouched.contains("reads 5.6 of 25 files, before: 24 of 30"))
    val elsewhere = rewritten.copy(considered = 24, elsewhere = 7)
    assert(elsewhere.totalFiles == 26)
    val read = "reads 5.6 of 19 files in the rewritten folders, before: 24 of 24, best possible: 5.1."
    assert(OptimizeSummary.of(elsewhere).contains(read))
    assert(!OptimizeSummary.of(one.copy(elsewhere = 3)).contains("One file is left"))
  }

  test("a bound that all columns beat is not called the best possible, and packing has no layout") {
    def summary(columns: ColumnClustering*) = OptimizeSummary.of(rewritten.copy(clustering = columns))
    val beaten = ColumnClustering("a", Some(24), Some(2), 4.4)
    assert(!summary(beaten, beaten.copy(column = "b")).contains("best possible"))
    val other = beaten.copy(column = "b", meanFilesAfter = Some(9))
    assert(summary(beaten, other).contains("of 19 files, before: 24 of 24, best possible: 4.4."))
    val packed = OptimizeSummary.of(rewritten.copy(clustered = false, clustering = Nil))
    assert(packed.contains("These files have no layout, so few can be skipped."))
  }
}
