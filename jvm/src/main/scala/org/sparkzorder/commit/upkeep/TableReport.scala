package org.sparkzorder.commit.upkeep

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.{LockReport, LockSettings}
import org.sparkzorder.commit.log.{History, HistoryEntry, RecordJson}
import org.sparkzorder.commit.place.StoragePlaces
import org.sparkzorder.commit.side.{FoundSideFolder, SideFolders}

/**
 * An operation that is not finished.
 *
 * @param record None when it cannot be read; `fault` says why
 * @param retired its inputs that are in the trash: there may be no other copy of their rows
 * @param published its outputs that are in the table
 * @param missing inputs and outputs that are nowhere
 * @param goesOn whether a recovery finishes it in some folder; otherwise it undoes it
 * @param unclear sentences about folders because of which no recovery ends the operation
 */
final case class UnfinishedReport(
    file: RecordFile,
    record: Option[Record],
    fault: Option[String],
    retired: Seq[FileMeta],
    published: Int,
    missing: Int,
    goesOn: Boolean,
    unclear: Seq[String] = Nil
)

/** Files that wait in a staging or trash folder. */
final case class FolderBytes(folder: FileMeta, files: Int, bytes: Long)

/**
 * What is beside the data of a table.
 *
 * @param version the last that is published in full
 * @param trash retired files by version, without those of an unfinished operation
 * @param otherTrash trash that no record names
 * @param otherTables side folders, below the table or above it, that also belong to other tables
 * @param temporary files that were never completed
 */
final case class TableReport(
    version: Long,
    locks: Seq[LockReport],
    unfinished: Seq[UnfinishedReport],
    history: Seq[HistoryEntry],
    trash: Seq[RetiredFiles],
    otherTrash: Seq[FolderBytes],
    staging: Seq[FolderBytes],
    indexes: Seq[NumberedIndexFile],
    temporary: Seq[FileMeta],
    otherTables: Seq[FoundSideFolder]
) {

  /** Whether an owner that may live holds the lock. */
  def isLocked: Boolean = locks.exists(!_.isDead)
  def needsRecovery: Boolean = !isLocked && (locks.nonEmpty || unfinished.nonEmpty)
}

object TableReport {

  /** Looks at everything and changes nothing. */
  def of(folder: TableFolder, settings: LockSettings): TableReport = {
    val ops = folder.ops
    val statuses = ops.list(folder.side)
    val records = SideListing.records(statuses)
    val history = History.read(folder)
    val sides = SideFolders.below(folder)
    val below = sides.filter(s => (s.isRoot || s.obstacle.isDefined) && !s.folder.contains(""))
    val own = sides.diff(below).flatMap(_.folder)
    val underWay = records.filter(_.state.isUnfinished).map(unfinished(folder, _))
    val needed = underWay.flatMap(_.retired).map(name).toSet
    val trash = Trash.all(folder, history, own).map(t => t.copy(files = t.files.filterNot(f => needed(name(f)))))
      .filter(_.files.nonEmpty)
    val claimed = needed ++ trash.flatMap(_.files).map(name)
    val trashes = own.flatMap(dir => ops.list(folder.trashesOf(dir))).filter(_.isDirectory)
      .map(t => bytes(t, ops.list(t.path).filterNot(f => claimed(name(f)))))
    TableReport(
      SideListing.newestPublished(statuses),
      LockReport.of(folder, statuses, settings),
      underWay,
      history,
      trash,
      trashes.filter(_.files > 0),
      own.flatMap(dir => ops.list(folder.stagingsOf(dir))).filter(_.isDirectory)
        .map(s => bytes(s, ops.list(s.path))),
      SideListing.indexes(statuses),
      statuses.filter(s => !s.isDirectory && SideNames.isTemporary(s.name)),
      SideFolders.above(folder).filter(_.isRoot) ++ below
    )
  }

  private def name(file: FileMeta): String = file.path.toUri.getPath

  private def bytes(folder: FileMeta, files: Seq[FileMeta]): FolderBytes = {
    // A local file system has checksum files beside them.
    val counted = files.filter(f => !f.isDirectory && !f.name.startsWith("."))
    FolderBytes(folder, counted.size, counted.map(_.length).sum)
  }

  private def unfinished(folder: TableFolder, file: RecordFile): UnfinishedReport =
    try {
      val record = RecordJson.read(folder, file)
      val places = StoragePlaces.of(folder)
      // What the catalog was told of new folders, only the catalog knows.
      val located = if (file.state == RecordState.Moving) Nil else places.of(record, isRecovery = true)
      val found = located.map(l => new FilesOfPlace(folder, record, l.work))
      UnfinishedReport(
        file,
        Some(record),
        None,
        found.flatMap(_.retired),
        found.map(_.published).sum,
        found.map(_.missing).sum,
        located.zip(found).exists { case (l, files) => files.mayBeExchanged(l.place.decision()) },
        (places.away(record, located).map(_.sentence) ++ located.flatMap(_.unclear).map(_.sentence))
      )
    } catch {
      case e: UnreadableRecordException => UnfinishedReport(file, None, Some(e.getMessage), Nil, 0, 0, goesOn = false)
      case _: java.io.FileNotFoundException =>
        UnfinishedReport(file, None, Some("it came to its end just now"), Nil, 0, 0, goesOn = false)
    }
}

/** Where the files of one place are, as two listings show it. */
private final class FilesOfPlace(folder: TableFolder, record: Record, work: FolderWork) {
  private def listed(dir: Path) = folder.ops.list(dir).map(m => m.name -> m).toMap
  private val visible = listed(folder.resolve(work.folder))
  private val trash = listed(folder.trashOf(work.folder, record))
  private val staging = listed(folder.stagingOf(work.folder, record.operationId))

  private def isVisible(path: String): Boolean = visible.contains(FileNames.name(path))
  private def isStaged(o: OutputFile): Boolean =
    o.upload.isDefined || staging.contains(FileNames.stagedName(o.path)) ||
      o.source.exists(s => folder.ops.exists(folder.resolve(s)))
  private def isInTrash(i: InputFile): Boolean = trash.contains(FileNames.retiredName(i.path))

  def retired: Seq[FileMeta] =
    work.inputs.filterNot(i => isVisible(i.path)).flatMap(i => trash.get(FileNames.retiredName(i.path)))

  def published: Int = work.outputs.count(o => isVisible(o.path))

  def missing: Int = work.inputs.count(i => !isVisible(i.path) && !isInTrash(i)) +
    work.outputs.count(o => !isVisible(o.path) && !isStaged(o))

  /** Whether a recovery will find the outputs in place of the inputs, if no file is changed. */
  def mayBeExchanged(decision: Option[Decision]): Boolean = decision match {
    case Some(Decision.Exchanged) => true
    case Some(Decision.Staged)    =>
      work.inputs.forall(i => visible.get(i.name).exists(i.isSame)) &&
      work.outputs.forall(o => isVisible(o.path) || isStaged(o))
    case _ => false
  }
}
