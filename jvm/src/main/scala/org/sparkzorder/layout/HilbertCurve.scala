package org.sparkzorder.layout

/**
 * The Hilbert curve over any number of columns, in the orientation of John Skilling, "Programming the Hilbert curve",
 * AIP Conference Proceedings 707 (2004), which is also that of the Python package hilbertcurve.
 *
 * A Hilbert curve needs equally many bits of each column. A column may have more bits than others, because of its
 * weight or because the others have few values. These extra bits come first: they cut the space into boxes as Z-order
 * does, and a Hilbert curve runs through each box.
 *
 * @param lead the leading bits, which cut the space into boxes
 * @param members the columns that the curve inside of a box runs over
 * @param levels the bits of each member inside of a box
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

  /** The leading bits where the plan has them, then the rest of the id in a field of its column. */
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
   * The position of a point on the Hilbert curve.
   *
   * @param axes one id for each column, from 0 until 2^bits; the array is overwritten
   * @param bits of each id; bits times columns is at most 63
   */
  def value(axes: Array[Long], bits: Int): Long = {
    val n = axes.length
    // Skilling's "inverse undo": undoes the turns and reflections of the curve, from the highest bit on.
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
    // The Gray code across the columns.
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
    // The value takes one bit of each column in turn.
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
   * @param plan the bits in Z-order
   * @param depth how many leading bits of the plan matter for cuts. A column whose bits are all
   *   among these only has leading bits. Each other column that has bits is a member.
   */
  def of(plan: BitPlan, depth: Int): Curve = {
    val sequence = plan.sequence
    val cut = sequence.take(depth)
    def spent(c: Int) = cut.count(_ == c) == plan.bits(c)
    val members = (0 until plan.columns).filter(c => plan.bits(c) > 0 && !spent(c)).toArray
    if (members.length < 2) plan
    else {
      // By how many bits each member is ahead when the last member gets its first bit.
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
