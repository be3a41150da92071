package org.sparkzorder.write.job

import org.sparkzorder.compat._
import org.sparkzorder.layout._
import org.sparkzorder.write.check.{ReadBackRows, RowSum}

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
