package org.sparkzorder.skipping

import java.lang.ref.{ReferenceQueue, WeakReference}
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileIndex

import org.sparkzorder.commit.{FileMeta, RecordFile, TableState}

/** Operations that a listing was checked against: the newest that was published, which stands for all before it, and those undone. */
private[skipping] final case class SeenOperations(newest: Option[FileMeta], undone: Set[FileMeta]) {

  /** Whether [[unseen]] may lack operations, since their records are in a checkpoint. */
  def mayLack(state: TableState.SideFolder): Boolean =
    state.checkpoint.isDefined && !state.done.exists(file => newest.contains(file.meta))

  /** Those of a table that a listing was not checked against, newest first, as far as they are files. */
  def unseen(state: TableState.SideFolder): Seq[RecordFile] = {
    val published = state.done.takeWhile(file => !newest.contains(file.meta)).map(_ -> 0)
    val others = state.undone.filterNot(file => undone.contains(file.meta)).map(_ -> 1)
    (published ++ others).sortBy { case (file, rank) => (-file.version, rank) }.map(_._1)
  }
}

private[skipping] object SeenOperations {
  val none: SeenOperations = SeenOperations(None, Set.empty)

  def of(state: TableState): SeenOperations = state match {
    case s: TableState.SideFolder => SeenOperations(s.newestDone.map(_.meta), s.undone.map(_.meta).toSet)
    case TableState.NoSideFolder  => none
  }
}

/**
 * Up to which operation of a table a listing was found to be whole. Forgotten with the listing.
 *
 * Listings are told apart by identity: Spark's own are equal when they are of the same folder, however old each is. Operations are
 * told apart by their record's status: a table made anew counts its versions from 1 again.
 */
private[skipping] final class SeenListings {
  private val gone = new ReferenceQueue[FileIndex]
  private val seen = new ConcurrentHashMap[SeenListings.Key, Map[Path, SeenOperations]]

  def get(listing: FileIndex, table: Path): SeenOperations =
    Option(seen.get(new SeenListings.Key(listing, null))).flatMap(_.get(table)).getOrElse(SeenOperations.none)

  def put(listing: FileIndex, table: Path, operations: SeenOperations): Unit = {
    Iterator.continually(gone.poll()).takeWhile(_ != null).foreach(seen.remove(_))
    seen.merge(new SeenListings.Key(listing, gone), Map(table -> operations), (old, added) => old ++ added)
    ()
  }
}

private object SeenListings {
  final class Key(listing: FileIndex, queue: ReferenceQueue[FileIndex])
      extends WeakReference[FileIndex](listing, queue) {
    override val hashCode: Int = System.identityHashCode(listing)

    override def equals(other: Any): Boolean = other match {
      case that: Key => (this eq that) || (get != null && (get eq that.get))
      case _         => false
    }
  }
}
