package org.sparkzorder.index

/**
 * Bytes of the driver's memory that indexes may take.
 *
 * @param cache of all that are kept for the next query
 * @param block of one column, or of all names of files, while it is read; an index that needs more is not used
 */
final case class IndexMemory(cache: Long, block: Long)

object IndexMemory {
  private val MostByDefault = 256L << 20
  private val ShareOfHeap = 10

  /**
   * What a user has said counts as it is. Else it depends on the heap, but a large index is read also by a small driver, which
   * then does not keep it.
   *
   * @param heap the most that this JVM may have
   */
  def of(said: Option[Long], heap: Long = Runtime.getRuntime.maxMemory): IndexMemory = said match {
    case Some(bytes) => IndexMemory(bytes, bytes)
    case None        => IndexMemory(math.min(MostByDefault, heap / ShareOfHeap), MostByDefault)
  }
}
