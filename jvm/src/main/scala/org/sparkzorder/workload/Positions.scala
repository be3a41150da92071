package org.sparkzorder.workload

/**
 * The ranks of values in their column, as counts over [[Positions.Bins]] equal steps from the least
 * value (rank 0) to the greatest (rank 1). Only the step of a value is kept.
 */
final class Positions private (private val counts: Array[Long]) {

  def total: Long = counts.sum

  def isEmpty: Boolean = counts.forall(_ == 0)

  def count(bin: Int): Long = counts(bin)

  /** The steps with a count above 0, ascending. */
  def bins: IndexedSeq[Int] = counts.indices.filter(counts(_) != 0)

  /** @param rank from 0 to 1 */
  def add(rank: Double): Positions = {
    val sum = counts.clone()
    val bin = Positions.binOf(rank)
    sum(bin) = Positions.sum(sum(bin), 1)
    new Positions(sum)
  }

  def ++(other: Positions): Positions =
    new Positions(Array.tabulate(Positions.Bins)(i => Positions.sum(counts(i), other.counts(i))))

  override def equals(other: Any): Boolean = other match {
    case that: Positions => java.util.Arrays.equals(counts, that.counts)
    case _               => false
  }
  override def hashCode: Int = java.util.Arrays.hashCode(counts)
  override def toString: String = bins.map(b => s"$b: ${counts(b)}").mkString("Positions(", ", ", ")")
}

object Positions {
  val Bins = 128

  /** The largest count. It is so small that sums of counts fit a long easily. */
  val MaxCount: Long = 1L << 40

  val empty: Positions = new Positions(new Array[Long](Bins))

  def of(ranks: Seq[Double]): Positions = ranks.foldLeft(empty)(_.add(_))

  /**
   * @param counts the counts of some steps; others are 0
   * @throws IllegalArgumentException when a step or a count is out of range
   */
  def of(counts: Map[Int, Long]): Positions = {
    val all = new Array[Long](Bins)
    counts.foreach { case (bin, n) =>
      require(bin >= 0 && bin < Bins && n >= 0 && n <= MaxCount, s"$n values in step $bin")
      all(bin) = n
    }
    new Positions(all)
  }

  def binOf(rank: Double): Int = math.max(0, math.min(Bins - 1, (rank * Bins).toInt))

  private[workload] def sum(a: Long, b: Long): Long = math.min(a + b, MaxCount)
}
