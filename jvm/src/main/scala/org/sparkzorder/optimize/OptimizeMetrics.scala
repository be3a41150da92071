package org.sparkzorder.optimize

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/** Sizes of some files, in bytes. */
final case class FileSizes(sizes: Seq[Long]) {
  def row: Row =
    if (sizes.isEmpty) Row(null, null, 0.0, 0L, 0L)
    else Row(sizes.min, sizes.max, sizes.sum.toDouble / sizes.size, sizes.size.toLong, sizes.sum)
}

/**
 * Mean number of files that a point lookup on a column touches: files whose bounds hold a value drawn from the data.
 * None before where nothing was sampled.
 */
final case class ColumnClustering(column: String, meanFilesBefore: Option[Double], meanFilesAfter: Option[Double])

/**
 * What OPTIMIZE did, in the fields of Delta's result where the meaning is the same.
 *
 * @param considered files of the partitions asked for
 * @param partitions folders rewritten
 * @param batches file groups, each rewritten by a job of its own
 * @param auto of ZORDER BY AUTO: what was chosen, and why
 * @param version of the table after the statement; 0 before the first OPTIMIZE
 * @param strategy what was chosen to be rewritten, and why
 * @param rowHash of all rows rewritten, whatever their order; for the history
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
    rowHash: Option[String] = None
) {
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
      clustering.map(c => Row(c.column, c.meanFilesBefore.orNull, c.meanFilesAfter.orNull)),
      strategy.row,
      auto.map(_.row).orNull
    )
  }

  /** For the history: Delta's names, values as text. */
  def history: Map[String, String] = Map(
    "numAddedFiles" -> added.size.toString,
    "numRemovedFiles" -> removed.size.toString,
    "numAddedBytes" -> added.sum.toString,
    "numRemovedBytes" -> removed.sum.toString
  ) ++ strategy.history ++ rowHash.map("rowHash" -> _) ++ (if (added.isEmpty) Map.empty[String, String]
                                                           else {
                                                             val sorted = added.sorted
                                                             def at(p: Double): String =
                                                               sorted(((sorted.size - 1) * p).round.toInt).toString
                                                             Map(
                                                               "minFileSize" -> at(0),
                                                               "p25FileSize" -> at(0.25),
                                                               "p50FileSize" -> at(0.5),
                                                               "p75FileSize" -> at(0.75),
                                                               "maxFileSize" -> at(1)
                                                             )
                                                           })
}

object OptimizeMetrics {

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
}
