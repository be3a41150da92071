package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * An operation that is not finished.
 *
 * @param record None when it cannot be read; `fault` says why
 * @param retired its inputs that are in the trash: there may be no other copy of their rows
 * @param published its outputs that are in the table
 * @param missing inputs and outputs that are nowhere
 * @param goesOn whether a recovery finishes it; otherwise it undoes it
 * @param unclear folders for which somebody has to choose first, see [[Choice]]
 */
final case class UnfinishedReport(
    file: RecordFile,
    record: Option[Record],
    fault: Option[String],
    retired: Seq[FileMeta],
    published: Int,
    missing: Int,
    goesOn: Boolean,
    unclear: Seq[UnclearFolder] = Nil
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
    otherTables: Seq[SideFolder]
) {

  /** Whether an owner that may live holds the lock. */
  def isLocked: Boolean = locks.exists(!_.isDead)

  /** Whether a recovery has something to do. */
  def needsRecovery: Boolean = !isLocked && (locks.nonEmpty || unfinished.nonEmpty)
}

object TableReport {

  /**
   * Looks at everything and changes nothing.
   *
   * @param realPath the path of a folder without links
   */
  def of(folder: TableFolder, settings: LockSettings, realPath: Path => String): TableReport = {
    val ops = folder.ops
    val statuses = ops.list(folder.side)
    val records = SideListing.records(statuses)
    val history = History.read(folder)
    val sides = SideFolders.below(folder, realPath)
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
      TableState.look(folder.root, ops) match {
        case state: TableState.SideFolder => state.version
        case TableState.NoSideFolder      => 0L
      },
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
      val survey = FileLocations.listed(folder, StrayFolders.followed(folder, record).record)
      def count(of: FolderLocations => Int) = survey.folders.map(of).sum
      UnfinishedReport(
        file,
        Some(record),
        None,
        survey.folders.flatMap(_.retired.values),
        count(f => f.work.outputs.count(o => f.inPlace.contains(o.path))),
        count { f =>
          f.work.inputs.count(i => !f.inPlace.contains(i.path) && !f.retired.contains(i.path)) +
            f.work.outputs.count(o => !f.inPlace.contains(o.path) && !f.staged.contains(o.path))
        },
        file.state == RecordState.Publishing && survey.canFinish,
        if (file.state == RecordState.Publishing) survey.unclear.map(_.describe) else Nil
      )
    } catch {
      case e: UnreadableRecordException => UnfinishedReport(file, None, Some(e.getMessage), Nil, 0, 0, goesOn = false)
      case _: java.io.FileNotFoundException =>
        UnfinishedReport(file, None, Some("it came to its end just now"), Nil, 0, 0, goesOn = false)
    }
}
