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
 * A listing that was made before or during the publishing of an operation shows files that are gone, or lacks files
 * that came. It is made anew, until nothing is published meanwhile.
 *
 * @param tables that the scan reads from
 * @param isOne whether all folders were listed at one time. Spark keeps the listing of each partition of a catalog's
 *   table by itself
 * @param isFiltered whether options of the query choose files
 */
private[scan] final class FreshListing(
    listing: Listing,
    tables: Seq[TableFolder],
    settings: LockSettings,
    isOne: Boolean,
    isFiltered: Boolean
) extends Logging {
  import FreshListing._

  /**
   * The tables, each in a state in which it may be read.
   *
   * @throws org.sparkzorder.commit.HalfPublishedException when one operation follows the other all the time
   */
  def settled(): Seq[SettledTable] = settled(ExchangeAwareListing.MostLooks)

  @tailrec private def settled(left: Int): Seq[SettledTable] = {
    val now = Recovery.settled(tables, Recovery.QueryWaitMillis, settings).map((SettledTable.apply _).tupled)
    val before = folders
    // Spark's index is shared with plans that do not read around. So it is not listed anew in the midst of an exchange.
    val mustRelist = now.exists(t => t.state.exchanging && t.state.around.isEmpty || isStale(before(), t.state.state))
    if (mustRelist) listing.refresh()
    if (!mustRelist || !isMovedSince(now)) {
      remember(now, if (mustRelist) folders else before)
      now
    } else if (left == 0) throw ExchangeAwareListing.unsettled(now.head.folder.root)
    else {
      // The listing began after the look at the table. So only the operations since must be looked at.
      quiet(now).foreach { case (root, operations, _) => seenWhole.put(listing.of, root, operations) }
      settled(left - 1)
    }
  }

  /** Notes that the listing is whole up to the newest operation, and has it searched for retired names. */
  private def remember(settled: Seq[SettledTable], folders: () => Seq[ListedFolder]): Unit =
    quiet(settled).foreach { case (root, operations, state) =>
      if (operations != seenWhole.get(listing.of, root)) {
        seenWhole.put(listing.of, root, operations)
        if (!isOne) folders().foreach(seenFolders.put(_, root, operations))
        ReappearedFiles.look(folders().flatMap(_.files), state)
      }
    }

  /** Tables in which nothing is half done, with the operations up to which they are looked at. */
  private def quiet(settled: Seq[SettledTable]): Seq[(Path, VerifiedOperations, TableState)] =
    settled.filter(_.state.around.isEmpty).map(t =>
      (t.folder.root, VerifiedOperations.of(t.state.state), t.state.state)
    )
      .filter(_._2 != VerifiedOperations.none)

  /** What the listing shows, when it is first asked for: by folder if each may be of another time. */
  private def folders: () => Seq[ListedFolder] = {
    lazy val found = listing.all.map(_.files.map(_.getPath)) match {
      case directories if isOne => Seq(new ListedFolder(directories.flatten, isKnown = false))
      case directories          =>
        directories.flatMap { files =>
          if (files.isEmpty) Seq(files) else files.groupBy(_.getParent).values
        }.map(new ListedFolder(_, isKnown = !isFiltered))
    }
    () => found
  }

  /**
   * Whether the listing must be made anew. It counts as stale if many operations do not say how old it is, and if it
   * may be older than all records.
   */
  private def isStale(folders: => Seq[ListedFolder], state: TableState): Boolean = state match {
    case side: TableState.SideFolder =>
      val root = side.folder.root
      val seen = seenWhole.get(listing.of, root)
      lazy val names = ListedNames.of(side.folder, tables)
      // A folder without files may be one that an operation has emptied, only if all are of one time.
      seen.unseen(side).nonEmpty && folders.filter(f => isOne || f.files.nonEmpty).groupBy(seenFolders.get(
        _,
        root
      ).getOrElse(seen)).exists {
        case (of, listed) =>
          val unseen = of.unseen(side)
          unseen.nonEmpty && isStale(names.of(listed.flatMap(_.files)), side, unseen, of.mayLack(side))
      }
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
      // The record was renamed or deleted by a VACUUM, undone, or overwritten in this moment.
      case _: FileNotFoundException => true
    }
  }
}

private[scan] object FreshListing {
  private val seenWhole = new VerifiedListings
  private val seenFolders = new VerifiedFolders

  /** Whether an operation was published since the tables were settled. */
  def isMovedSince(settled: Seq[SettledTable]): Boolean =
    settled.exists(before => isMoved(before.state, TableState.look(before.folder.root, before.folder.ops)))

  /**
   * Whether an operation was published or began publishing since. Files of operations that were read around are named
   * one by one.
   */
  private def isMoved(before: ReadableState, after: TableState): Boolean = after match {
    case now: TableState.SideFolder =>
      versions(now) != (if (before.around.isDefined) versions(before.state) else Nil) ||
      VerifiedOperations.of(now) != VerifiedOperations.of(before.state)
    case TableState.NoSideFolder => false
  }

  private def versions(state: TableState): Seq[Long] = state match {
    case side: TableState.SideFolder => side.exchanging.map(_.version)
    case TableState.NoSideFolder     => Nil
  }
}
