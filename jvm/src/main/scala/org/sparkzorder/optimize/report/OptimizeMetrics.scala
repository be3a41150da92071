package org.sparkzorder.optimize.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

import org.sparkzorder.optimize.auto.AutoReport
import org.sparkzorder.optimize.options.TargetFileSize
import org.sparkzorder.optimize.plan.OptimizePlan

final case class FileSizes(sizes: Seq[Long]) {
  def row: Row =
    if (sizes.isEmpty) Row(null, null, 0.0, 0L, 0L)
    else Row(sizes.min, sizes.max, sizes.sum.toDouble / sizes.size, sizes.size.toLong, sizes.sum)
}

/**
 * What OPTIMIZE did. Fields that mean the same as in Delta's result have Delta's names.
 *
 * @param added sizes of the new files
 * @param removed sizes of the files that were replaced
 * @param considered how many files the partitions have that the statement is about
 * @param partitions how many folders were rewritten
 * @param batches how many file groups were rewritten, each by a job of its own
 * @param clustered whether the files were laid out by key columns; otherwise they were packed
 * @param version of the table after the statement; 0 before the first OPTIMIZE
 * @param strategy what was rewritten, and why
 * @param auto what ZORDER BY AUTO chose, and why
 * @param target the size that new files should have; None where their number was asked for
 * @param untouched how many files stay in the rewritten folders
 * @param elsewhere how many files the table has outside of the rewritten folders
 * @param millis how long the statement took, or is likely to take; None where it is not known
 * @param workload what recorded queries read; only of a dry run
 * @param dryRun whether nothing was done: then the other values are what would be
 * @param readBack how many new files were read back before they were published, and how long this
 *   took in all tasks; for the history
 * @param columnwise how many new files were written column by column; for the history
 * @param forgotten filters that were remembered, and had found no row in some replaced files
 * @param rowHash a hash of all rewritten rows that does not depend on their order; for the history
 */
final case class OptimizeMetrics(
    added: Seq[Long],
    removed: Seq[Long],
    considered: Long,
    partitions: Long,
    batches: Long,
    clustered: Boolean,
    version: Long,
    clustering: Seq[ColumnClustering],
    strategy: OptimizeStrategy,
    auto: Option[AutoReport],
    target: Option[TargetFileSize],
    untouched: Long = 0,
    elsewhere: Long = 0,
    millis: Option[Long] = None,
    workload: Option[WorkloadShares] = None,
    dryRun: Boolean = false,
    forgotten: Int = 0,
    rowHash: Option[String] = None,
    readBack: Option[ReadBackCost] = None,
    columnwise: Option[Int] = None
) {

  def totalFiles: Long = elsewhere + untouched + added.size

  def row: Row = {
    val inputs = Row(removed.size.toLong, removed.sum)
    val zOrder =
      if (!clustered) null else Row("all", Row(0L, 0L), inputs, 0L, inputs, partitions, null)
    Row(
      added.size.toLong,
      removed.size.toLong,
      FileSizes(added).row,
      FileSizes(removed).row,
      partitions,
      zOrder,
      batches,
      considered,
      considered - removed.size,
      version,
      clustering.map(c => Row(c.column, c.meanFilesBefore.orNull, c.meanFilesAfter.orNull, c.bound)),
      strategy.row,
      auto.map(_.row).orNull,
      target.map(t => Row(t.bytes, t.reason)).orNull,
      millis.map(_ / 1000d).orNull,
      dryRun,
      workload.map(_.row).orNull
    )
  }

  /** The metrics that the history keeps, with Delta's names. */
  def history: Map[String, String] = Map(
    "numAddedFiles" -> added.size.toString,
    "numRemovedFiles" -> removed.size.toString,
    "numAddedBytes" -> added.sum.toString,
    "numRemovedBytes" -> removed.sum.toString
  ) ++ strategy.history ++ millis.map("rewriteMillis" -> _.toString) ++ rowHash.map("rowHash" -> _) ++
    columnwise.map("numColumnwiseFiles" -> _.toString) ++ readBack.fold(Map.empty[String, String])(_.history) ++
    quantilesOfSizes

  private def quantilesOfSizes: Map[String, String] =
    if (added.isEmpty) Map.empty
    else {
      val sorted = added.sorted
      def at(p: Double): String = sorted(((sorted.size - 1) * p).round.toInt).toString
      Map(
        "minFileSize" -> at(0),
        "p25FileSize" -> at(0.25),
        "p50FileSize" -> at(0.5),
        "p75FileSize" -> at(0.75),
        "maxFileSize" -> at(1)
      )
    }
}

