package org.sparkzorder.write.sample

import org.sparkzorder.layout.{UnitLayout, ValueDistribution}
import org.sparkzorder.stats.KeyEncoding

/** Row number `row` of a sample. */
private[write] final case class SampledRow(sample: KeySample, row: Int) {
  def file: Int = sample.files(row)
  def tie: Long = sample.ties(row)

  /** The encoded values that rows are placed by, then those of the key columns. */
  def values: Seq[Any] = sample.key(row)
  def value(c: Int): Any = sample.columns(c)(row)

  /** Its key in a layout, see [[org.sparkzorder.layout.Cuts]]. Without columns, rows keep the order of their files. */
  def key(layout: UnitLayout): (Long, Long) = {
    val columns = layout.distributions.length
    (if (columns == 0) file.toLong else layout.z(values.take(columns)), tie)
  }
}

private[write] object SampledRows {

  /** The distribution of each of the sampled values. */
  def distributions(rows: IndexedSeq[SampledRow], encodings: Seq[KeyEncoding]): IndexedSeq[ValueDistribution] =
    encodings.indices.map { c =>
      val known = rows.map(_.value(c)).filter(_ != null)
      val nulls = rows.length - known.length
      if (encodings(c).isLong) ValueDistribution.ofLongs(known.map(_.asInstanceOf[Long]).toArray, nulls)
      else ValueDistribution.ofBytes(known.map(_.asInstanceOf[Array[Byte]]).toArray, nulls)
    }

  /** The rows of each unit; a unit without rows is not in the map. */
  def ofUnits(samples: Seq[KeySample], unitOfFile: Array[Int]): Map[Int, IndexedSeq[SampledRow]] = {
    val all = for { sample <- samples.toIndexedSeq; row <- 0 until sample.rows } yield SampledRow(sample, row)
    all.groupBy(row => unitOfFile(row.file))
  }
}
