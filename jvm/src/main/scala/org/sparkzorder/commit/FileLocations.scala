package org.sparkzorder.commit

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

/** Where all files of a record are. */
private[commit] final case class FileLocations(folders: Seq[FolderLocations]) {
  private val finishable = folders.forall(f => f.overwritten || f.absent || f.canFinish)

  /** Folders for which somebody has to choose, see [[Choice]]. */
  val unclear: Seq[FolderLocations] = folders.filter(f => f.isUnclear || !finishable && f.onlyForward)

  /** Folders in which recovery may move files. */
  val ours: Seq[FolderLocations] = folders.filter(_.isOurs).diff(unclear)

  /** The same once somebody has chosen that the visible files of these folders are right. */
  def leaving(dirs: Set[String]): FileLocations =
    FileLocations(folders.map(f => if (dirs(f.work.folder)) f.copy(left = true) else f))

  /** Whether a recovery finishes the operation; otherwise it undoes it. */
  def canFinish: Boolean = unclear.isEmpty && folders.exists(_.isThere) && finishable
}

private[commit] object FileLocations {

  /**
   * For a caller that is going to move files. Each file is looked up by name, since a listing may
   * not show yet what we have just moved.
   */
  def of(folder: TableFolder, record: Record): FileLocations =
    judged(folder, record, WorkerThreads.map(record.folders, folder.threads)(inFolder(folder, record, _)))

  /**
   * The same, but while any file is missing it looks again, until two looks a second apart agree:
   * somebody may be deleting.
   */
  def steady(folder: TableFolder, record: Record, sleep: Long => Unit): FileLocations = {
    @tailrec def again(before: FileLocations, left: Int): FileLocations =
      if (left == 0 || before.folders.forall(f => f.overwritten || f.absent || f.missing.isEmpty)) before
      else {
        sleep(PauseMillis)
        val now = of(folder, record)
        if (now == before) now else again(now, left - 1)
      }
    again(of(folder, record), Looks)
  }

  private val Looks = 30
  private val PauseMillis = 1000L

  private def judged(folder: TableFolder, record: Record, folders: Seq[FolderLocations]): FileLocations = {
    lazy val origins = new FolderOrigins(folder, record)
    FileLocations(timed(folders).map { f =>
      // As long as all files are there, it is the right folder.
      if (!f.hasOwnFolders || f.missing.isEmpty) f
      else f.copy(origin = origins.of(f.work.folder).map(_.folder).filter(_ != f.work.folder))
    })
  }

  private def inFolder(folder: TableFolder, record: Record, work: FolderWork): FolderLocations = {
    def found(names: Seq[String])(place: String => Path): Map[String, FileMeta] =
      names.flatMap(name => folder.ops.status(place(name)).filterNot(_.isDirectory).map(name -> _)).toMap
    val (inputs, outputs) = (work.inputs.map(_.path), work.outputs.map(_.path))
    val listed = files(work.folder, folder.ops.list(folder.resolve(work.folder)))
    val hasFolders = hasOwnFolders(folder, work.folder, record)
    FolderLocations(
      work,
      hasOwnFolders = hasFolders,
      exists = hasFolders || folder.ops.exists(folder.resolve(work.folder)),
      inPlace = found(inputs ++ outputs)(folder.resolve),
      retired = found(inputs)(folder.retired(_, record)),
      staged = found(outputs)(folder.staged(_, record)),
      others = others(work, listed),
      bystanders = record.bystanders.getOrElse(work.folder, Nil),
      batches = folder.batches
    )
  }

  /**
   * For a caller that only reads: one listing of each folder. A file that the listings lack may be
   * on its way, so it is looked up by name.
   */
  def listed(folder: TableFolder, record: Record): FileLocations =
    judged(folder, record, WorkerThreads.map(record.folders, folder.threads)(listedFolder(folder, record, _)))

  private def listedFolder(folder: TableFolder, record: Record, work: FolderWork): FolderLocations = {
    val (inputs, outputs) = (work.inputs.map(_.path), work.outputs.map(_.path))
    def found(names: Seq[String], dir: Path)(place: String => Path): Map[String, FileMeta] = {
      val byName = folder.ops.list(dir).filterNot(_.isDirectory).map(m => m.name -> m).toMap
      names.flatMap(name => byName.get(place(name).getName).map(name -> _)).toMap
    }
    def byName(names: Seq[String])(place: String => Path): Map[String, FileMeta] =
      names.flatMap(name => folder.ops.status(place(name)).map(name -> _)).toMap
    // A file moves from staging to its place, or from its place to the trash. Listed in this order,
    // it is seen on its way.
    val listedStaged = found(outputs, folder.stagingOf(work.folder, record))(folder.staged(_, record))
    val listedInPlace = files(work.folder, folder.ops.list(folder.resolve(work.folder)))
    val listedRetired = found(inputs, folder.trashOf(work.folder, record))(folder.retired(_, record))
    val lostOutputs = outputs.filterNot(p => listedStaged.contains(p) || listedInPlace.contains(p))
    val lostInputs = inputs.filterNot(p => listedInPlace.contains(p) || listedRetired.contains(p))
    val retired = listedRetired ++ byName(lostInputs)(folder.retired(_, record))
    val staged = listedStaged ++ byName(lostOutputs)(folder.staged(_, record))
    val stillLost = lostOutputs.filterNot(staged.contains) ++ lostInputs.filterNot(retired.contains)
    val ownNames = (inputs ++ outputs).toSet
    val hasFolders = hasOwnFolders(folder, work.folder, record)
    FolderLocations(
      work,
      hasOwnFolders = hasFolders,
      exists = hasFolders || folder.ops.exists(folder.resolve(work.folder)),
      inPlace = listedInPlace.filter(f => ownNames(f._1)) ++ byName(stillLost)(folder.resolve),
      retired = retired,
      staged = staged,
      others = others(work, listedInPlace),
      bystanders = record.bystanders.getOrElse(work.folder, Nil),
      batches = folder.batches
    )
  }

  private def others(work: FolderWork, listed: Map[String, FileMeta]): Seq[FileMeta] = {
    val own = (work.inputs.map(_.path) ++ work.outputs.map(_.path)).toSet
    listed.toSeq.collect { case (path, meta) if !own(path) && FileNames.isData(meta.name) => meta }.sortBy(_.name)
  }

  /** The files among these, by relative name. */
  private def files(dir: String, metas: Seq[FileMeta]): Map[String, FileMeta] =
    metas.filterNot(_.isDirectory).map(m => FileNames.in(dir, m.name) -> m).toMap

  /**
   * Decides for each folder whether time stamps count. In a copied folder no file has the time that
   * the record says, or all have it cut to whole seconds. Then names, places and lengths identify
   * the files. One folder may be a copy while the others are not.
   */
  private def timed(folders: Seq[FolderLocations]): Seq[FolderLocations] = folders.map { f =>
    val files =
      f.work.inputs.flatMap(i => (f.inPlace.get(i.path) ++ f.retired.get(i.path)).map(i.modificationTime -> _)) ++
        f.work.outputs.flatMap(o => (f.inPlace.get(o.path) ++ f.staged.get(o.path)).map(o.modificationTime -> _))
    val times = files.map { case (recorded, meta) => recorded -> meta.modificationTime }
    val none = times.forall { case (recorded, found) => found != recorded }
    val cut = times.exists(_._1 % 1000 != 0) &&
      times.forall { case (recorded, found) => found == recorded - recorded % 1000 }
    if (times.nonEmpty && (none || cut)) f.copy(timed = false) else f
  }

  /**
   * Whether the operation's staging and its trash are in the folder. A late task may make the
   * staging anew, but only [[Committer]] makes the trash, before the commit point.
   */
  def hasOwnFolders(folder: TableFolder, dir: String, record: Record): Boolean =
    folder.ops.exists(folder.stagingOf(dir, record)) && folder.ops.exists(folder.trashOf(dir, record))
}
