package org.sparkzorder.layout

/**
 * Where files of at most so many rows end, told while the rows come along a curve and nobody knows how many there will
 * be: at the coarsest border that can be had, so that files are boxes and a value is in one file if it fits.
 *
 * Of the first half of a file's rows the coarsest border is noted. In cells of like sizes a coarser one comes before the
 * file is full, and the file ends there. Else it ends at the last border between two values of the curve behind which the
 * next value, by what values had so far, might not fit. A value that is too large for that is cut where the file is full.
 *
 * Not for several threads.
 *
 * @param most rows of a file
 * @param coarseness the larger the coarser, of the border between two values by their highest differing bit
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
   * Whether the row with this value of the curve is the first one of a new file, and not the next one of this. Not asked
   * again for the same row.
   *
   * @param z at least that of the row before
   */
  def beginsFile(z: Long): Boolean = {
    val differing = java.lang.Long.highestOneBit(z ^ last)
    if (differing != 0) {
      // Values that are to be cut anyway are no measure for the others.
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
