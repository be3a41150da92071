package org.sparkzorder.write

import org.sparkzorder.layout._
import org.sparkzorder.stats.KeyEncoding

/** From sampled rows to the layouts of all units. */
object UnitLayouts {

  /** From the columns' distributions in the sample to those that ids are made of. */
  type Density = IndexedSeq[ValueDistribution] => IndexedSeq[ValueDistribution]

  /**
   * @param samples drawn by the tasks of the sample job, in the order of their partitions
   * @param unitOfFile the unit of each input file
   * @param outputFiles files wanted of each unit
   * @param encodings of the key columns; none to keep rows in the order in which they arrived
   * @param weights of the key columns
   * @param shape how rows are ordered and cut
   * @param made of a key made of the columns, by which alone rows are placed; sampled before the columns
   * @param kept what rows are placed by is stored with the files, so it may have so much room
   * @param placements of the units that come to files already along a curve, with the files of which no row has a place
   * @param density what ids are made of, if not of the columns as they are
   */
  def of(
      samples: Seq[KeySample],
      unitOfFile: Array[Int],
      outputFiles: IndexedSeq[Int],
      encodings: Seq[KeyEncoding],
      weights: Seq[Double],
      shape: LayoutShape,
      made: Option[KeyEncoding] = None,
      kept: Boolean = false,
      placements: Map[Int, (Placement, Set[Int])] = Map.empty,
      density: Option[Density] = None
  ): LayoutModel = {
    val rows = for { s <- samples.indices; i <- 0 until samples(s).rows } yield (s, i)
    val ofUnit = rows.groupBy { case (s, i) => unitOfFile(samples(s).files(i)) }
    val units = outputFiles.indices.map { u =>
      val own = ofUnit.getOrElse(u, IndexedSeq.empty)
      def keys(uncut: UnitLayout) = own.map { case (s, i) =>
        val key = samples(s).key(i).take(uncut.distributions.length)
        val z = if (encodings.isEmpty) samples(s).files(i).toLong else uncut.z(key)
        (z, samples(s).ties(i))
      }.sorted
      def laidOut(drift: Option[DistributionDrift]) = {
        val sampled = distributionsOf(samples, own, made.toSeq ++ encodings)
        val columns = sampled.takeRight(encodings.length)
        val placing = if (made.isDefined) sampled.take(1) else density.fold(columns)(_(columns))
        val distributions =
          if (made.isEmpty && kept) FrameBudget.fit(placing, FrameBudget.of(outputFiles(u)), outputFiles(u))
          else placing
        val curve =
          if (encodings.isEmpty) BitPlan.ofSequence(Nil, 0) else shape.curveOf(weights, distributions, outputFiles(u))
        val uncut = new UnitLayout(distributions, curve, Cuts.none)
        val cuts = if (outputFiles(u) == 1) Cuts.none else shape.cutsOf(keys(uncut), outputFiles(u), curve)
        new UnitLayout(distributions, curve, cuts, columns, drift, None)
      }
      placements.get(u).fold(laidOut(None)) { case (placement, unplaced) =>
        val known = placement.frame.distributions
        val uncut = new UnitLayout(known, placement.frame.curve, Cuts.none)
        val fresh = own.filter { case (s, i) => unplaced(samples(s).files(i)) }
        val drift = DistributionDrift.of(known, fresh.map { case (s, i) => uncut.places(samples(s).key(i)) })
        if (drift.fits) {
          val inData = if (density.isEmpty) known else distributionsOf(samples, own, encodings)
          new UnitLayout(known, uncut.curve, placement.cuts(keys(uncut), shape), inData, Some(drift), Some(placement))
        } else laidOut(Some(drift))
      }
    }
    new LayoutModel(units.toArray, unitOfFile)
  }

  private def distributionsOf(
      samples: Seq[KeySample],
      rows: IndexedSeq[(Int, Int)],
      encodings: Seq[KeyEncoding]
  ): IndexedSeq[ValueDistribution] = encodings.indices.map { c =>
    val values = rows.map { case (s, i) => samples(s).columns(c)(i) }
    val known = values.filter(_ != null)
    val nulls = values.length - known.length
    if (encodings(c).isLong) ValueDistribution.ofLongs(known.map(_.asInstanceOf[Long]).toArray, nulls)
    else ValueDistribution.ofBytes(known.map(_.asInstanceOf[Array[Byte]]).toArray, nulls)
  }
}
