package org.sparkzorder.scan

import java.io.{FileNotFoundException, IOException}
import java.util.concurrent.{ArrayBlockingQueue, RejectedExecutionException, ThreadPoolExecutor, TimeUnit}
import scala.annotation.tailrec

import com.google.common.util.concurrent.ThreadFactoryBuilder
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.{HistorySettings, Reappeared, TableState}
import org.sparkzorder.commit.machine.{ReadableState, Recovery}
import org.sparkzorder.commit.{RecordFile, TableFolder, UnreadableRecordException}
import org.sparkzorder.table.RelativePath

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
    settled.filter(_.state.around.isEmpty).map(t => (t.folder.root, t.state.state))
      .map { case (root, state) => (root, VerifiedOperations.of(state), state) }.filter(_._2 != VerifiedOperations.none)

  /** What the listing shows, when it is first asked for: by folder if each may be of another time. */
  private def folders: () => Seq[ListedFolder] = {
    lazy val found = listing.all.map(_.files.map(_.getPath)) match {
      case directories if isOne => Seq(new ListedFolder(directories.flatten, isKnown = false))
      case directories          =>
        directories.flatMap(files => if (files.isEmpty) Seq(files) else files.groupBy(_.getParent).values)
          .map(new ListedFolder(_, isKnown = !isFiltered))
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
      lazy val names = RecordedNames.of(side.folder, tables)
      // A folder without files may be one that an operation has emptied, only if all are of one time.
      def asked = folders.filter(f => isOne || f.files.nonEmpty).groupBy(seenFolders.get(_, root).getOrElse(seen))
      seen.unseen(side).nonEmpty && asked.exists { case (of, listed) =>
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

  /** Whether an operation has been published or begun since. Files that were read around are named one by one. */
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

/**
 * Warns if a query's listing shows files under names that an operation retired. It does so once for each listing and
 * version of a table, in the background: the query does not wait.
 */
private[scan] object ReappearedFiles extends Logging {

  /** If more listings than this are waiting, the next one is dropped. Later listings are looked at again. */
  private val MostWaiting = 64

  private val IdleSeconds = 10L

  private val pool = {
    val threads = new ThreadFactoryBuilder().setDaemon(true).setNameFormat("zorder-reappeared-files").build()
    val waiting = new ArrayBlockingQueue[Runnable](MostWaiting)
    val made = new ThreadPoolExecutor(1, 1, IdleSeconds, TimeUnit.SECONDS, waiting, threads)
    made.allowCoreThreadTimeOut(true)
    made
  }

  /** Looks at the files of a listing, with the table's state when the listing was found to be whole. */
  def look(files: => Seq[Path], state: TableState): Unit = state match {
    case side: TableState.SideFolder if side.version > 0 =>
      // Only the paths are taken here. The other thread finds the names below the root.
      val paths = files
      try
        pool.execute(() => {
          val names = new RelativePath(side.folder.root)
          try {
            val found = Reappeared.find(side, paths.map(names.of))
            if (found.nonEmpty) logWarning(s"${side.folder.root}: ${Reappeared.describe(found)}.")
          } catch {
            // The next listing is looked at again.
            case e @ (_: IOException | _: UnreadableRecordException) =>
              logInfo(s"Names that are back in ${side.folder.root} are not looked for: ${e.getMessage}")
          }
        })
      catch { case _: RejectedExecutionException => () }
    case _ => ()
  }
}
