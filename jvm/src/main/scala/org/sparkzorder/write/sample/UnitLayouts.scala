package org.sparkzorder.write.sample

import org.sparkzorder.layout._
import org.sparkzorder.stats.KeyEncoding

/**
 * The curve of existing files that the rows of a unit join.
 *
 * @param unplaced ordinals of the input files that are not along the curve yet
 */
final case class JoinedCurve(placement: Placement, unplaced: Set[Int])

/**
 * Computes the layouts of all units from sampled rows.
 *
 * @param unitOfFile the unit of each input file
 * @param outputFiles files wanted of each unit
 * @param encodings of the key columns; none to keep rows in the order in which they arrived
 * @param weights of the key columns; of the bytes key where there is one
 * @param shape how rows are ordered and cut
 * @param bytesKey encoding of a key made of the bytes of all columns, if that alone places rows. Samples have it before
 *   the columns
 * @param stored whether the boundaries are stored with the files, where they may take only so much room
 * @param joined the units whose rows join files that are along a curve already
 * @param density set when ids are made of other distributions than the columns' own
 */
final case class UnitLayouts(
    unitOfFile: Array[Int],
    outputFiles: IndexedSeq[Int],
    encodings: Seq[KeyEncoding],
    weights: Seq[Double],
    shape: LayoutShape,
    bytesKey: Option[KeyEncoding] = None,
    stored: Boolean = false,
    joined: Map[Int, JoinedCurve] = Map.empty,
    density: Option[UnitLayouts.Density] = None
) {

  /**
   * @param samples drawn by the tasks of the sample job, in the order of their partitions
   * @param placing the samples that say where files end, if not the same
   */
  def of(samples: Seq[KeySample], placing: Option[Seq[KeySample]] = None): LayoutModel = {
    val rows = SampledRows.ofUnits(samples, unitOfFile)
    val placed = placing.fold(rows)(SampledRows.ofUnits(_, unitOfFile))
    val units = outputFiles.indices.map { u =>
      val ofUnit = rows.getOrElse(u, IndexedSeq.empty)
      val ends = placed.getOrElse(u, ofUnit)
      joined.get(u).fold(ownLayout(outputFiles(u), ofUnit, ends, None))(joinedLayout(outputFiles(u), ofUnit, ends, _))
    }
    new LayoutModel(units.toArray, unitOfFile)
  }

  /**
   * A layout with boundaries and a curve of its own.
   *
   * @param ends the rows that say where files end
   * @param drift why the rows do not join the curve of existing files, if there is one
   */
  private def ownLayout(
      files: Int,
      rows: IndexedSeq[SampledRow],
      ends: IndexedSeq[SampledRow],
      drift: Option[DistributionDrift]
  ): UnitLayout = {
    val sampled = SampledRows.distributions(rows, bytesKey.toSeq ++ encodings)
    val ofColumns = sampled.takeRight(encodings.length)
    val placing = if (bytesKey.isDefined) sampled.take(1) else density.fold(ofColumns)(_(ofColumns))
    val boundaries =
      if (bytesKey.isEmpty && stored) FrameBudget.fit(placing, FrameBudget.of(files), files) else placing
    val curve = if (encodings.isEmpty) BitPlan.ofSequence(Nil, 0) else shape.curveOf(weights, boundaries, files)
    val uncut = new UnitLayout(boundaries, curve, Cuts.none)
    val cuts = if (files == 1) Cuts.none else shape.cutsOf(positions(uncut, ends), files, curve)
    new UnitLayout(boundaries, curve, cuts, ofColumns, drift, None)
  }

  /** The layout of the existing files, or a new one when the new rows' values differ too much from these files'. */
  private def joinedLayout(
      files: Int,
      rows: IndexedSeq[SampledRow],
      ends: IndexedSeq[SampledRow],
      joined: JoinedCurve
  ): UnitLayout = {
    val frame = joined.placement.frame
    val uncut = new UnitLayout(frame.distributions, frame.curve, Cuts.none)
    val fresh = rows.filter(row => joined.unplaced(row.file))
    val drift = DistributionDrift.of(frame.distributions, fresh.map(row => uncut.places(row.values)))
    if (!drift.fits) ownLayout(files, rows, ends, Some(drift))
    else {
      val ofColumns = if (density.isEmpty) frame.distributions else SampledRows.distributions(rows, encodings)
      val cuts = joined.placement.cuts(positions(uncut, ends), shape)
      new UnitLayout(frame.distributions, frame.curve, cuts, ofColumns, Some(drift), Some(joined.placement))
    }
  }

  /** The rows' values of the curve with their ties, ascending. */
  private def positions(layout: UnitLayout, rows: IndexedSeq[SampledRow]): IndexedSeq[(Long, Long)] =
    rows.map(_.key(layout)).sorted
}

object UnitLayouts {

  /** Turns the columns' distributions in the sample into the distributions that ids are made of. */
  type Density = IndexedSeq[ValueDistribution] => IndexedSeq[ValueDistribution]
}
