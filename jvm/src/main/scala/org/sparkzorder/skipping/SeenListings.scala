package org.sparkzorder.skipping

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
 * Operations are told apart by their record's status: a table made anew counts its versions from 1 again.
 */
private[skipping] final class SeenListings {
  private val seen = new ListingCache[Map[Path, SeenOperations]]

  def get(listing: FileIndex, table: Path): SeenOperations =
    seen.get(listing).flatMap(_.get(table)).getOrElse(SeenOperations.none)

  def put(listing: FileIndex, table: Path, operations: SeenOperations): Unit =
    seen.put(listing, Map(table -> operations))(_ ++ _)
}
