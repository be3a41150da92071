package org.sparkzorder.optimize.report

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DoubleType, LongType, StructType}

import org.sparkzorder.compat._
import org.sparkzorder.indexing.{IndexedBounds, RecordedWorkload, TableIndex}
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.optimize.Input
import org.sparkzorder.optimize.auto.AutoLayout
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.table.TableSideFolder
import org.sparkzorder.workload.{ConstrainedColumn, SampledBounds, TouchEstimate}
import org.sparkzorder.write.sample.PredictedFile

/**
 * Which share of the bytes the recorded queries read, on average over these queries. It is about the
 * folders that the statement would rewrite.
 *
 * @param queries how many recorded queries it is about
 * @param before the share that they read of the files as they are, from 0 to 1
 * @param after the share that they would read of the new files
 */
private[sparkzorder] final case class WorkloadShares(queries: Long, before: Double, after: Double) {
  def row: Row = Row(queries, before, after)
}

private[sparkzorder] object WorkloadShares {
  val schema: StructType = new StructType()
    .add("queries", LongType, nullable = false)
    .add("bytesShareBefore", DoubleType, nullable = false)
    .add("bytesShareAfter", DoubleType, nullable = false)

  /**
   * None if no queries are recorded, or none that ask for columns that can have bounds. A column
   * outside of the layout is taken to be spread over all new files.
   *
   * @param predicted the files that the rewrites would write
   */
  def of(plan: OptimizePlan, predicted: Seq[PredictedFile]): Option[WorkloadShares] = {
    val table = plan.table
    val sketch = RecordedWorkload.of(table)
    val columns = sketch.columns.map(_._1).filter(AutoLayout.possibleKeys(table)).take(AutoLayout.MostCandidates)
    Option.when(columns.nonEmpty && plan.rewrites.nonEmpty) {
      val keys = AutoLayout.keyColumns(table, columns)
      val files = plan.inputs.map(_.status)
      val sampled = AutoLayout.sampled(table, files, keys, "sample for the recorded queries")
      new Estimate(plan, sampled, keys.map(k => ColumnKey(k.path, k.dataType)).toIndexedSeq)
        .of(new TouchEstimate(sampled, sketch), predicted)
    }
  }

  /** A file's bytes, and the bounds of each column that queries ask for. */
  private final case class File(bytes: Double, bounds: IndexedSeq[FileBounds])

  private final class Estimate(
      plan: OptimizePlan,
      sampled: IndexedSeq[ConstrainedColumn],
      columns: IndexedSeq[ColumnKey]
  ) {
    private val indexed = new IndexedBounds(TableIndex.of(plan.table, TableSideFolder.of(plan.table)), columns)
    private val keyOf = columns.map(c => plan.keys.indexWhere(_.path == c.path))
    private val bytesOfUnit = plan.rewrites.map(_.files.map(_.getLen).sum)

    def of(queries: TouchEstimate, predicted: Seq[PredictedFile]): WorkloadShares = {
      def share(files: Seq[File]): Double = {
        val all = files.toIndexedSeq
        queries.touched(boundsOf(all), all(_).bytes)
      }
      val rest = plan.rewrites.flatMap(_.rest).map(f => File(f.getLen.toDouble, ofIndex(f)))
      def written(bounds: PredictedFile => IndexedSeq[FileBounds]): Seq[File] =
        predicted.map(p => File(bytesOfUnit(p.unit) * p.share, keyOf.map(k => if (k < 0) Spread else bounds(p)(k))))
      val (all, half) = (share(rest ++ written(_.bounds)), share(rest ++ written(_.boundsOfHalf)))
      // As for the means: what a sample lacks halves when the sample doubles.
      val after = math.min(1d, all + math.max(0d, all - half))
      WorkloadShares(queries.queries.round, share(rest ++ plan.inputs.map(ofInput)), after)
    }

    private def ofIndex(file: FileStatus): IndexedSeq[FileBounds] = indexed.of(TableIndex.idOf(plan.table, file))

    /** The footer knows the keys, the index perhaps the other columns. */
    private def ofInput(input: Input): File = {
      val others = ofIndex(input.status)
      val bounds = columns.indices.map { c =>
        if (keyOf(c) < 0) others(c) else input.bounds(ColumnClustering.keyOf(plan, keyOf(c)))
      }
      File(input.status.getLen.toDouble, bounds)
    }

    private def boundsOf(files: IndexedSeq[File]): SampledBounds = {
      val ordinals = columns.indices.map(c => files.map(f => sampled(c).ordinals(f.bounds(c))))
      new SampledBounds(files.size, ordinals.map(_.map(_._1).toArray), ordinals.map(_.map(_._2).toArray))
    }
  }

  /** The bounds of a column that the layout does not place. */
  private val Spread = FileBounds.Unknown
}
