package org.sparkzorder.write

import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

import org.sparkzorder.layout.{DistributionDrift, FileBounds, LayoutModel, UnitLayout, ValueDistribution}
import org.sparkzorder.stats.OrderedValue

/**
 * A file that a rewrite would write, as far as its sampled rows tell.
 *
 * @param unit ordinal of its rewrite unit
 * @param share of the unit's rows, from 0 to 1
 * @param bounds of each key column in the sampled rows
 * @param boundsOfHalf the same in every second one of them
 */
final case class PredictedFile(
    unit: Int,
    share: Double,
    bounds: IndexedSeq[FileBounds],
    boundsOfHalf: IndexedSeq[FileBounds]
)

/**
 * What a rewrite would write. It draws the same sample as the rewrite, so it has the same cuts.
 *
 * @param samples for each unit, the sampled distribution of each key column; empty if nothing was
 *   sampled
 * @param drifts as in [[RewriteResult]]
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
   * @param most rows that a file may have, for each unit as a share of its rows; 1 for any number
   */
  def of(
      model: LayoutModel,
      rows: Map[Int, IndexedSeq[SampledRow]],
      keys: IndexedSeq[DataType],
      most: Int => Double
  ): Seq[PredictedFile] =
    model.units.toIndexedSeq.zipWithIndex.flatMap { case (layout, unit) =>
      rows.get(unit) match {
        case None =>
          Seq.fill(layout.cuts.slots)(PredictedFile(unit, 1d / layout.cuts.slots, unknown(keys), unknown(keys)))
        case Some(some) => ofUnit(unit, layout, some, keys, most(unit))
      }
    }

  private def unknown(keys: IndexedSeq[DataType]): IndexedSeq[FileBounds] = keys.map(_ => FileBounds.Unknown)

  private def ofUnit(
      unit: Int,
      layout: UnitLayout,
      rows: IndexedSeq[SampledRow],
      keys: IndexedSeq[DataType],
      most: Double
  ): Seq[PredictedFile] = {
    val placed = rows.map(row => (slotOf(layout, row), row)).groupMap(_._1)(_._2)
    placed.toSeq.sortBy(_._1).flatMap { case (_, ofSlot) =>
      val share = ofSlot.size.toDouble / rows.size
      val parts = math.max(1, math.ceil(share / most - 1e-9).toInt)
      // Rows of one place that are too many for a file are cut in the order of their ties.
      ofSlot.sortBy(_.tie).grouped((ofSlot.size + parts - 1) / parts).map { part =>
        val half = part.zipWithIndex.collect { case (row, i) if i % 2 == 0 => row }
        PredictedFile(unit, share / parts, bounds(part, keys), bounds(half, keys))
      }
    }
  }

  private def slotOf(layout: UnitLayout, row: SampledRow): Int = {
    val columns = layout.distributions.length
    val z = if (columns == 0) row.file.toLong else layout.z(row.values.take(columns))
    layout.cuts.slot(z, row.tie)
  }

  private def bounds(rows: Seq[SampledRow], keys: IndexedSeq[DataType]): IndexedSeq[FileBounds] =
    keys.indices.map { k =>
      val values = rows.map(row => row.values(row.values.length - keys.length + k)).filter(_ != null)
      values.headOption match {
        case None          => FileBounds.AllNull
        case Some(_: Long) =>
          val longs = values.map(_.asInstanceOf[Long])
          // A lookup of a number reads every file that has NaN.
          if (isNaN(keys(k), longs.max)) FileBounds.Unknown else FileBounds.Longs(longs.min, longs.max)
        case Some(_) =>
          val bytes = values.map(_.asInstanceOf[Array[Byte]])
          val ordering: Ordering[Array[Byte]] = OrderedValue.compare(_, _)
          FileBounds.Bytes(bytes.min(ordering), bytes.max(ordering))
      }
    }

  private def isNaN(dataType: DataType, value: Long): Boolean = dataType match {
    case FloatType | DoubleType => OrderedValue.toDouble(value).isNaN
    case _                      => false
  }
}
