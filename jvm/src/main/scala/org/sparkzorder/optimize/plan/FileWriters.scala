package org.sparkzorder.optimize.plan

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.log.{HistoryEntry, HistorySettings}
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

  /** What the last operation that was to do the same left as it was, see [[FileSelection.left]]. */
  def leftBy(asked: FileOrigin): Option[String] =
    history.take(HistorySettings.Whole).map(_.record).find(FileOrigin.of(_) == asked)
      .flatMap(_.metrics.get(FileOrigin.LeftFilesHash))

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
