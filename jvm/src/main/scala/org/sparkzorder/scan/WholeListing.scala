package org.sparkzorder.scan

import java.io.FileNotFoundException

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.{RecordFile, TableFolder, UnreadableRecordException}
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.{HistorySettings, TableState}
import org.sparkzorder.commit.machine.{ReadableState, Recovery}

/** A table that a scan reads from, in a state in which it may be read. */
private[scan] final case class SettledTable(folder: TableFolder, state: ReadableState)

/**
 * Sees to it that a listing is whole.
 *
 * A listing that was made before or during the publishing of an operation shows files that are gone, or lacks files that
 * came. It is made anew, until nothing is published meanwhile.
 *
 * @param tables that the scan reads from
 * @param isOne whether all folders were listed at one time. Spark keeps the listing of each partition of a catalog's
 *   table by itself
 */
private[scan] final class WholeListing(
    listing: Listing,
    tables: Seq[TableFolder],
    settings: LockSettings,
    isOne: Boolean
) extends Logging {
  import WholeListing._

  /** The tables, each in a state in which it may be read. */
  @tailrec def settled(): Seq[SettledTable] = {
    val now = Recovery.settled(tables, Recovery.QueryWaitMillis, settings).map((SettledTable.apply _).tupled)
    lazy val files = listed
    // Spark's index is shared with plans that do not read around. So it is not listed anew in the midst of an exchange.
    val mustRelist = now.exists(t => t.state.exchanging && t.state.around.isEmpty || isStale(files, t.state.state))
    if (mustRelist) listing.refresh()
    if (mustRelist && isMovedSince(now)) settled()
    else {
      remember(now)
      now
    }
  }

  /** Notes that the listing is whole up to the newest operation, and has it searched for retired names. */
  private def remember(settled: Seq[SettledTable]): Unit = settled.filter(_.state.around.isEmpty).foreach { t =>
    val operations = SeenOperations.of(t.state.state)
    if (operations != SeenOperations.none && operations != seenWhole.get(listing.of, t.folder.root)) {
      seenWhole.put(listing.of, t.folder.root, operations)
      ReappearedFiles.look(listed, t.state.state)
    }
  }

  private def listed: Seq[Path] = listing.all.flatMap(_.files).map(_.getPath)

  /**
   * Whether the listing must be made anew. It counts as stale if many operations do not say how old it is, and if it may
   * be older than all records that are files: no line of the history is read for this.
   */
  private def isStale(files: => Seq[Path], state: TableState): Boolean = state match {
    case side: TableState.SideFolder =>
      val seen = seenWhole.get(listing.of, side.folder.root)
      val unseen = seen.unseen(side)
      unseen.nonEmpty && isStale(ListedNames.of(side.folder, tables).of(files), side, unseen, seen.mayLack(side))
    case TableState.NoSideFolder => false
  }

  private def isStale(
      names: Set[String],
      state: TableState.SideFolder,
      unseen: Seq[RecordFile],
      mayLack: Boolean
  ): Boolean = {
    val looked = unseen.take(HistorySettings.Whole)
    val isAll = !mayLack && looked.length == unseen.length
    try
      ListingAge.isStale(names, looked.iterator.map(PastOperation.of(_, state.record)), isAll, isOne).getOrElse(!isAll)
    catch {
      case e: UnreadableRecordException =>
        logWarning(s"The listing of ${state.folder.root} is made anew, since a record is unreadable", e)
        true
      // The record was renamed by a VACUUM, made a line of the history, undone, or overwritten in this moment.
      case _: FileNotFoundException => true
    }
  }
}

private[scan] object WholeListing {
  private val seenWhole = new SeenListings

  /** Whether an operation was published since the tables were settled. */
  def isMovedSince(settled: Seq[SettledTable]): Boolean =
    settled.exists(before => isMoved(before.state, TableState.look(before.folder.root, before.folder.ops)))

  /**
   * Whether an operation was published or began publishing since. Files of operations that were read around
   * are named one by one.
   */
  private def isMoved(before: ReadableState, after: TableState): Boolean = after match {
    case now: TableState.SideFolder =>
      versions(now) != (if (before.around.isDefined) versions(before.state) else Nil) ||
      SeenOperations.of(now) != SeenOperations.of(before.state)
    case TableState.NoSideFolder => false
  }

  private def versions(state: TableState): Seq[Long] = state match {
    case side: TableState.SideFolder => side.publishing.map(_.version)
    case TableState.NoSideFolder     => Nil
  }
}
