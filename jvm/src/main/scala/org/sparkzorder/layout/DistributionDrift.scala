package org.sparkzorder.layout

/**
 * How far new rows are from the boundaries that they are to be placed by.
 *
 * @param distance of Kolmogorov and Smirnov between the new values and those that the boundaries were made of, the
 *                 greatest of all columns; 0 when they are distributed alike, 1 when all are above or all below
 * @param beyond the share of new rows that lie before the least or behind the greatest boundary of some column: these have
 *               no place of their own
 */
final case class DistributionDrift(distance: Double, beyond: Double) {

  /** Whether the boundaries tell the rows apart. */
  def fits: Boolean = beyond <= DistributionDrift.MostBeyond
}

object DistributionDrift {

  /** Of the new rows, how many may lie beyond all boundaries. */
  val MostBeyond = 0.5

  /** @param places of each new row, one for each column */
  def of(distributions: IndexedSeq[ValueDistribution], places: IndexedSeq[IndexedSeq[Int]]): DistributionDrift =
    if (places.isEmpty) DistributionDrift(0, 0)
    else {
      val outside = places.count(row => row.indices.exists(c => isBeyond(distributions(c), row(c))))
      val distances = distributions.indices.map(c => distance(distributions(c), places.map(_(c)).sorted))
      DistributionDrift(distances.maxOption.getOrElse(0d), outside.toDouble / places.length)
    }

  private def isBeyond(d: ValueDistribution, place: Int): Boolean = place == 1 || (place > 0 && place == d.places - 1)

  private def distance(d: ValueDistribution, sorted: IndexedSeq[Int]): Double = {
    // Both shares at or below a place, at each place that a new row has, and right before it.
    def known(place: Int): Double =
      if (d.total == 0 || place < 0) 0d else (d.nulls + d.countBetween(0, place / 2)).toDouble / d.total
    var most = 0d
    var i = 0
    while (i < sorted.length) {
      val place = sorted(i)
      val before = i
      while (i < sorted.length && sorted(i) == place) i += 1
      most = math.max(most, math.abs(i.toDouble / sorted.length - known(place)))
      most = math.max(most, math.abs(before.toDouble / sorted.length - (if (place == 0) 0d else known(place - 1))))
    }
    most
  }
}
