package org.sparkzorder.layout

/**
 * Where new rows go in a table that is laid out along a curve: some cells are written anew and take the rows that
 * belong to them, and the other rows go to files over many cells.
 *
 * @param cells the first value of each cell that is written anew, ascending; these cells are neighbours
 * @param until the first value behind the last of these cells; 0 if there are none
 * @param files how many files of the target size all rows fill
 */
final case class Placement(frame: CurveFrame, cells: IndexedSeq[Long], until: Long, files: Double) {

  /**
   * Cells keep their borders. A cell that has grown to more than 1.5 times the target is cut. Other rows fill files of
   * about five times the target: a lookup reads every file over its cell, so there should be few of them.
   *
   * @param keys keys of sampled rows, ascending
   */
  def cuts(keys: IndexedSeq[(Long, Long)], shape: LayoutShape): Cuts = {
    val target = math.max(1d, keys.length / math.max(files, 1e-9))
    def cut(from: Int, to: Int, n: Int): Seq[(Long, Long)] =
      if (n <= 1 || to - from < 2) Nil else shape.cutsOf(keys.slice(from, to), n, frame.curve).keys
    def over(from: Int, to: Int) = cut(from, to, math.ceil((to - from) / (Placement.OverTarget * target)).toInt)
    def row(z: Long) = firstAt(keys, z)
    if (cells.isEmpty) Cuts.at(over(0, keys.length))
    else {
      val ends = cells.tail :+ until
      val inside = cells.zip(ends).flatMap { case (from, to) =>
        val (a, b) = (row(from), if (to > frame.last) keys.length else row(to))
        val n = if (b - a <= Placement.MostOfTarget * target) 1 else math.round((b - a) / target).toInt
        (if (from > 0) Seq((from, Long.MinValue)) else Nil) ++ cut(a, b, n)
      }
      val behind = if (until > frame.last) Nil else (until, Long.MinValue) +: over(row(until), keys.length)
      Cuts.at(over(0, row(cells.head)) ++ inside ++ behind)
    }
  }

  /** The layer of a file with this interval. */
  def layer(low: Long, high: Long): Int =
    if (cells.nonEmpty && low >= cells.head && high < until) CurveInterval.Cell else CurveInterval.Over

  private def firstAt(keys: IndexedSeq[(Long, Long)], z: Long): Int = {
    var low = 0
    var high = keys.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (keys(middle)._1 < z) low = middle + 1 else high = middle
    }
    low
  }
}

object Placement {

  /** The most size of a cell before it is cut, in targets. */
  val MostOfTarget = 1.5

  /** The size of a file over the cells, in targets. */
  val OverTarget = 5.0
}
