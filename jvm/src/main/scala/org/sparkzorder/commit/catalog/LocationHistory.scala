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
 * @param isVacuumed whether VACUUM may have deleted files that the operation replaced, in any folder
 */
final case class PastChange(
    version: Long,
    operationId: String,
    timestamp: Long,
    isVacuumed: Boolean,
    change: LocationChange
) {
  def from: String = change.from
  def to: String = change.to

  /** The files in the folder that was left whose rows went to the other one. */
  def replaced: Seq[KnownFile] = change.replaced.map(KnownFile.of(_: InputFile))
}

/** A data file as a record names it. */
final case class KnownFile(name: String, length: Long, modificationTime: Long, etag: Option[String] = None) {

  /** Whether a file that was found is this one, unchanged. */
  def is(meta: FileMeta): Boolean = meta.name == name && meta.length == length && (
    if (etag.isDefined && meta.etag.isDefined) meta.etag == etag else meta.modificationTime == modificationTime
  )
}

object KnownFile {
  def of(meta: FileMeta): KnownFile = KnownFile(meta.name, meta.length, meta.modificationTime, meta.etag)

  def of(input: InputFile): KnownFile =
    KnownFile(FileNames.name(input.path), input.length, input.modificationTime, input.etag)

  def of(output: OutputFile): KnownFile =
    KnownFile(FileNames.name(output.path), output.length, output.modificationTime, output.etag)
}

/**
 * A folder that a table has left, and to which sessions may still append that know the old location.
 *
 * @param last the change that left it last
 * @param versions of all changes that left it
 * @param replaced its files whose rows are in the folder that is in use
 */
final case class LeftFolder(folder: String, last: PastChange, versions: Set[Long], replaced: Seq[KnownFile]) {
  private lazy val byName = replaced.groupBy(_.name)

  /** Whether the catalog never named it, so that the table never left it. */
  def isGivenUp: Boolean = last.from != folder

  /** The files that were there at last. */
  def lastReplaced: Seq[KnownFile] = if (isGivenUp) replaced else last.replaced

  /** Of these files, those that are not among the files of the folder any more, or were changed. */
  def gone(visible: Seq[FileMeta]): Seq[KnownFile] = {
    val there = visible.map(m => m.name -> m).toMap
    lastReplaced.filterNot(r => there.get(r.name).exists(r.is))
  }

  /** Whether VACUUM has deleted the files, and the history does not name them any more. */
  def isForgotten: Boolean = last.isVacuumed && lastReplaced.isEmpty

  /** Whether the rows of the file are in the folder that is in use. */
  def isReplaced(meta: FileMeta): Boolean = byName.get(meta.name).exists(_.exists(_.is(meta)))
}

/**
 * A location that was set back.
 *
 * @param newer the folder to which operations had moved the rows
 * @param version that left the folder
 * @param moved its files whose rows had moved there, or that an operation wrote which was given up
 */
final case class SetBack(current: Path, newer: Path, version: Long, moved: Seq[KnownFile]) {

  /** The files of the folder whose rows would be there twice, or again. */
  def reappeared(visible: Seq[FileMeta]): Seq[FileMeta] = visible.filter(m => moved.exists(_.is(m)))
}

/**
 * Where operations have put a table and its partitions. It is a view of the history, and of nothing else: no file
 * says where a table is but the catalog. Folders are told by their paths, since partitions get other names.
 *
 * @param published newest first
 * @param givenUp changes that the catalog had not made when their operations were ended. A call may still be on its way
 */
final class LocationHistory(published: Seq[PastChange], givenUp: Seq[PastChange]) {

  /** The folders that operations have left or made. */
  lazy val folders: Set[String] = (published ++ givenUp).flatMap(c => Seq(c.from, c.to)).toSet

  /** The newest change that left a folder or came to it. */
  private lazy val newest: Map[String, PastChange] =
    published.reverseIterator.flatMap(c => Seq(c.from -> c, c.to -> c)).toMap

  /** The change by which the table left a folder, if it has not come back since. */
  def leftBy(folder: String): Option[PastChange] = newest.get(folder).filter(_.from == folder)

  /** The folder to which the rows of this one have gone; itself if it was never left. */
  @tailrec def head(folder: String): String = leftBy(folder) match {
    case Some(change) => head(change.to)
    case None         => folder
  }

