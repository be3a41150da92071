package org.sparkzorder.layout

/**
 * How the rows of a unit are ordered and cut, without the columns.
 *
 * @param curve one of the curves of [[LayoutSpec]]
 * @param aligned whether files end where the curve leaves a cell; else files have equal sizes
 * @param exact whether there are exactly as many files as asked for; else cells may give a few more or fewer
 */
final case class LayoutShape(curve: String, aligned: Boolean, exact: Boolean = false) {
  require(Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order).contains(curve), s"no curve '$curve'")

  /** Whether rows of a file are sorted by the columns themselves. This is so for any curve over a single column. */
  def isSort(columns: Int): Boolean = columns == 1 || curve == LayoutSpec.Order

  /**
   * @param weights one for each column, positive and finite
   * @param distributions one for each column
   * @param files about how many files the unit is cut into
   */
  def curveOf(weights: Seq[Double], distributions: Seq[ValueDistribution], files: Int): Curve = curve match {
    case LayoutSpec.Order   => BitShares.lexicographic(distributions)
    case LayoutSpec.Hilbert =>
      // Two bits more than the number of files needs, since cuts are chosen that finely.
      HilbertCurve.of(BitShares.plan(weights, distributions), 34 - Integer.numberOfLeadingZeros(files - 1))
    case _ => BitShares.plan(weights, distributions)
  }

  /**
   * @param keys keys of sampled rows, ascending
   * @param by the curve of these keys
   */
  def cutsOf(keys: IndexedSeq[(Long, Long)], files: Int, by: Curve): Cuts =
    if (!aligned) Cuts.equal(keys, files)
    else if (exact) ExactCuts.of(keys, files, coarseness(by))
    else AlignedCuts.of(keys, files, coarseness(by))

  /**
   * How coarse the border between two values of the curve is, by their highest differing bit. A
   * larger number is coarser. In a sort all borders between values of one column are equally
   * coarse, and those of the first column are the coarsest.
   */
  def coarseness(by: Curve): Long => Long = by match {
    case plan: BitPlan if isSort(plan.columns) =>
      val owners = plan.sequence.reverse
      bit => -owners(java.lang.Long.numberOfTrailingZeros(bit)).toLong
    case _ => identity
  }
}

object LayoutShape {

  /** The shape of packing: rows stay in the order in which they arrive, and files have equal sizes. */
  val Packed: LayoutShape = LayoutShape(LayoutSpec.Order, aligned = false)

  def of(spec: LayoutSpec): LayoutShape = LayoutShape(spec.curve, spec.cuts == LayoutSpec.AlignedCuts)
}
