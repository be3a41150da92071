package org.sparkzorder.membership

/**
 * How many bytes the values of columns may have. The driver gets those of all files from tasks, and
 * has an index in memory while it is written.
 */
object MemberBudget {
  private val Most = 256L << 20
  private val ShareOfHeap = 16
  private val ShareOfResults = 4

  /** All values of an index. */
  def ofIndex(heap: Long = Runtime.getRuntime.maxMemory): Long = math.min(Most, heap / ShareOfHeap)

  /**
   * The values of one column in one file, if a statement makes those of so many files.
   *
   * @param maxResults bytes that all tasks of a job may return; 0 for any number
   */
  def ofFile(files: Long, columns: Int, maxResults: Long, heap: Long = Runtime.getRuntime.maxMemory): Int = {
    val all = if (maxResults <= 0) ofIndex(heap) else math.min(ofIndex(heap), maxResults / ShareOfResults)
    math.min(all / math.max(1L, files * columns), MembershipFormat.MostBytes.toLong).toInt
  }
}
