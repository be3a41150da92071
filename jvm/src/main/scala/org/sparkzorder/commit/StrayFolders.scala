package org.sparkzorder.commit

import java.io.IOException

import scala.annotation.tailrec

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
   * @param holding folders that hold something of the operation
   * @param found folders of the original record that were found, whatever their names are now
   */
  final case class Followed(record: Record, moved: Set[String], holding: Set[String], found: Set[String])

  /**
   * A record with the folders in which its files are now, and where they are there.
   *
   * @param moved as in [[Followed]]
   */
  final case class Located(record: Record, moved: Set[String], locations: FileLocations)

  private val Looks = 10
  private val PauseMillis = 1000L

  /**
   * Follows the folders and looks where the files are in them. Somebody may move folders at this
   * moment: so a folder that is found nowhere is looked for again, until two looks agree, and all is
   * done again if a folder is gone from where it was found.
   *
   * @param look looks where the files of a record are
   * @throws java.io.IOException when folders are moved again and again
   */
  def located(folder: TableFolder, record: Record, sleep: Long => Unit, withoutLost: Boolean = false)(
      look: Record => FileLocations
  ): Located = {
    @tailrec def again(left: Int): Located = {
      val now = settled(folder, record, sleep, withoutLost, Looks, None)
      val locations = look(now.record)
      val origins = new FolderOrigins(folder, now.record)
      val isStill = locations.folders.filter(f => now.holding(f.work.folder)).forall { f =>
        !f.isElsewhere && (!f.overwritten || origins.holds(f.work.folder))
      }
      // An unclear folder is reported as it is.
      if (isStill || now.moved.isEmpty && locations.folders.exists(_.origin.isDefined))
        Located(now.record, now.moved, locations)
      else if (left > 0) again(left - 1)
      else throw new IOException(s"folders of ${folder.root} are moved again and again")
    }
    again(Looks)
  }

  @tailrec private def settled(
      folder: TableFolder,
      record: Record,
      sleep: Long => Unit,
      withoutLost: Boolean,
      left: Int,
      before: Option[Followed]
  ): Followed = {
    val now = followed(folder, record, withoutLost)
    if (left == 0 || record.folders.forall(w => now.found(w.folder)) || before.contains(now)) now
    else {
      sleep(PauseMillis)
      settled(folder, record, sleep, withoutLost, left - 1, Some(now))
    }
  }

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
    def realPath(dir: String) = folder.ops.realPath(folder.resolve(dir)).toUri.getPath
    lazy val namedPaths = named.filter(dir => folder.ops.exists(folder.resolve(dir))).map(realPath)
    // Two names may lead to one folder.
    def isAlias(side: SideFolder) = side.obstacle.isDefined && side.folder.exists(dir => namedPaths(realPath(dir)))
    val others = SideFolders.below(folder, path => folder.ops.realPath(path).toUri.getPath)
      .filter(side => side.obstacle.forall(_ == SideFolders.IsLinked) && !isAlias(side))
      .flatMap(_.folder).filterNot(named)
    val found = WorkerThreads.map(record.folders.map(_.folder) ++ others, folder.threads) { dir =>
      if (origins.holds(dir)) origins.of(dir).map(dir -> _) else None
    }.flatten
    val moved = found.filter { case (dir, work) => work.folder != dir }
    val taken = moved.map(_._1).toSet.intersect(named)
    val lost = taken -- found.map(_._2.folder)
    val holding = found.map(_._1).toSet
    val origin = found.map(_._2.folder).toSet
    if (moved.isEmpty || lost.nonEmpty && !withoutLost) Followed(record, Set.empty, holding, origin)
    else {
      val gone = taken ++ moved.map(_._2.folder).filterNot(origins.isLeft)
      Followed(relocated(record, moved, gone), moved.map(_._1).toSet, holding, origin)
    }
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
