package org.sparkzorder.commit

/**
 * Folders of a table that somebody moved, renamed, swapped or copied while the staging or the trash
 * of an operation was in them: `mv p=1 p=9`, `ALTER TABLE .. PARTITION .. RENAME`, `cp -r p=1 p=3`.
 * A recovery finishes or undoes the operation there, as in the folders that the record names.
 */
private[commit] object StrayFolders {

  /**
   * A record with the folders in which its files are now.
   *
   * @param moved folders that hold what the original record has in another folder
   */
  final case class Followed(record: Record, moved: Set[String])

  /**
   * Looks for the operation's files in the record's folders, and in all other folders of the table.
   * It walks through them, which only a recovery can afford.
   *
   * A folder of the record may be found nowhere, while another one has its name now. Then nobody
   * can tell where it went, and the record stays as it is: both folders are unclear.
   *
   * @param withoutLost whether to follow the others nevertheless, as if that folder was deleted
   */
  def followed(folder: TableFolder, record: Record, withoutLost: Boolean = false): Followed = {
    val origins = new FolderOrigins(folder, record)
    val named = record.folders.map(_.folder).toSet
    val others = SideFolders.below(folder, path => folder.ops.realPath(path).toUri.getPath)
      .filter(_.obstacle.isEmpty).flatMap(_.folder).filterNot(named)
    val found = WorkerThreads.map(record.folders.map(_.folder) ++ others, folder.threads) { dir =>
      if (origins.holds(dir)) origins.of(dir).map(dir -> _) else None
    }.flatten
    val moved = found.filter { case (dir, work) => work.folder != dir }
    val taken = moved.map(_._1).toSet.intersect(named)
    val lost = taken -- found.map(_._2.folder)
    if (moved.isEmpty || lost.nonEmpty && !withoutLost) Followed(record, Set.empty)
    else Followed(
      relocated(record, moved, taken ++ moved.map(_._2.folder).filterNot(origins.isLeft)),
      moved.map(_._1).toSet
    )
  }

  /** @param gone folders of the record that are not where it says */
  private def relocated(record: Record, moved: Seq[(String, FolderWork)], gone: Set[String]): Record = {
    val works = moved.map { case (dir, work) => relocated(work, dir) }
    record.copy(
      inputs = record.inputs.filterNot(i => gone(i.folder)) ++ works.flatMap(_.inputs),
      outputs = record.outputs.filterNot(o => gone(o.folder)) ++ works.flatMap(_.outputs),
      bystanders = (record.bystanders -- gone) ++
        moved.flatMap { case (dir, work) => record.bystanders.get(work.folder).map(dir -> _) }
    )
  }

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
