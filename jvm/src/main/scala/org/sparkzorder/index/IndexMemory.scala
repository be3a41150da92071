package org.sparkzorder.index

/**
 * How many bytes of the driver's memory indexes may take.
 *
 * @param cache for all indexes together that are kept for the next query
 * @param block for one column, or for the names of all files, while it is read; an index that needs
 *   more is not used
 */
final case class IndexMemory(cache: Long, block: Long)

object IndexMemory {
  private val MostByDefault = 256L << 20
  private val ShareOfHeap = 10

  /**
   * A size that the user has set is that of the cache, and of a block only if it is larger than the
   * default. Else the cache depends on the heap, and the block does not. So a small driver can read
   * a large index too, but does not keep it.
   *
   * @param heap the most bytes that this JVM may have
   */
  def of(said: Option[Long], heap: Long = Runtime.getRuntime.maxMemory): IndexMemory = said match {
    case Some(bytes) => IndexMemory(bytes, math.max(bytes, MostByDefault))
    case None        => IndexMemory(math.min(MostByDefault, heap / ShareOfHeap), MostByDefault)
  }
}
