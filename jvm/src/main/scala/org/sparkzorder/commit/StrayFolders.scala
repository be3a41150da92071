package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * Folders of a table that somebody moved, renamed or copied while the staging or the trash of an
 * operation was in them: `mv p=1 p=9`, `ALTER TABLE .. PARTITION .. RENAME`, `cp -r p=1 p=3`. A
 * recovery finishes or undoes the operation there, as in the folders that the record names.
 */
private[commit] object StrayFolders {

  /**
   * The record with the folders in which its files are now. It walks through all folders of the
   * table, which only a recovery can afford.
   */
  def followed(folder: TableFolder, record: Record): Record = {
    val named = record.folders.map(_.folder).toSet
    val strays = for {
      side <- SideFolders.below(folder, path => folder.ops.realPath(path).toUri.getPath)
      dir <- side.folder
      if !named(dir) && side.obstacle.isEmpty && holds(folder, dir, record)
      work <- origin(folder, dir, record)
    } yield dir -> work
    if (strays.isEmpty) record
    else {
      val gone = strays.map(_._2.folder).distinct.filterNot(dir => folder.ops.exists(folder.resolve(dir))).toSet
      val moved = strays.map { case (dir, work) => relocated(work, dir) }
      record.copy(
        inputs = record.inputs.filterNot(i => gone(i.folder)) ++ moved.flatMap(_.inputs),
        outputs = record.outputs.filterNot(o => gone(o.folder)) ++ moved.flatMap(_.outputs),
        bystanders = record.bystanders ++
          strays.flatMap { case (dir, work) => record.bystanders.get(work.folder).map(dir -> _) }
      )
    }
  }

  /** The same, but it walks only if a folder of the record is not where it was. */
  def followedIfMoved(folder: TableFolder, record: Record): Record =
    if (record.folders.forall(w => folder.ops.exists(folder.resolve(w.folder)))) record else followed(folder, record)

  // Both have the operation's id in their names, except for the trash of the first format.
  private def holds(folder: TableFolder, dir: String, record: Record): Boolean =
    folder.ops.exists(folder.stagingOf(dir, record)) ||
      TableFolder.trashName(record).contains(record.operationId) && folder.ops.exists(folder.trashOf(dir, record))

  /** The folder of the record that became this one: the one that has most files here. */
  private def origin(folder: TableFolder, dir: String, record: Record): Option[FolderWork] = {
    def names(in: Path) = folder.ops.list(in).filterNot(_.isDirectory).map(_.name).toSet
    val visible = names(folder.resolve(dir))
    val staged = names(folder.stagingOf(dir, record))
    val retired = names(folder.trashOf(dir, record))
    def found(work: FolderWork): Int = {
      val there = relocated(work, dir)
      there.outputs.count(o => visible(FileNames.name(o.path)) || staged(stagedName(folder, o, record))) +
        there.inputs.count(i => visible(FileNames.name(i.path)) || retired(FileNames.retiredName(i.path)))
    }
    val candidates = record.folders.map(w => w -> found(w)).filter(_._2 > 0)
    if (candidates.isEmpty) None
    // Several folders may have files of the same names. Then it is the one that is gone.
    else
      Some(candidates.maxBy { case (w, n) =>
        (n, if (folder.ops.exists(folder.resolve(w.folder))) 0 else 1)
      }._1)
  }

  private def stagedName(folder: TableFolder, output: OutputFile, record: Record): String =
    folder.staged(output.path, record).getName

  private def relocated(work: FolderWork, dir: String): FolderWork = {
    def here(path: String): String = {
      val name = if (work.folder.isEmpty) path else path.stripPrefix(s"${work.folder}/")
      FileNames.in(dir, name)
    }
    FolderWork(
      dir,
      work.inputs.map(i => i.copy(path = here(i.path))),
      work.outputs.map(o => o.copy(path = here(o.path), source = o.source.map(here)))
    )
  }
}
