package org.sparkzorder.scan

import scala.util.hashing.MurmurHash3

import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.PartitionDirectory

/**
 * Listings of folders that were compared with a state of a table that is published through the
 * catalog. Not the listings themselves are kept, but a hash of each.
 */
private[scan] final class SeenFolders(most: Int = SeenFolders.Most) {
  import SeenFolders._

  private val seen = CacheBuilder.newBuilder().concurrencyLevel(1).maximumSize(most.toLong).build[Path, Seen]()

  /** Notes that this listing shows all files of its folders that the state of this number knows. */
  def put(listing: Seq[PartitionDirectory], number: Long): Unit =
    listing.foreach(of(_, number).foreach { case (folder, now) => seen.put(folder, now) })

  /**
   * Whether each folder was listed in the same way when it was compared with this state. A directory
   * without files does not tell its folder, and counts as not seen.
   */
  def areSeen(listing: Seq[PartitionDirectory], number: Long): Boolean = listing.nonEmpty && listing.forall { d =>
    d.files.nonEmpty && of(d, number).forall { case (folder, now) => seen.getIfPresent(folder) == now }
  }
}

private object SeenFolders {

  /** Some hundred bytes each. */
  private val Most = 20000

  private final case class Seen(number: Long, files: Int, hash: Int)

  private def of(directory: PartitionDirectory, number: Long): Map[Path, Seen] =
    directory.files.groupBy(_.getPath.getParent).map { case (folder, files) =>
      val hash = MurmurHash3.unorderedHash(files.map(f => (f.getPath.getName, f.getLen, f.getModificationTime)))
      folder -> Seen(number, files.size, hash)
    }
}
