package org.sparkzorder.write.sample

import org.apache.spark.sql.types.DataType

import org.sparkzorder.compat._
import org.sparkzorder.layout._
import org.sparkzorder.stats.OrderedValue

/**
 * A file that a rewrite would write, as far as its sampled rows tell.
 *
 * @param unit ordinal of its rewrite unit
 * @param share of the unit's rows, from 0 to 1
 * @param bounds of each key column in the sampled rows
 * @param boundsOfHalf the same in every second one of them
 * @param halves bounds of its two halves along the curve, fewer if there is but one row
 */
final case class PredictedFile(
    unit: Int,
    share: Double,
    bounds: IndexedSeq[FileBounds],
    boundsOfHalf: IndexedSeq[FileBounds],
    halves: Seq[IndexedSeq[FileBounds]]
)

/**
 * What a rewrite would write. It draws the same sample as the rewrite, so it has the same cuts.
 *
 * @param samples for each unit, the sampled distribution of each key column; empty if nothing was sampled
 * @param drifts as in [[org.sparkzorder.write.job.RewriteResult]]
 */
final case class RewritePrediction(
    files: Seq[PredictedFile],
    samples: IndexedSeq[IndexedSeq[ValueDistribution]],
    drifts: Seq[DistributionDrift]
)

private[write] object PredictedFiles {

  /**
   * The files of a layout, from the sampled rows that it was made from.
   *
   * @param rows sampled rows by unit
   * @param keys types of the key columns; empty if rows keep the order of their arrival
   * @param limits for each unit, how its files are limited; None for any number of rows
   */
  def of(
      model: LayoutModel,
      rows: Map[Int, IndexedSeq[SampledRow]],
      keys: IndexedSeq[DataType],
      limits: Int => Option[LimitedRows]
  ): Seq[PredictedFile] =
    model.units.toIndexedSeq.zipWithIndex.flatMap { case (layout, unit) =>
      rows.get(unit) match {
        case None =>
          val unknown = keys.map(_ => FileBounds.Unknown)
          Seq.fill(layout.cuts.slots)(
            PredictedFile(unit, 1d / layout.cuts.slots, unknown, unknown, Seq(unknown, unknown))
          )
        case Some(some) => ofUnit(unit, layout, some, keys, limits(unit))
      }
    }

  private def ofUnit(
      unit: Int,
      layout: UnitLayout,
      rows: IndexedSeq[SampledRow],
      keys: IndexedSeq[DataType],
      limit: Option[LimitedRows]
  ): Seq[PredictedFile] = {
    val placed = rows.map { row =>
      val (z, tie) = row.key(layout); PlacedRow(layout.cuts.slot(z, tie), z, row)
    }
    placed.groupBy(_.slot).toSeq.sortBy(_._1).flatMap { case (_, ofSlot) =>
      val files = limit match {
        case None      => Seq(ofSlot.map(_.row) -> ofSlot.size.toDouble)
        case Some(own) => own.files(layout, ofSlot.sortBy(p => (p.z, p.row.tie)).map(p => (p.z, p.row)), rows.size)
      }
      files.map { case (part, share) =>
        val half = part.zipWithIndex.collect { case (row, i) if i % 2 == 0 => row }
        val (first, last) = part.sortBy(_.key(layout)).splitAt(part.size / 2)
        val halves = Seq(first, last).filter(_.nonEmpty).map(bounds(_, keys))
        PredictedFile(unit, share / rows.size, bounds(part, keys), bounds(half, keys), halves)
      }
    }
  }

  private final case class PlacedRow(slot: Int, z: Long, row: SampledRow)

  private def bounds(rows: Seq[SampledRow], keys: IndexedSeq[DataType]): IndexedSeq[FileBounds] =
    keys.indices.map { k =>
      val values = rows.map(row => row.values(row.values.length - keys.length + k)).filter(_ != null)
      values.headOption match {
        case None          => FileBounds.AllNull
        case Some(_: Long) => ofLongs(values.map(_.asInstanceOf[Long]), OrderedValue.hasNaN(keys(k)))
        case Some(_)       =>
          val bytes = values.map(_.asInstanceOf[Array[Byte]])
          val ordering: Ordering[Array[Byte]] = OrderedValue.compare(_, _)
          FileBounds.Bytes(bytes.min(ordering), bytes.max(ordering))
      }
    }

  private def ofLongs(values: Seq[Long], floating: Boolean): FileBounds = {
    val (nans, numbers) = if (floating) values.partition(OrderedValue.toDouble(_).isNaN) else (Nil, values)
    val bounds = Option.when(numbers.nonEmpty)(FileBounds.Longs(numbers.min, numbers.max))
    if (nans.nonEmpty) FileBounds.LongsOrNaN(bounds, nans.size.toDouble / values.size) else bounds.get
  }
}

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
