package org.sparkzorder.scan

import java.lang.ref.{ReferenceQueue, WeakReference}
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.execution.datasources.FileIndex

/**
 * Values kept for listings, dropped when the listing is garbage. Keys are compared by identity, since Spark's own
 * listings are equal whenever they are of the same folder.
 */
private[scan] final class ListingCache[V] {
  private val gone = new ReferenceQueue[FileIndex]
  private val known = new ConcurrentHashMap[ListingCache.Key, V]

  def get(listing: FileIndex): Option[V] = Option(known.get(new ListingCache.Key(listing, null)))

  /** @param both merges the value that is there with the new one */
  def put(listing: FileIndex, value: V)(both: (V, V) => V): Unit = {
    Iterator.continually(gone.poll()).takeWhile(_ != null).foreach(known.remove(_))
    known.merge(new ListingCache.Key(listing, gone), value, (old, added) => both(old, added))
    ()
  }
}

private object ListingCache {
  final class Key(listing: FileIndex, queue: ReferenceQueue[FileIndex])
      extends WeakReference[FileIndex](listing, queue) {
    override val hashCode: Int = System.identityHashCode(listing)

    override def equals(other: Any): Boolean = other match {
      case that: Key => (this eq that) || (get != null && (get eq that.get))
      case _         => false
    }
  }
}
