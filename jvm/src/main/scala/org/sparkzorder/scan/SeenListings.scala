package org.sparkzorder.scan

import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileIndex

import org.sparkzorder.commit.{FileMeta, RecordFile}
import org.sparkzorder.commit.log.TableState

/** The operations that a listing was checked against: all up to the newest published one, and those undone. */
private[scan] final case class SeenOperations(newest: Option[FileMeta], undone: Set[FileMeta]) {

  /**
   * Whether [[unseen]] may lack operations, since VACUUM has forgotten them. Then the versions since the newest that was
   * seen are not all there.
   */
  def mayLack(state: TableState.SideFolder): Boolean = {
    val seen = state.done.find(file => newest.contains(file.meta)).fold(0L)(_.version)
    state.done.count(_.version > seen).toLong != state.version - seen
  }

  /** Records that the listing was not checked against, newest first. */
  def unseen(state: TableState.SideFolder): Seq[RecordFile] = {
    val published = state.done.takeWhile(file => !newest.contains(file.meta)).map(_ -> 0)
    val others = state.undone.filterNot(file => undone.contains(file.meta)).map(_ -> 1)
    (published ++ others).sortBy { case (file, rank) => (-file.version, rank) }.map(_._1)
  }
}

private[scan] object SeenOperations {
  val none: SeenOperations = SeenOperations(None, Set.empty)

  def of(state: TableState): SeenOperations = state match {
    case s: TableState.SideFolder => SeenOperations(s.newestDone.map(_.meta), s.undone.map(_.meta).toSet)
    case TableState.NoSideFolder  => none
  }
}

/**
 * Up to which operation each listing was found to be whole. An entry lives as long as its listing.
 *
 * Operations are compared by the status of their record's file, since a table that is made anew counts its versions from
 * 1 again.
 */
private[scan] final class SeenListings {
  // By identity, since Spark's own listings are equal whenever they are of the same folder.
  private val seen = CacheBuilder.newBuilder().weakKeys().build[FileIndex, Map[Path, SeenOperations]]()

  def get(listing: FileIndex, table: Path): SeenOperations =
    Option(seen.getIfPresent(listing)).flatMap(_.get(table)).getOrElse(SeenOperations.none)

  def put(listing: FileIndex, table: Path, operations: SeenOperations): Unit = {
    seen.asMap.merge(listing, Map(table -> operations), (before, added) => before ++ added)
    ()
  }
}
