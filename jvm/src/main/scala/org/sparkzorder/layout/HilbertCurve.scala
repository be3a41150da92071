package org.sparkzorder.layout

/**
 * The Hilbert curve over any number of columns, in the orientation of John Skilling, "Programming the Hilbert curve",
 * AIP Conference Proceedings 707 (2004), which is also that of the Python package hilbertcurve.
 *
 * It needs as many bits of each column. Bits by which columns are ahead of others, by weight or because others have few
 * values, come first: they cut the space into boxes by Z-order, and a Hilbert curve runs through each box.
 *
 * @param lead the leading bits
 * @param members columns that the curve itself runs over
 * @param levels bits of each of them in the curve itself
 */
final class HilbertCurve(val lead: BitPlan, val members: Array[Int], val levels: Int) extends Curve {
  private val n = members.length
  private val curveBits = n * levels
  require(
    lead.totalBits + curveBits <= BitPlan.MaxTotalBits,
    s"${lead.totalBits} leading bits and $n columns of $levels bits are over ${BitPlan.MaxTotalBits} bits"
  )

  private val memberOf = Array.tabulate(lead.columns)(c => members.indexOf(c))

  override def columns: Int = lead.columns

  override def totalBits: Int = lead.totalBits + curveBits

  override def bits(column: Int): Int = lead.bits(column) + (if (memberOf(column) >= 0) levels else 0)

  /** The leading bits at their place, then the rest of the id in the field of its column. */
  override def spread(column: Int, id: Long): Long = {
    val member = memberOf(column)
    if (member < 0) lead.spread(column, id) << curveBits
    else (lead.spread(column, id >>> levels) << curveBits) | ((id & mask(levels)) << (member * levels))
  }

  override def value(spread: Long): Long =
    if (curveBits == 0) spread
    else {
      val axes = new Array[Long](n)
      var i = 0
      while (i < n) {
        axes(i) = (spread >>> (i * levels)) & mask(levels)
        i += 1
      }
      (spread & ~mask(curveBits)) | HilbertCurve.value(axes, levels)
    }

  private def mask(bits: Int): Long = (1L << bits) - 1
}

object HilbertCurve {

  /**
   * The curve over columns that are alike: the place of a point on it.
   *
   * @param axes one id for each column, from 0 until 2^bits; overwritten
   * @param bits of each id; bits times columns is at most 63
   */
  def value(axes: Array[Long], bits: Int): Long = {
    val n = axes.length
    var q = 1L << (bits - 1)
    while (q > 1L) {
      val p = q - 1
      var i = 0
      while (i < n) {
        if ((axes(i) & q) != 0) axes(0) ^= p
        else {
          val t = (axes(0) ^ axes(i)) & p
          axes(0) ^= t
          axes(i) ^= t
        }
        i += 1
      }
      q >>= 1
    }
    var i = 1
    while (i < n) {
      axes(i) ^= axes(i - 1)
      i += 1
    }
    var t = 0L
    q = 1L << (bits - 1)
    while (q > 1L) {
      if ((axes(n - 1) & q) != 0) t ^= q - 1
      q >>= 1
    }
    var h = 0L
    var b = bits - 1
    while (b >= 0) {
      i = 0
      while (i < n) {
        h = (h << 1) | (((axes(i) ^ t) >>> b) & 1L)
        i += 1
      }
      b -= 1
    }
    h
  }

  /**
   * The Hilbert curve with the bits of a plan.
   *
   * @param plan of Z-order
   * @param depth leading bits of the plan that matter for cuts. A column that has spent its bits by then leads; one that
   *   has not is a member, so is one that has spent none.
   */
  def of(plan: BitPlan, depth: Int): Curve = {
    val sequence = plan.sequence
    val cut = sequence.take(depth)
    def spent(c: Int) = cut.count(_ == c) == plan.bits(c)
    val members = (0 until plan.columns).filter(c => plan.bits(c) > 0 && !spent(c)).toArray
    if (members.length < 2) plan
    else {
      // By how many bits each member is ahead when the last one gets its first.
      val turn = members.map(c => sequence.indexOf(c)).max
      val ahead = members.map(c => c -> (sequence.take(turn + 1).count(_ == c) - 1)).toMap
      val taken = scala.collection.mutable.Map.empty[Int, Int].withDefaultValue(0)
      val lead = sequence.take(math.max(depth, turn + 1)).filter { c =>
        taken(c) += 1
        ahead.get(c).forall(taken(c) <= _)
      }
      val room = (BitPlan.MaxTotalBits - lead.length) / members.length
      val levels = math.min(room, members.map(c => plan.bits(c) - ahead(c)).min)
      if (levels == 0) plan else new HilbertCurve(BitPlan.ofSequence(lead, plan.columns), members, levels)
    }
  }
}
