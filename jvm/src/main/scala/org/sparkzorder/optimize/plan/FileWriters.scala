package org.sparkzorder.optimize.plan

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.log.{History, HistoryEntry}
import org.sparkzorder.compat._
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{DataFolder, RelativePath}

/**
 * Tells what the operations that wrote files were to do. The index says it. Of files that it does not have,
 * the newest records may.
 *
 * @param history newest first; read only as far as it is needed
 */
private[sparkzorder] final class FileWriters(
    names: RelativePath,
    snapshot: => Option[IndexSnapshot],
    history: => Iterator[HistoryEntry]
) {
  private lazy val index = snapshot

  def idOf(file: FileStatus): FileId = FileId(names.of(file.getPath), file.getLen, file.getModificationTime)

  /** The [[FileOrigin]] of each file. Files that OPTIMIZE did not write have none, nor those of which it is not known. */
  def originsOf(files: Seq[FileStatus]): Map[FileId, FileOrigin] = {
    val ids = files.map(idOf)
    val (known, others) =
      ids.partition(id => index.exists(_.ordinalOf(id.path, id.length, id.modificationTime) >= 0))
    (index.fold(Map.empty[FileId, String])(_.origins(known)) ++ FileOrigin.ofRecords(others, history))
      .flatMap { case (id, text) => FileOrigin.parse(text).map(id -> _) }
  }

  /** Whether a statement that asked for the same has seen these files, and no RESTORE came since: it left them as they are. */
  def wereLeft(files: Seq[FileStatus], asked: FileOrigin): Boolean = {
    val newest = files.map(_.getModificationTime).max
    def stands(entry: HistoryEntry): Boolean = !entry.isLine && newest <= entry.record.timestamp &&
      entry.record.operation != History.RestoreOperation && Set(History.Committed, History.Vacuumed)(entry.state)
    history.takeWhile(stands).exists(entry => FileOrigin.of(entry.record) == asked)
  }

  /**
   * The layout that all of some folders keep, since statements with a predicate gave it to them; None without any, or if
   * they keep several.
   */
  def layoutOf(folders: Seq[DataFolder]): Option[LayoutSpec] = {
    val some = folders.filter(_.files.nonEmpty)
    val origins = originsOf(some.flatMap(_.files))
    val kept = some.map(_.files.flatMap(f => origins.get(idOf(f))).filter(_.keepsFrom(None)).map(_.layout).toSet)
    Option.when(kept.nonEmpty && kept.forall(_ == kept.head) && kept.head.size == 1)(kept.head.head)
      .flatMap(LayoutSpec.parse)
  }
}
