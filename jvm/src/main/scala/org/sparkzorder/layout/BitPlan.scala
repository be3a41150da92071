package org.sparkzorder.layout

/**
 * A space-filling curve over points with one id for each column. All points whose values share a prefix of bits are a
 * box.
 *
 * The value of a point is `value(spread(0, id0) | spread(1, id1) | ..)`. So the part that depends on one column can be
 * computed once for each of its ids.
 */
trait Curve extends Serializable {

  /** The number of columns. A column may have no bits. */
  def columns: Int

  /** The bits of the curve's value, at most [[BitPlan.MaxTotalBits]]. */
  def totalBits: Int

  def bits(column: Int): Int

  /**
   * The part that a column's id contributes. Parts of different columns have no bit in common.
   *
   * @param id from 0 until 2^bits(column)
   */
  def spread(column: Int, id: Long): Long

  /** The value of the curve, from 0 until 2^totalBits, for the ORed parts of all columns. */
  def value(spread: Long): Long
}

/**
 * The column that each bit of the curve's value belongs to, from the most significant bit on.
 *
 * A column starts with the width 1, and each bit halves its width. The next bit goes to the column with the largest
 * weight times width, or to the earlier one of two equal columns. This minimises the weighted files touched for N files
 * and D columns: in bits, log2(1/width) = (log2 N)/D + log2 w - mean(log2 w).
 *
 * For example, two columns have the weights 4 and 1. The products are 4 and 1, then 2 and 1, then 1 and 1, then 1/2 and
 * 1. So the bits belong to the columns 0, 0, 0, 1, and then to each in turn.
 *
 * @param owners ordinal of the column that owns each bit
 * @param columns number of columns; one may own no bit at all
 */
final class BitPlan private (private val owners: Array[Int], override val columns: Int) extends Curve {

  override def totalBits: Int = owners.length

  def sequence: IndexedSeq[Int] = owners.toIndexedSeq

  private val widths: Array[Int] = Array.tabulate(columns)(c => owners.count(_ == c))

  override def bits(column: Int): Int = widths(column)

  /**
   * The bits of a column's id, put at the column's bits of the curve's value; other bits are zero. Monotone in the id.
   *
   * @param id from 0 until 2^bits(column)
   */
  override def spread(column: Int, id: Long): Long = {
    var left = bits(column)
    require(id >= 0 && (left >= 63 || id < (1L << left)), s"id $id does not fit the $left bits of column $column")
    var z = 0L
    var i = 0
    while (i < owners.length) {
      z <<= 1
      if (owners(i) == column) {
        left -= 1
        z |= (id >>> left) & 1L
      }
      i += 1
    }
    z
  }

  override def value(spread: Long): Long = spread

  def extract(column: Int, z: Long): Long = {
    var id = 0L
    var i = 0
    while (i < owners.length) {
      if (owners(i) == column) id = (id << 1) | ((z >>> (owners.length - 1 - i)) & 1L)
      i += 1
    }
    id
  }
}

object BitPlan {

  /** The most bits of one of several columns: they give a million steps. */
  val MaxBitsPerColumn = 20

  /** The most bits of a curve's value: it is a non-negative long, and so is the end behind the last interval. */
  val MaxTotalBits = 62

  /**
   * @param weights one for each column, positive and finite
   * @param maxBitsPerColumn the most bits of a column
   * @param totalBits the bits of the curve's value; it has fewer if each column has its most bits
   */
  def apply(weights: Seq[Double], maxBitsPerColumn: Int = MaxBitsPerColumn, totalBits: Int = MaxTotalBits): BitPlan = {
    require(totalBits >= 0 && totalBits <= MaxTotalBits, s"totalBits must be from 0 to $MaxTotalBits, got $totalBits")
    require(
      maxBitsPerColumn >= 1 && maxBitsPerColumn <= MaxTotalBits,
      s"maxBitsPerColumn must be from 1 to $MaxTotalBits, got $maxBitsPerColumn"
    )
    weights.foreach(w => require(w > 0 && !w.isInfinite, s"a weight must be positive and finite, got $w"))
    val n = weights.length
    val wanted = weights.toArray
    val taken = new Array[Int](n)
    val total = math.min(totalBits.toLong, n.toLong * maxBitsPerColumn).toInt
    val owners = Array.fill(total) {
      var best = -1
      var i = 0
      while (i < n) {
        if (taken(i) < maxBitsPerColumn && (best < 0 || wanted(i) > wanted(best))) best = i
        i += 1
      }
      taken(best) += 1
      wanted(best) /= 2
      best
    }
    new BitPlan(owners, n)
  }

  def ofSequence(owners: Seq[Int], columns: Int): BitPlan = {
    require(owners.length <= MaxTotalBits, s"${owners.length} bits are over $MaxTotalBits")
    owners.foreach(c => require(c >= 0 && c < columns, s"column $c of $columns"))
    new BitPlan(owners.toArray, columns)
  }

  /**
   * The plan for a table's key columns. A single one gets all bits, so that files can be cut between any two values.
   */
  def forKeys(weights: Seq[Double]): BitPlan =
    apply(weights, if (weights.length == 1) MaxTotalBits else MaxBitsPerColumn)
}

/** Z-order over ids: the value of the curve takes its bits from the columns' ids in the order of a [[BitPlan]]. */
object ZCurve {

  /**
   * The value of a point, from 0 until 2^totalBits, monotone in each id.
   *
   * For two columns of 8 bits each, y = 214 and x = 97, leading y: 1011011000101001.
   *
   * @param ids one for each column, each from 0 until 2^bits(column)
   */
  def value(plan: BitPlan, ids: Array[Long]): Long = {
    require(ids.length == plan.columns, s"${ids.length} ids for ${plan.columns} columns")
    var z = 0L
    var i = 0
    while (i < ids.length) {
      z |= plan.spread(i, ids(i))
      i += 1
    }
    z
  }

  /** The point of a value: one id for each column. */
  def point(plan: BitPlan, z: Long): Array[Long] = Array.tabulate(plan.columns)(plan.extract(_, z))
}
