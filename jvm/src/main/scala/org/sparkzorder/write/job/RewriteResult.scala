package org.sparkzorder.write.job

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.OpenUpload
import org.sparkzorder.compat._
import org.sparkzorder.layout.{CurveInterval, DistributionDrift, ValueDistribution}
import org.sparkzorder.stats.FileStats
import org.sparkzorder.write.check.{ReadBackRows, RowSum}

/**
 * A complete file in the staging folder.
 *
 * @param path ends in [[org.sparkzorder.commit.FileNames.StagedSuffix]]
 * @param unit ordinal of its rewrite unit
 * @param slot number among the files of all units: unit after unit, and along the curve within a
 *   unit. Files that were split only because they would have too many rows share a slot
 * @param interval the part of the curve that the file holds; None where there is no curve
 * @param rowHash sum of the hashes of the rows in the file; see [[RowSum]]
 * @param upload set on an object store, where it is no file yet; its path then has no suffix
 * @param readBack what was found in the file; set unless rows were not hashed
 * @param isColumnwise whether it was written column by column
 */
final case class StagedFile(
    path: Path,
    length: Long,
    modificationTime: Long,
    rows: Long,
    unit: Int,
    slot: Int,
    stats: FileStats,
    interval: Option[CurveInterval] = None,
    rowHash: Long = 0,
    upload: Option[OpenUpload] = None,
    readBack: Option[ReadBackRows] = None,
    isColumnwise: Boolean = false
)

/**
 * @param outputs in the order of their slots; files of the same slot in the order of the curve
 * @param samples for each unit, the sampled distribution of each key column; empty if nothing was sampled
 * @param sampledRows number of rows in the sample
 * @param drifts for each unit whose rows join existing files, how far the new rows differ from these files' boundaries
 * @param read for each unit, the rows that came out of the scan; empty when they were not hashed
 */
final case class RewriteResult(
    outputs: Seq[StagedFile],
    samples: IndexedSeq[IndexedSeq[ValueDistribution]],
    sampledRows: Long,
    sampleMillis: Long,
    writeMillis: Long,
    drifts: Seq[DistributionDrift] = Nil,
    read: IndexedSeq[RowSum] = IndexedSeq.empty
) {
  def rows: Long = outputs.map(_.rows).sum

  def readBack: Seq[ReadBackRows] = outputs.flatMap(_.readBack)

  def columnwise: Int = outputs.count(_.isColumnwise)

  /** For each unit, the rows that the writers got, with the hash of those in the files. */
  def written: IndexedSeq[RowSum] = {
    val ofUnit = outputs.groupMapReduce(_.unit)(o => RowSum(o.rows, o.rowHash))(_ + _)
    samples.indices.map(ofUnit.getOrElse(_, RowSum.none))
  }
}