  /** The folder of an operation that was given up: the catalog should name the one that is returned. */
  def headOfGivenUp(folder: String): Option[String] = neverUsed.find(_.to == folder).map(c => head(c.from))

  /** Whether all files are there that an operation wrote which was given up. */
  def isUnchanged(folder: Path, ops: FileOps): Boolean = {
    val there = ops.list(folder).map(m => m.name -> m).toMap
    neverUsed.filter(_.to == folder.toString).flatMap(_.change.outputs).map(KnownFile.of(_: OutputFile))
      .forall(o => there.get(o.name).exists(o.is))
  }

  /** Of the folders that were given up, those that the table has neither left nor come to. */
  private lazy val neverUsed = givenUp.filterNot(c => newest.contains(c.to))

  /**
   * Folders that the catalog names although the table has left them or never came to them.
   *
   * @param located all folders that the catalog names
   */
  def setBack(located: Set[Path]): Seq[SetBack] = located.toSeq.sortBy(_.toString).flatMap { current =>
    val folder = current.toString
    def back(by: PastChange, moved: Seq[KnownFile]) = SetBack(current, new Path(head(by.from)), by.version, moved)
    leftBy(folder).map(back(_, published.filter(_.from == folder).flatMap(_.replaced)))
      .orElse(neverUsed.find(_.to == folder).map(c => back(c, c.change.outputs.map(KnownFile.of(_: OutputFile)))))
  }

  /** Folders whose rows are in this one by now. */
  def earlier(current: String): Seq[LeftFolder] = byHead.getOrElse(current, Nil)

  /** Tells whether an operation has rewritten or copied a file of this folder. */
  def replacedIn(folder: String): FileMeta => Boolean = {
    val byName = published.filter(_.from == folder).flatMap(_.replaced).groupBy(_.name)
    meta => byName.get(meta.name).exists(_.exists(_.is(meta)))
  }

  /** Names of the files that the last operation brought to a folder. */
  def outputsIn(current: String): Seq[String] =
    published.find(_.to == current).toSeq.flatMap(_.change.outputs.map(_.path))
      .filter(FileNames.parent(_) == current).map(FileNames.name)

  private lazy val byHead: Map[String, Seq[LeftFolder]] = {
    val left = published.groupBy(_.from).toSeq.flatMap { case (folder, changes) =>
      leftBy(folder).map(LeftFolder(folder, _, changes.map(_.version).toSet, changes.flatMap(_.replaced)))
    }
    val unused = neverUsed.map { c =>
      LeftFolder(c.to, c, Set.empty, c.change.outputs.map(KnownFile.of(_: OutputFile)))
    }
    (left.map(l => head(l.folder) -> l) ++ unused.map(l => head(l.last.from) -> l)).groupMap(_._1)(_._2)
  }
}

object LocationHistory {

  def read(folder: TableFolder): LocationHistory =
    new LocationHistory(
      changes(History.read(folder), _.state == History.Vacuumed),
      changes(History.undone(folder), _ => false)
    )

  private def changes(entries: Seq[HistoryEntry], isVacuumed: HistoryEntry => Boolean): Seq[PastChange] =
    for { e <- entries; c <- e.record.locationChanges } yield PastChange(
      e.record.version,
      e.record.operationId,
      e.record.timestamp,
      isVacuumed(e),
      c
    )

  /**
   * Whether operations move the table to new folders, and exchange no files in place: a table stays with
   * one way, so its newest operation tells.
   */
  def isUsedBy(state: TableState): Boolean = state match {
    case TableState.NoSideFolder     => false
    case side: TableState.SideFolder =>
      side.moving.nonEmpty || newest(side).exists(_.way == Way.Catalog)
  }

  private def newest(side: TableState.SideFolder): Option[Record] =
    try side.lastRecord.orElse(if (side.version == 0) None else readNewest(side))
    // It was renamed by a VACUUM, or is damaged.
    catch { case _: FileNotFoundException | _: UnreadableRecordException => readNewest(side) }

  private def readNewest(side: TableState.SideFolder): Option[Record] =
    History.newestFirst(side.folder).nextOption().map(_.record)
}
