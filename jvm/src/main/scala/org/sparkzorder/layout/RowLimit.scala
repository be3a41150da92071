package org.sparkzorder.layout

/**
 * Decides where files of at most so many rows end, while rows come in the order of the curve and their number is not
 * known yet. Files end at coarse borders, so that they are boxes, and a value is in one file if it fits.
 *
 * In the first half of a file's rows the coarsest border is noted. The file ends at a coarser one before it is full,
 * else at a border between two values if the next value might not fit, by the largest value so far. A value with more
 * rows is cut where the file is full. Not safe for use by several threads.
 *
 * @param most the most rows of a file
 * @param coarseness how coarse the border between two values is, by their highest differing bit; larger is coarser
 */
final class RowLimit(most: Long, coarseness: Long => Long) {
  require(most >= 1, s"a file has a row at least, got $most")

  private val half = most / 2
  private var rows = 0L
  private var coarsest = Long.MinValue
  private var last = 0L
  private var rowsOfValue = 0L
  private var rowsOfLargest = 1L

  /**
   * Whether the next row begins a new file. To be called once for each row.
   *
   * @param z the row's value of the curve, at least that of the row before
   */
  def beginsFile(z: Long): Boolean = {
    val differing = java.lang.Long.highestOneBit(z ^ last)
    if (differing != 0) {
      // Very large values are left out: they will be cut anyway, and say nothing about the others.
      if (rowsOfValue <= most / 16) rowsOfLargest = math.max(rowsOfLargest, rowsOfValue)
      rowsOfValue = 0
    }
    val border = if (rows == 0 || differing == 0) Long.MinValue else coarseness(differing)
    val nearlyFull = rows + rowsOfLargest + rowsOfLargest / 4 > most
    val begins = rows >= most || (rows > half && (border > coarsest || (nearlyFull && differing != 0)))
    if (begins) {
      rows = 0
      coarsest = Long.MinValue
    } else if (rows <= half) coarsest = math.max(coarsest, border)
    rows += 1
    rowsOfValue += 1
    last = z
    begins
  }
}
