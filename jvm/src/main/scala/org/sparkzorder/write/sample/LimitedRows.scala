package org.sparkzorder.write.sample

import org.sparkzorder.layout.{LayoutShape, RowLimit, UnitLayout}

/**
 * Foresees where [[RowLimit]] ends the files of a place, from the sampled rows of the place. Between
 * two of them the other rows are taken to be spread evenly along the curve.
 *
 * @param most rows of a file
 * @param rows of the unit
 * @param hasBorders whether rows are in the order of a curve
 */
private[write] final case class LimitedRows(most: Long, rows: Long, shape: LayoutShape, hasBorders: Boolean) {
  import LimitedRows._

  /**
   * The sampled rows of each file, and how many sampled rows' worth of rows it has.
   *
   * @param ofPlace its sampled rows in order, with their values of the curve
   * @param sampled rows of the unit
   */
  def files(
      layout: UnitLayout,
      ofPlace: IndexedSeq[(Long, SampledRow)],
      sampled: Int
  ): Seq[(Seq[SampledRow], Double)] = {
    // The most sampled rows of a file; where these are few, each stands for several rows.
    val mostSampled = most.toDouble * sampled / math.max(1L, rows)
    val each = math.min(MostForEach, math.max(1d, math.ceil(LeastInFile / mostSampled))).toInt
    val limit = new RowLimit(
      math.max(1L, math.round(mostSampled * each)),
      if (hasBorders) shape.coarseness(layout.curve) else identity
    )
    val files = IndexedSeq.newBuilder[(Seq[SampledRow], Double)]
    var members = Vector.empty[SampledRow]
    var size = 0
    for (i <- ofPlace.indices) {
      val (z, row) = ofPlace(i)
      val step = if (i + 1 < ofPlace.size) (ofPlace(i + 1)._1 - z) / each else 0L
      for (j <- 0 until each) {
        if (limit.beginsFile(if (hasBorders) z + j * step else 0L)) {
          files += members -> size.toDouble / each
          members = Vector.empty
          size = 0
        }
        if (members.isEmpty || j == 0) members :+= row
        size += 1
      }
    }
    files += members -> size.toDouble / each
    files.result()
  }
}

private[write] object LimitedRows {

  /** Rows that a file should have, so that borders are foreseen well. */
  private val LeastInFile = 64d

  /** Rows that a sampled row may stand for. */
  private val MostForEach = 1000d
}
