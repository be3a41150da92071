package org.sparkzorder.commit.place

import java.io.{FileNotFoundException, IOException}

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.progress.{Phase, StatementProgress}

/**
 * A folder on a disk or HDFS, see `docs/design/commit.md`. Outputs wait in its staging, and
 * inputs go to its trash. A place that is brought back loses both folders, and a rename makes none. Before
 * each move the marker is looked at. So a process that was taken for dead moves nothing when it wakes up.
 *
 * @param work what happens here, by the paths that the files have now
 * @param origin the folder that the record names
 * @param timed whether times tell files apart; they do not in a copy
 * @param isOwn whether this process has decided all that was decided here, and moved all files
 * @param holds whether this process still has the table's lock
 */
private[commit] final class FolderPlace(
    folder: TableFolder,
    record: Record,
    work: FolderWork,
    origin: String,
    timed: Boolean,
    isOwn: Boolean,
    holds: () => Boolean,
    threads: Int
) extends Place {
  import FolderPlace._

  private def ops = folder.ops
  private val mark = FolderMark(folder, work.folder, origin, record.operationId)
  private def staging = folder.stagingOf(work.folder, record.operationId)
  private val trash = folder.trashOf(work.folder, record)
  private val last = new LastSeen

  private def staged(o: OutputFile): Path = FileNames.child(staging, FileNames.stagedName(o.path))
  private def retired(i: InputFile): Path = folder.retiredIn(trash, i.path)

  override def decision(): Option[Decision] = {
    val now = mark.decision()
    if (now.isDefined) last.decision = now
    now
  }

  override def decide(from: Decision, to: Decision): Boolean = {
    val isDecided = mark.decide(from, to)
    if (isDecided) last.decision = Some(to)
    isDecided
  }

  override def release(): Boolean = mark.remove()

  /**
   * Whether the marker still says so, so that a file may be moved. A process that was taken for dead may
   * wake up when others have ended the operation, and RESTORE has brought its inputs back. If the marker was
   * deleted alone, the lock must be ours. Many threads come at once, and one look does for all of them.
   */
  private def mayMove(as: Option[Decision]): Boolean =
    threads > 1 && System.nanoTime() - last.look < Place.LookNanos || {
      val before = System.nanoTime()
      val isSo = as.fold(holds() && mark.decision().isEmpty)(d => ops.exists(mark.path(d)))
      if (isSo) last.look = before
      isSo
    }

  private def lookAnew(): Unit = last.look = System.nanoTime() - Place.LookNanos

  /** If others changed the inputs before, no new file becomes visible. */
  override def reveal(): Unit = if (changed(listed()).isEmpty && hasFolder(staging, Some(Decision.Staged)))
    WorkerThreads.each(work.outputs, threads) { o =>
      if (mayMove(Some(Decision.Staged))) {
        o.source.map(folder.resolve).foreach(moveIfOurs(o, _, staged(o)))
        move(staged(o), folder.resolve(o.path))
        countMove()
      }
    }

  /**
   * Makes our folder anew if it was removed as an empty one. False when it was removed because the
   * operation has ended here.
   */
  private def hasFolder(dir: Path, as: Option[Decision]): Boolean = ops.exists(dir) || mayMove(as) && {
    ops.remakeInSide(dir)
    lookAnew()
    val isOurs = mayMove(as)
    if (!isOurs) ops.deleteEmpty(dir)
    isOurs
  }

  private def move(from: Path, to: Path): Unit =
    try ops.rename(from, to)
    catch { case e: IOException => if (ops.exists(from) && !ops.exists(to)) throw e }

  /** In this moment another folder may have got the place's name, with another file of this name. */
  private def moveIfOurs(o: OutputFile, from: Path, to: Path): Unit = {
    move(from, to)
    if (ops.status(to).exists(!isOutput(o, _))) move(to, from)
  }

  override def obstacle(): Option[Obstacle] = {
    val now = listed()
    refuseTorn(now)
    val missing = work.outputs.filterNot(o => at(now, o.path).exists(isThere(o, _))).map(_.path)
    (changed(now) :+ Obstacle("others deleted these new files, or have taken their names", missing))
      .find(_.files.nonEmpty)
  }

  private def changed(now: Map[String, FileMeta]): Seq[Obstacle] =
    Place.changed(work, i => at(now, i.path).exists(isInput(i, _)), at(now, _).isDefined)

  private def isInput(i: InputFile, found: FileMeta): Boolean = i.isThis(found, timed)

  /** Names of new files are never given again. A file that RESTORE brings back has an older name. */
  private def isOutput(o: OutputFile, found: FileMeta): Boolean = o.isThis(found, timed && o.source.isDefined)

  /** The same, if no program has rewritten it. */
  private def isOurs(o: OutputFile, found: FileMeta): Boolean = o.isThis(found, timed)

  /**
   * Who writes under the name of a new file that was visible has read it, so its rows are there. A file that RESTORE
   * brings back has an older name.
   */
  private def isThere(o: OutputFile, found: FileMeta): Boolean = {
    def isRewritten = timed && o.source.isEmpty && !found.isDirectory && !ops.exists(staged(o))
    isOutput(o, found) || isRewritten
  }

  private def listed(): Map[String, FileMeta] = {
    val before = System.nanoTime()
    val found = ops.list(folder.resolve(work.folder)).map(m => FileNames.in(work.folder, m.name) -> m).toMap
    last.listMillis = (System.nanoTime() - before) / 1000000
    found
  }

  /**
   * Comes between files that came and files that go. A listing is no snapshot: a reader's may have begun before the
   * first came, and it should end before the first goes.
   */
  private def letListingsEnd(): Unit = {
    if (last.listMillis < 0) listed()
    Place.letListingsEnd(last.listMillis)
  }

  /** A listing may be late, so what it lacks is looked up by name. */
  private def at(listed: Map[String, FileMeta], path: String): Option[FileMeta] =
    listed.get(path).orElse(ops.status(folder.resolve(path)))

  private def hasOutputs(listed: Map[String, FileMeta]): Boolean =
    work.outputs.forall(o => at(listed, o.path).exists(isThere(o, _)))

  /** No inputs prove nothing. RESTORE has none where others have deleted all files. */
  private def hasInputs(listed: Map[String, FileMeta]): Boolean =
    work.inputs.nonEmpty && work.inputs.forall(i => at(listed, i.path).exists(isInput(i, _)))

  /**
   * As long as all inputs are in their places they are the rows, as in a backup that was put back. Later a new file that
   * was deleted stays deleted, as on any other day.
   */
  override def lacksOutputs(): Boolean = !isOwn && work.inputs.nonEmpty && {
    val now = listed()
    !hasOutputs(now) && hasInputs(now)
  }

  override def retire(as: Option[Decision]): Option[Seq[String]] = {
    last.wasEmptied = !isOwn && !ops.exists(trash)
    letListingsEnd()
    retireAll(as, MostLooks)
  }

  /** @param left how often to begin again, if the marker was away with the folder and is back */
  @tailrec private def retireAll(as: Option[Decision], left: Int): Option[Seq[String]] = {
    val hasTrash = hasFolder(trash, as)
    val now = listed()
    // The folder may have been away, and then the listing tells nothing.
    lookAnew()
    val results = WorkerThreads.map(work.inputs, threads) { i =>
      val isRetired = if (hasTrash && mayMove(as)) retire(i, now.get(i.path)) else None
      countMove()
      i.path -> isRetired
    }
    if (results.forall(_._2.isDefined)) Some(results.collect { case (path, Some(false)) => path })
    else if (decision() != as) None
    else if (left > 0) retireAll(as, left - 1)
    else if (as.isEmpty && !work.inputs.exists(i => at(now, i.path).exists(isInput(i, _)))) Some(Nil)
    else throw Place.isNotCleared(folder, record, work)
  }

  /**
   * False when the input was deleted or replaced by others. If another process began, an input that is
   * nowhere counts as retired: the trash may have been emptied, and then the outputs have the only rows.
   * None when it was listed and is nowhere now: the folder may have been away for a moment.
   */
  private def retire(input: InputFile, found: Option[FileMeta]): Option[Boolean] = {
    val (place, target) = (folder.resolve(input.path), retired(input))
    def isThere = ops.status(place).exists(isInput(input, _))
    if (found.exists(isInput(input, _)) || isThere)
      try ops.rename(place, target)
      catch {
        // A copy may have it in both places. Without times it may also be another file of this name and length.
        case _: IOException if timed && isRetired(input) && isThere => ops.delete(place)
        case e: IOException                                         => if (isThere) throw e
      }
    val arrived = ops.status(target)
    // The file may have been replaced in this moment, or the folder swapped for another one.
    if (arrived.exists(!isInput(input, _)) && decision().isDefined) {
      move(target, place)
      if (decision().isEmpty) move(place, target)
      else if (ops.status(target) == arrived)
        move(target, folder.resolve(FileNames.otherName(input.path, record.operationId)))
    }
    val isNowhere = arrived.isEmpty && !ops.exists(place)
    if (isNowhere && found.exists(isInput(input, _))) None
    else Some(arrived.fold(!isOwn && isNowhere)(isInput(input, _)))
  }

  private def isRetired(i: InputFile): Boolean = ops.status(retired(i)).exists(isInput(i, _))

  override def canReturn(changed: Seq[String]): Boolean = {
    val now = listed()
    val others = work.inputs.filterNot(i => changed.contains(i.path))
    // A name that was taken is free no more.
    def isFree(i: InputFile) = at(now, i.path).fold(isRetired(i))(isInput(i, _))
    // Without a trash nothing tells whether the inputs were retired, and the new files may have the only rows.
    others.forall(isFree) && (if (others.isEmpty) !last.wasEmptied else hasOutputs(now))
  }

  override def isLeft(): Boolean = {
    val now = listed()
    work.outputs.nonEmpty && hasOutputs(now) && !hasInputs(now) && !isOverwritten
  }

  /**
   * The folder was deleted with its marker. This process saw that the inputs were the rows for good, or that nothing was
   * decided, and no other can have decided.
   */
  private def isOverwritten: Boolean =
    last.decision.contains(Decision.RolledBack) || last.decision.contains(Decision.Staged) && holds()

  override def isOthers(): Boolean = {
    val marks = ops.list(folder.sideOf(work.folder)).flatMap(m => FolderMark.operation(m.name))
    marks.nonEmpty && !marks.contains(record.operationId)
  }

  // New files appear by a rename of files that an overwrite deletes.
  override def isUnclear(): Boolean = false

  override def rows(decided: Decision): Seq[AddedFile] = {
    val now = listed()
    val side = outlook(decided, now)
    if (side != Decision.Exchanged) refuseTorn(now)
    def found(path: String) = at(now, path).filterNot(_.isDirectory)
    def added(path: String, meta: Option[FileMeta]) = meta.map(AddedFile(_, path))
    // A file that came to the trash in place of an input will go back.
    def trashed(i: InputFile) = ops.status(retired(i))
    val files =
      if (side == Decision.Exchanged)
        work.outputs.flatMap(o => added(o.path, found(o.path))) ++
          work.inputs.flatMap(i => (found(i.path) ++ trashed(i)).filterNot(isInput(i, _)).map(AddedFile(_, i.path)))
      else
        work.outputs.flatMap(o => added(o.path, found(o.path).filterNot(isOurs(o, _)))) ++
          work.inputs.flatMap { i =>
            // Others may have taken its name. Then it comes back by another one.
            val there = found(i.path)
            val back = if (there.exists(isInput(i, _))) None else trashed(i).filter(there.isEmpty || isInput(i, _))
            (there ++ back).map(AddedFile(_, i.path))
          }
    // Without a marker only the outputs are asked for, see isLeft.
    if (decision().exists(_ != decided)) throw new FileNotFoundException(s"'${work.folder}' was decided just now")
    files
  }

  /**
   * The decision to which [[Settle]] will come if files stay as they are: an exchange is taken back if others
   * replaced its inputs, or if a copy lacks new files.
   */
  private def outlook(decided: Decision, now: Map[String, FileMeta]): Decision = {
    lazy val trashed = ops.list(trash).map(m => m.name -> m).toMap
    lazy val replaced = work.inputs.filter { i =>
      val before = trashed.get(FileNames.retiredName(i.path))
      now.get(i.path).orElse(before).exists(!isInput(i, _)) && !before.exists(isInput(i, _))
    }.map(_.path)
    def isTakenBack = lacksOutputs() || replaced.nonEmpty && canReturn(replaced)
    // Others have rewritten a new file before anything was decided.
    def isAdopted = hasOutputs(now) && hasInputs(now) && work.outputs.exists(o => at(now, o.path).exists(!isOurs(o, _)))
    if (decided == Decision.Exchanged && isTakenBack) Decision.RolledBack
    else if (decided == Decision.Staged && isAdopted) Decision.Exchanged
    else decided
  }

  override def taken(): Set[String] = {
    val now = listed()
    work.outputs.filter(o => at(now, o.path).exists(!isOurs(o, _))).map(_.path).toSet
  }

  override def stayed(): Seq[String] = {
    val now = listed()
    def isElsewhere(o: OutputFile) = ops.exists(staged(o)) || o.source.exists(s => ops.exists(folder.resolve(s)))
    // A file of another length may be one that others wrote under a name that was free.
    def isChanged(o: OutputFile, m: FileMeta) = !m.isDirectory && !isOurs(o, m) && m.length == o.length
    work.outputs.filter(o => at(now, o.path).exists(isChanged(o, _)) && !isElsewhere(o)).map(_.path)
  }

  override def revealed(): Map[String, FileMeta] = {
    val now = listed()
    work.outputs.flatMap(o => at(now, o.path).filter(isOutput(o, _)).map(o.path -> _)).toMap
  }

  /**
   * Comes before the outputs go, so that no row is missing at any moment. An input whose name others have
   * taken comes back by another name.
   */
  override def bringBack(): Unit = {
    val as = Some(Decision.RolledBack)
    emptied(ops, trash) {
      WorkerThreads.each(work.inputs, threads) { i =>
        if (ops.exists(retired(i)) && mayMove(as)) {
          val place = folder.resolve(i.path)
          val isFree = !ops.exists(place)
          val back = if (isFree) place else folder.resolve(FileNames.otherName(i.path, record.operationId))
          move(retired(i), back)
          // A backup that was put back has it in both places. Looked at after the move, they are two files.
          if (!isFree && Seq(place, back).forall(ops.status(_).exists(isInput(i, _)))) ops.delete(back)
        }
      }
    }
  }

  override def drop(): Unit = {
    emptied(ops, staging) {
      WorkerThreads.each(work.outputs, threads) { o =>
        if (ops.exists(staged(o))) remove(o, staged(o))
      }
      // What failed attempts of tasks left. Folders may have been swapped.
      val ofOthers = record.outputs.map(o => FileNames.stagedName(o.path)).toSet
      ops.list(staging).filterNot(m => ofOthers(m.name)).foreach { m =>
        if (m.isDirectory) ops.deleteRecursive(m.path) else ops.delete(m.path)
      }
    }
    // Folders may be moved to and fro. Without a marker, new files may be the only ones with their rows.
    val was = decision()
    val isBack = was.contains(Decision.RolledBack)
    if (isBack) {
      // The folder may have been away when its inputs were to come back.
      if (work.inputs.exists(isRetired))
        throw new IOException(s"$trash holds files of the table, which cannot come back")
      refuseTorn(listed())
      letListingsEnd()
    }
    // If the lock is not ours any more, another process may have decided since.
    val areSpare = isBack || was.isEmpty && (hasInputs(listed()) || isOverwritten)
    if (areSpare) WorkerThreads.each(work.outputs, threads) { o =>
      val place = folder.resolve(o.path)
      if (ops.status(place).exists(isOurs(o, _)) && decision() == was) remove(o, place)
    }
  }

  /**
   * Whether new files may have the only rows, and nothing is decided that says so. A person may have deleted old files,
   * since he saw rows twice. A copy may have been made bit by bit, and may have got the path of its original.
   */
  def isTorn: Boolean = isTorn(listed())

  private def isTorn(now: Map[String, FileMeta]): Boolean = {
    def isGone(i: InputFile) = at(now, i.path).isEmpty && !isRetired(i)
    // The owner may have gone on since, and a VACUUM has emptied the trash.
    def isUndecided = decision().exists(_ != Decision.Exchanged)
    // What RESTORE took from a trash goes back there, and is not lost.
    !isOwn && work.inputs.exists(isGone) && isUndecided && work.outputs.exists(_.source.isEmpty) && hasOutputs(now)
  }

  private def refuseTorn(now: Map[String, FileMeta]): Unit =
    if (isTorn(now)) throw new FoldersUnclearException(folder.root, record.version, Seq(sides(FolderSides.OldGone)))

  def sides(why: String): FolderSides = {
    val now = listed()
    val old = work.inputs.count(i => at(now, i.path).exists(isInput(i, _)) || isRetired(i))
    val come = work.outputs.count(o => at(now, o.path).exists(isOutput(o, _)))
    FolderSides(work.folder, why, old, work.inputs.size, come, work.outputs.size)
  }

  /**
   * From now on the marker says what a person says.
   *
   * @throws java.io.IOException when neither side is whole
   */
  def keep(word: Keep): Unit = {
    val found = sides("No word helps")
    found.decision(word, hasNew = found.come == found.ofNew || isTorn)
      .foreach(to => decision().filter(_ != to).foreach(decide(_, to)))
  }

  /** What RESTORE took from a trash goes back there. It may have been removed as an empty folder. */
  private def remove(output: OutputFile, from: Path): Unit = output.source.map(folder.resolve) match {
    case None         => ops.delete(from)
    case Some(source) =>
      if (!ops.exists(source.getParent)) ops.remakeInSide(source.getParent)
      moveIfOurs(output, from, source)
  }

  override def isPublished(): Boolean = Place.isPublished(folder, record)

  /** Whether it is a copy: files of the operation are there, none has its time, and something is left to decide. */
  def isCopied: Boolean = {
    val now = listed()
    def named(dir: Path) = ops.list(dir).map(m => m.name -> m).toMap
    val (trashed, waiting) = (named(trash), named(staging))
    val inputs = work.inputs.flatMap { i =>
      (now.get(i.path) ++ trashed.get(FileNames.retiredName(i.path))).filter(i.isThis(_, timed = false)).map(i.isSame)
    }
    val outputs = work.outputs.flatMap { o =>
      (now.get(o.path) ++ waiting.get(FileNames.stagedName(o.path))).filter(o.isThis(_, timed = false)).map(o.isSame)
    }
    def isOver = outputs.isEmpty && trashed.isEmpty && decision().contains(Decision.RolledBack)
    (inputs ++ outputs).nonEmpty && !(inputs ++ outputs).contains(true) && !isOver
  }
}

private[commit] object FolderPlace {

  private def countMove(): Unit = StatementProgress.current.foreach(_.done(Phase.Moving, files = 1))

  /** How often to clear a folder into which another process may move files. */
  private val MostLooks = 5

  /** Clears a folder until it is gone. Files that cannot leave it stay. */
  def emptied(ops: FileOps, dir: Path, looks: Int = MostLooks)(clear: => Unit): Unit = {
    Iterator.fill(looks)(()).exists { _ =>
      clear
      ops.deleteEmpty(dir) || !ops.exists(dir)
    }
    ()
  }

  /** What a place has seen last. Its trash `wasEmptied` if it was gone when the inputs were to go there. */
  private final class LastSeen {
    @volatile var decision = Option.empty[Decision]
    @volatile var look: Long = System.nanoTime() - Place.LookNanos
    @volatile var listMillis: Long = -1L
    @volatile var wasEmptied = false
  }
}
