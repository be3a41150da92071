package org.sparkzorder.write

import org.sparkzorder.layout._

/** From sampled rows to the layouts of all units. */
object UnitLayouts {

  /**
   * @param samples drawn by the tasks of the sample job, in the order of their partitions
   * @param unitOfFile the unit of each input file
   * @param outputFiles files wanted of each unit
   * @param encodings of the key columns; none to keep rows in the order in which they arrived
   * @param weights of the key columns
   * @param shape how rows are ordered and cut
   */
  def of(
      samples: Seq[KeySample],
      unitOfFile: Array[Int],
      outputFiles: IndexedSeq[Int],
      encodings: Seq[KeyEncoding],
      weights: Seq[Double],
      shape: LayoutShape
  ): LayoutModel = {
    val rows = for { s <- samples.indices; i <- 0 until samples(s).rows } yield (s, i)
    val ofUnit = rows.groupBy { case (s, i) => unitOfFile(samples(s).files(i)) }
    val units = outputFiles.indices.map { u =>
      val own = ofUnit.getOrElse(u, IndexedSeq.empty)
      val distributions = encodings.indices.map { c =>
        val values = own.map { case (s, i) => samples(s).columns(c)(i) }
        val known = values.filter(_ != null)
        val nulls = values.length - known.length
        if (encodings(c).isLong) ValueDistribution.ofLongs(known.map(_.asInstanceOf[Long]).toArray, nulls)
        else ValueDistribution.ofBytes(known.map(_.asInstanceOf[Array[Byte]]).toArray, nulls)
      }
      val curve =
        if (encodings.isEmpty) BitPlan.ofSequence(Nil, 0) else shape.curveOf(weights, distributions, outputFiles(u))
      val uncut = new UnitLayout(distributions, curve, Cuts.none)
      if (outputFiles(u) == 1) uncut
      else {
        val keys = own.map { case (s, i) =>
          val z = if (encodings.isEmpty) samples(s).files(i).toLong else uncut.z(samples(s).key(i))
          (z, samples(s).ties(i))
        }
        new UnitLayout(distributions, curve, shape.cutsOf(keys.sorted, outputFiles(u), curve))
      }
    }
    new LayoutModel(units.toArray, unitOfFile)
  }
}
