package org.sparkzorder.commit

/** Why a table cannot go back to a version. */
sealed trait RestoreObstacle
object RestoreObstacle {

  /** Files that would go to the trash are not as the operation left them: what others did there since would be lost. */
  case object Changed extends RestoreObstacle

  /** Retired files are not kept any more. */
  case object Gone extends RestoreObstacle

  /** Somebody has written files of the names that would come back. */
  case object Taken extends RestoreObstacle
}

/** Finds what RESTORE has to exchange. The exchange itself is [[Committer]]'s, as that of any operation. */
object Restore {

  /**
   * Looks at every file that is to be moved. Needs the lock.
   *
   * @param version to go back to; 0 is the table before its first operation
   * @throws VersionNotFoundException when there is no such version
   * @throws NotRestorableException when the files do not allow it
   * @throws UnreadableRecordException when a record since is damaged
   */
  def plan(folder: TableFolder, lock: Lock, version: Long): RestorePlan = {
    val files = TableFolder.records(lock.listing()).filter(_.state.isPublished)
    val current = files.headOption.fold(0L)(_.version)
    if (version < 0 || version > current) throw new VersionNotFoundException(version, current)
    val since = files.takeWhile(_.version > version)
    val plan = RestorePlan.of(folder, since.map(RecordJson.read(folder, _)))
    def refuse(obstacle: RestoreObstacle, paths: Seq[String]): Unit =
      if (paths.nonEmpty) throw new NotRestorableException(version, obstacle, paths)
    refuse(RestoreObstacle.Changed, changed(folder, plan))
    val vacuumed = since.filter(_.state == RecordState.Vacuumed).map(_.version).toSet
    refuse(RestoreObstacle.Gone, gone(folder, plan, vacuumed))
    refuse(RestoreObstacle.Taken, taken(folder, plan))
    if (plan.inputs.map(_.rows).sum != plan.outputs.map(_.rows).sum)
      throw new UnreadableRecordException(since.head.meta.path, "its rows are not those of the records before it")
    plan
  }

  private def changed(folder: TableFolder, plan: RestorePlan): Seq[String] =
    plan.inputs.groupBy(_.folder).toSeq.flatMap { case (dir, inputs) =>
      val there = listed(folder, dir)
      inputs.filterNot(i => there.get(TableFolder.name(i.path)).exists(i.isSame)).map(_.path)
    }.sorted

  private def gone(folder: TableFolder, plan: RestorePlan, vacuumed: Set[Long]): Seq[String] =
    plan.outputs.groupBy(o => TableFolder.parent(o.source.get)).toSeq.flatMap { case (trash, outputs) =>
      val there =
        if (TableFolder.trashVersion(TableFolder.name(trash)).exists(vacuumed)) Map.empty[String, FileMeta]
        else listed(folder, trash)
      outputs.filterNot(o => there.get(TableFolder.name(o.source.get)).exists(o.isSame)).map(_.path)
    }.sorted

  private def taken(folder: TableFolder, plan: RestorePlan): Seq[String] =
    plan.outputs.groupBy(_.folder).toSeq.flatMap { case (dir, outputs) =>
      val there = listed(folder, dir)
      outputs.map(_.path).filter(p => there.contains(TableFolder.name(p)))
    }.sorted

  private def listed(folder: TableFolder, dir: String): Map[String, FileMeta] =
    folder.ops.list(folder.resolve(dir)).map(m => m.name -> m).toMap
}