/** @param millis of all tasks together */
final case class ReadBackCost(files: Int, millis: Long) {
  def history: Map[String, String] = Map("numReadBackFiles" -> files.toString, "readBackMillis" -> millis.toString)
}

object OptimizeMetrics {
  private[sparkzorder] def of(
      plan: OptimizePlan,
      added: Seq[Long],
      batches: Int,
      strategy: OptimizeStrategy,
      clustering: Seq[ColumnClustering] = Nil
  ): OptimizeMetrics = OptimizeMetrics(
    added,
    removed = plan.inputs.map(_.status.getLen),
    considered = plan.considered,
    partitions = plan.rewrites.map(_.folder.path).distinct.size.toLong,
    batches = batches.toLong,
    clustered = plan.keys.nonEmpty && plan.rewrites.nonEmpty,
    version = plan.version,
    clustering,
    strategy,
    auto = plan.auto,
    target = plan.options.writtenSize,
    untouched = plan.filesBeside,
    elsewhere = if (plan.rewrites.isEmpty) 0L else plan.filesElsewhere
  )

  private val fileSizes = new StructType()
    .add("min", LongType)
    .add("max", LongType)
    .add("avg", DoubleType, nullable = false)
    .add("totalFiles", LongType, nullable = false)
    .add("totalSize", LongType, nullable = false)

  private val numAndSize =
    new StructType().add("num", LongType, nullable = false).add("size", LongType, nullable = false)

  private val zOrderStats = new StructType()
    .add("strategyName", StringType)
    .add("inputCubeFiles", numAndSize)
    .add("inputOtherFiles", numAndSize)
    .add("inputNumCubes", LongType, nullable = false)
    .add("mergedFiles", numAndSize)
    .add("numOutputCubes", LongType, nullable = false)
    .add("mergedNumCubes", LongType)

  private val clustering = new StructType()
    .add("column", StringType, nullable = false)
    .add("meanFilesBefore", DoubleType)
    .add("meanFilesAfter", DoubleType)
    .add("boundFiles", DoubleType, nullable = false)

  private val target = new StructType()
    .add("bytes", LongType, nullable = false)
    .add("reason", StringType, nullable = false)

  val schema: StructType = new StructType()
    .add("numFilesAdded", LongType, nullable = false)
    .add("numFilesRemoved", LongType, nullable = false)
    .add("filesAdded", fileSizes, nullable = false)
    .add("filesRemoved", fileSizes, nullable = false)
    .add("partitionsOptimized", LongType, nullable = false)
    .add("zOrderStats", zOrderStats)
    .add("numBatches", LongType, nullable = false)
    .add("totalConsideredFiles", LongType, nullable = false)
    .add("totalFilesSkipped", LongType, nullable = false)
    .add("version", LongType, nullable = false)
    .add("clustering", ArrayType(clustering, containsNull = false), nullable = false)
    .add("strategy", OptimizeStrategy.schema, nullable = false)
    .add("auto", AutoReport.schema)
    .add("targetFileSize", target)
    .add("seconds", DoubleType)
    .add("dryRun", BooleanType, nullable = false)
    .add("workload", WorkloadShares.schema)
}
