package org.sparkzorder.commit

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

/** Where all files of a record are. */
private[commit] final case class FileLocations(folders: Seq[FolderLocations]) {
  private val finishable = folders.forall(f => f.overwritten || f.absent || f.canFinish)

  /** Folders in which somebody has to choose. */
  val unclear: Seq[FolderLocations] = folders.filter(f => f.isUnclear || !finishable && f.onlyForward)

  /** Folders in which recovery may move files. */
  val ours: Seq[FolderLocations] = folders.filter(_.isOurs).diff(unclear)

  /** The same once somebody chose that what is visible in these folders is right. */
  def leaving(dirs: Set[String]): FileLocations = FileLocations(folders.map(f => if (dirs(f.work.folder)) f.copy(left = true) else f))

  /** Whether the way is forward; else what was done is to be undone. */
  def canFinish: Boolean = unclear.isEmpty && folders.exists(_.isThere) && finishable
}

private[commit] object FileLocations {

  /**
   * For who is going to move files: looks at each file by itself, since a listing may not show yet what we have just
   * moved ourselves.
   */
  def of(folder: TableFolder, record: Record): FileLocations =
    FileLocations(timed(WorkerThreads.map(record.folders, folder.threads)(inFolder(folder, record, _))))

  /** The same when somebody may be about to delete files: until two looks agree, a second apart, if any is missing. */
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

  private def inFolder(folder: TableFolder, record: Record, work: FolderWork): FolderLocations = {
    def found(names: Seq[String])(place: String => Path): Map[String, FileMeta] =
      names.flatMap(name => folder.ops.status(place(name)).filterNot(_.isDirectory).map(name -> _)).toMap
    val (inputs, outputs) = (work.inputs.map(_.path), work.outputs.map(_.path))
    val listed = files(work.folder, folder.ops.list(folder.resolve(work.folder)))
    val traces = hasTraces(folder, work.folder, record)
    FolderLocations(
      work,
      traces,
      traces || folder.ops.exists(folder.resolve(work.folder)),
      found(inputs ++ outputs)(folder.resolve),
      found(inputs)(folder.retired(_, record)),
      found(outputs)(folder.staged(_, record)),
      others(work, listed),
      record.bystanders.getOrElse(work.folder, Nil),
      batches = folder.batches
    )
  }

  /** For who only reads: by a listing of each folder. What it lacks is looked for by its name: it may be on its way. */
  def listed(folder: TableFolder, record: Record): FileLocations =
    FileLocations(timed(WorkerThreads.map(record.folders, folder.threads)(listedFolder(folder, record, _))))

  private def listedFolder(folder: TableFolder, record: Record, work: FolderWork): FolderLocations = {
    val staging = folder.stagingOf(work.folder, record)
    val (inputs, outputs) = (work.inputs.map(_.path), work.outputs.map(_.path))
    def found(names: Seq[String], dir: Path)(place: String => Path): Map[String, FileMeta] = {
      val byName = folder.ops.list(dir).filterNot(_.isDirectory).map(m => m.name -> m).toMap
      names.flatMap(name => byName.get(place(name).getName).map(name -> _)).toMap
    }
    val staged = found(outputs, staging)(folder.staged(_, record))
    val inPlace = files(work.folder, folder.ops.list(folder.resolve(work.folder)))
    val retired = found(inputs, folder.trashOf(work.folder, record))(folder.retired(_, record))
    def look(names: Seq[String], listed: Map[String, FileMeta])(place: String => Path): Map[String, FileMeta] =
      listed ++ names.filterNot(listed.contains).flatMap(name => folder.ops.status(place(name)).map(name -> _))
    val lostOutputs = outputs.filterNot(p => staged.contains(p) || inPlace.contains(p))
    val lostInputs = inputs.filterNot(p => inPlace.contains(p) || retired.contains(p))
    val foundRetired = look(lostInputs, retired)(folder.retired(_, record))
    val foundStaged = look(lostOutputs, staged)(folder.staged(_, record))
    val lost = lostOutputs.filterNot(foundStaged.contains) ++ lostInputs.filterNot(foundRetired.contains)
    val names = (inputs ++ outputs).toSet
    val traces = hasTraces(folder, work.folder, record)
    FolderLocations(
      work,
      traces,
      traces || folder.ops.exists(folder.resolve(work.folder)),
      look(lost, inPlace.filter(f => names(f._1)))(folder.resolve),
      foundRetired,
      foundStaged,
      others(work, inPlace),
      record.bystanders.getOrElse(work.folder, Nil),
      batches = folder.batches
    )
  }

  private def others(work: FolderWork, listed: Map[String, FileMeta]): Seq[FileMeta] = {
    val own = (work.inputs.map(_.path) ++ work.outputs.map(_.path)).toSet
    listed.toSeq.collect { case (path, meta) if !own(path) && FileNames.isData(meta.name) => meta }.sortBy(_.name)
  }

  private def files(dir: String, metas: Seq[FileMeta]): Map[String, FileMeta] =
    metas.filterNot(_.isDirectory).map(m => (if (dir.isEmpty) m.name else s"$dir/${m.name}") -> m).toMap

  /**
   * Whether time stamps count. In a folder that was copied no file has the time that it had, or all have it cut to whole
   * seconds; then names, places and lengths tell the files. One folder may be a copy while the others are not.
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

  /** A task that comes late may make its staging anew. The trash is made by nobody but [[Committer]], before the commit point. */
  def hasTraces(folder: TableFolder, dir: String, record: Record): Boolean =
    folder.ops.exists(folder.stagingOf(dir, record)) && folder.ops.exists(folder.trashOf(dir, record))
}
