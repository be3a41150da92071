package org.sparkzorder.layout

/**
 * How rows of a unit are put in order and cut, apart from the columns.
 *
 * @param curve one of those of [[LayoutSpec]]
 * @param aligned files end where the curve leaves a cell, else they are equal
 * @param exact as many files as asked for, also where cells would have a few more or fewer
 */
final case class LayoutShape(curve: String, aligned: Boolean, exact: Boolean = false) {
  require(Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order).contains(curve), s"no curve '$curve'")

  /** Whether rows of a file are sorted by the columns themselves, as any curve over a single column has it. */
  def isSort(columns: Int): Boolean = columns == 1 || curve == LayoutSpec.Order

  /**
   * @param weights of the columns, positive and finite
   * @param distributions of the columns
   * @param files that the unit is cut into, about
   */
  def curveOf(weights: Seq[Double], distributions: Seq[ValueDistribution], files: Int): Curve = curve match {
    case LayoutSpec.Order   => BitShares.lexicographic(distributions)
    case LayoutSpec.Hilbert =>
      // Two bits more than the files need: that is how finely cuts are chosen.
      HilbertCurve.of(BitShares.plan(weights, distributions), 34 - Integer.numberOfLeadingZeros(files - 1))
    case _ => BitShares.plan(weights, distributions)
  }

  /**
   * @param keys of sampled rows in ascending order
   * @param by the curve that they are values of
   */
  def cutsOf(keys: IndexedSeq[(Long, Long)], files: Int, by: Curve): Cuts =
    if (!aligned) Cuts.equal(keys, files)
    else if (exact) ExactCuts.of(keys, files, coarseness(by))
    else AlignedCuts.of(keys, files, coarseness(by))

  /**
   * The larger the coarser, of the border between two values of the curve by their highest differing bit. In a sort, what
   * counts is the column that a border lies between values of: the first is the coarsest.
   */
  def coarseness(by: Curve): Long => Long = by match {
    case plan: BitPlan if isSort(plan.columns) =>
      val owners = plan.sequence.reverse
      bit => -owners(java.lang.Long.numberOfTrailingZeros(bit)).toLong
    case _ => identity
  }
}

object LayoutShape {

  /** Of packing: rows stay in the order in which they arrived, and files are equal. */
  val Packed: LayoutShape = LayoutShape(LayoutSpec.Order, aligned = false)

  def of(spec: LayoutSpec): LayoutShape = LayoutShape(spec.curve, spec.cuts == LayoutSpec.AlignedCuts)
}
