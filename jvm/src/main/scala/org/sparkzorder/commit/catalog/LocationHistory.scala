package org.sparkzorder.commit.catalog

import java.io.FileNotFoundException

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.{History, HistoryEntry, TableState}
import org.sparkzorder.compat._

/**
 * One change of a location, as the history has it.
 *
 * @param version of the operation
 */
final case class PastChange(version: Long, operationId: String, timestamp: Long, change: LocationChange) {
  def from: String = change.from
  def to: String = change.to

  /** The files in the folder that was left whose rows went to the other one. */
  def replaced: Seq[InputFile] = change.replaced
}

/**
 * A folder that a table has left, or that an operation made which was given up. Sessions may still append there.
 *
 * @param head the folder to which its rows have gone
 * @param last the change that left it last
 * @param versions of all changes that left it
 * @param replaced its files whose rows are elsewhere: those that went along, or all that were written there in vain
 * @param lost its files that others had deleted when a RESTORE brought their rows back elsewhere
 */
final case class LeftFolder(
    folder: String,
    head: String,
    last: PastChange,
    versions: Set[Long],
    replaced: Seq[ExchangedFile],
    lost: Seq[ExchangedFile]
) {
  private lazy val byName = (replaced ++ lost).groupBy(_.name)

  /** Whether the catalog never named it, so that the table never left it. */
  def isGivenUp: Boolean = last.from != folder
  def lastReplaced: Seq[ExchangedFile] = if (isGivenUp) replaced else last.replaced

  /** Of these files, those that are not there any more or were changed. Of lost ones, those that came back changed. */
  def gone(visible: Seq[FileMeta]): Seq[ExchangedFile] = {
    val there = visible.map(m => m.name -> m).toMap
    lastReplaced.filterNot(r => there.get(r.name).exists(r.isSame)) ++ lost.filter(l =>
      there.get(l.name).exists(!l.isSame(_))
    )
  }

  /** Whether the rows of the file are in the folder that is in use. */
  def isReplaced(meta: FileMeta): Boolean = byName.get(meta.name).exists(_.exists(_.isSame(meta)))
}

/**
 * Where operations have put a table and its partitions. It is a view of the history, and of nothing else: no file
 * says where a table is but the catalog. Folders are told by their paths, since partitions get other names.
 *
 * @param published newest first
 * @param givenUp changes that the catalog had not made when their operations were ended. A call may still be on its way
 */
final class LocationHistory(published: Seq[PastChange], givenUp: Seq[PastChange]) {

  def knows(folder: String): Boolean = newest.contains(folder) || left.contains(folder)

  private lazy val newest: Map[String, PastChange] =
    published.reverseIterator.flatMap(c => Seq(c.from -> c, c.to -> c)).toMap

  /** The change by which the table left a folder, if it has not come back since. */
  def leftBy(folder: String): Option[PastChange] = newest.get(folder).filter(_.from == folder)

  /** Oldest first. */
  private lazy val leaving: Map[String, Seq[PastChange]] = published.reverse.groupBy(_.from)

  /** Where rows have gone that were in a folder after a version. */
  @tailrec private def head(folder: String, after: Long): String =
    leaving.getOrElse(folder, Nil).find(_.version > after) match {
      case Some(change) => head(change.to, change.version)
      case None         => folder
    }

  /** By their paths. */
  lazy val left: Map[String, LeftFolder] = {
    // A RESTORE over several versions lost files in each of their folders.
    val lost = published.flatMap(_.change.lost).groupBy(_.folder)
    val once = for { (folder, changes) <- leaving; last <- leftBy(folder) } yield folder -> LeftFolder(
      folder,
      head(last.to, last.version),
      last,
      changes.map(_.version).toSet,
      changes.flatMap(_.replaced),
      lost.getOrElse(folder, Nil)
    )
    // The table has neither left them nor come to them.
    val never = givenUp.filterNot(c => newest.contains(c.to)).map { c =>
      // Another operation may have its version.
      val head = this.head(c.from, c.version - 1)
      c.to -> LeftFolder(c.to, head, c, Set.empty, c.change.outputs, Nil)
    }
    once ++ never
  }

