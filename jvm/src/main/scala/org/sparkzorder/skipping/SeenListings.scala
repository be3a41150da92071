package org.sparkzorder.skipping

import java.lang.ref.{ReferenceQueue, WeakReference}
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileIndex

import org.sparkzorder.commit.FileMeta

/**
 * Up to which operation of a table a listing was found to be whole. Forgotten with the listing.
 *
 * Listings are told apart by identity: Spark's own are equal when they are of the same folder, however old each is. Operations are
 * told apart by their record's status: a table made anew counts its versions from 1 again.
 */
private[skipping] final class SeenListings {
  private val gone = new ReferenceQueue[FileIndex]
  private val seen = new ConcurrentHashMap[SeenListings.Key, Map[Path, FileMeta]]

  def newest(listing: FileIndex, table: Path): Option[FileMeta] =
    Option(seen.get(new SeenListings.Key(listing, null))).flatMap(_.get(table))

  def put(listing: FileIndex, table: Path, record: FileMeta): Unit = {
    Iterator.continually(gone.poll()).takeWhile(_ != null).foreach(seen.remove(_))
    seen.merge(new SeenListings.Key(listing, gone), Map(table -> record), (old, added) => old ++ added)
    ()
  }
}

private object SeenListings {
  final class Key(listing: FileIndex, queue: ReferenceQueue[FileIndex]) extends WeakReference[FileIndex](listing, queue) {
    override val hashCode: Int = System.identityHashCode(listing)

    override def equals(other: Any): Boolean = other match {
      case that: Key => (this eq that) || (get != null && (get eq that.get))
      case _         => false
    }
  }
}