  private lazy val byHead: Map[String, Seq[LeftFolder]] = left.values.toSeq.groupBy(_.head)

  /** Folders whose rows are in this one by now. */
  def earlier(current: String): Seq[LeftFolder] = byHead.getOrElse(current, Nil)

  /** Tells whether an operation has rewritten or copied a file of this folder. */
  def replacedIn(folder: String): FileMeta => Boolean = {
    val byName = leaving.getOrElse(folder, Nil).flatMap(_.replaced).groupBy(_.name)
    meta => byName.get(meta.name).exists(_.exists(_.isSame(meta)))
  }

  /** Names of the files that the last operation brought to a folder. */
  def outputsIn(current: String): Seq[String] =
    published.find(_.to == current).toSeq.flatMap(_.change.outputs.map(_.path))
      .filter(FileNames.parent(_) == current).map(FileNames.name)
}

object LocationHistory {

  def read(folder: TableFolder): LocationHistory =
    new LocationHistory(
      changes(History.read(folder), _.record.timestamp),
      // They are given up when a recovery ends them, which may be long after they began.
      changes(History.undone(folder), e => math.max(e.record.timestamp, e.time))
    )

  private def changes(entries: Seq[HistoryEntry], timeOf: HistoryEntry => Long): Seq[PastChange] =
    for { e <- entries; c <- e.record.locationChanges } yield PastChange(
      e.record.version,
      e.record.operationId,
      timeOf(e),
      c
    )

  /**
   * Whether operations move the table to new folders, and exchange no files in place: a table stays with
   * one way, so its newest operation tells. So does a first one that was given up, since the catalog may still come to
   * name its folder.
   */
  def isUsedBy(state: TableState): Boolean = state match {
    case TableState.NoSideFolder     => false
    case side: TableState.SideFolder =>
      side.moving.nonEmpty || newest(side).exists(_.way == CommitProtocol.Catalog) ||
      side.undone.headOption.filter(_.version > side.version).flatMap(History.readable(side.folder, _))
        .exists(_.way == CommitProtocol.Catalog)
  }

  private def newest(side: TableState.SideFolder): Option[Record] =
    try side.lastRecord.orElse(if (side.version == 0) None else readNewest(side))
    // It was renamed by a VACUUM, or is damaged.
    catch { case _: FileNotFoundException | _: UnreadableRecordException => readNewest(side) }

  private def readNewest(side: TableState.SideFolder): Option[Record] =
    History.newestFirst(side.folder).nextOption().map(_.record)
}

private[sparkzorder] final case class CatalogView(
    history: LocationHistory,
    current: Map[CatalogPartition, Path],
    ops: FileOps
) {

  lazy val located: Map[Path, CatalogPartition] = current.map(_.swap)

  /** Locations that are folders which the table has left, or that were given up. A link may lead back as well. */
  lazy val locatedAgain: Map[Path, LeftFolder] = if (history.left.isEmpty) Map.empty
  else {
    val byRealPath = history.left.values.map(l => ops.realPath(new Path(l.folder)) -> l).toMap
    located.keys.flatMap { at =>
      history.left.get(at.toString).orElse(byRealPath.get(ops.realPath(at))).map(at -> _)
    }.toMap
  }

  /** Folders whose rows are in this one by now, and at which the table is not located. */
  def earlier(current: Path): Seq[LeftFolder] = {
    lazy val again = locatedAgain.values.map(_.folder).toSet
    history.earlier(current.toString).filterNot(left => again(left.folder))
  }
}

private[sparkzorder] object CatalogView {

  def read(home: TableFolder, catalog: CatalogLocations): CatalogView =
    CatalogView(LocationHistory.read(home), catalog.all(), home.ops)
}
