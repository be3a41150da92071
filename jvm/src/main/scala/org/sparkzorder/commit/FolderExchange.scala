package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import scala.collection.concurrent.TrieMap
import scala.collection.mutable

import org.apache.hadoop.fs.Path

import org.sparkzorder.progress.{Phase, StatementProgress}

/**
 * Exchanges one folder's files, forward or back. It looks where each file is and skips what is
 * done. So it may stop anywhere, and be run again.
 *
 * @param known files of the record that are among the data now
 * @param deleted outputs that were published and that somebody has deleted since: they are not
 *                published again
 * @param bystanders names of data files that were there at the beginning and are no files of the
 *                   record
 * @param timed whether time stamps tell files apart; they do not in a copy of a table
 * @param byChoice whether somebody has chosen to bring the files back, although we cannot tell what
 *                 is right
 * @param guard called before every rename; throws when we may no longer touch the table
 * @param threads how many files are moved at the same time
 */
private[commit] final class FolderExchange(
    folder: TableFolder,
    record: Record,
    val work: FolderWork,
    known: Seq[String],
    deleted: Seq[String],
    bystanders: Set[String],
    timed: Boolean,
    byChoice: Boolean,
    guard: () => Unit,
    sleep: Long => Unit,
    threads: Int
) {
  private val ops = folder.ops
  private val watch = new OverwriteWatch(folder, record, work, bystanders, timed, sleep)
  watch.knows(known)

  /** Somebody has overwritten the folder: it is left as he made it. */
  @volatile private var overwritten = false

  /** Somebody moved, deleted or replaced the whole folder. Nothing of ours is left to give up. */
  @volatile private var moved = false

  /**
   * Somebody changed one of our files here, and it was no overwrite. So the other files may return.
   */
  private var hasConflict = false

  /** We cannot tell what is right here: nothing is moved any more. */
  @volatile private var unclear = false

  /** Outputs that were published. */
  private val published = TrieMap.empty[String, Unit]

  /** Inputs that an undo has brought back. */
  private val returned = mutable.LinkedHashSet.empty[InputFile]

  /**
   * Somebody wanted the files back, and only the outputs had all rows: so the way back led forward.
   */
  private var isForward = false

  /** All files were exchanged, and somebody changed the new ones since: so nothing goes back. */
  private var isComplete = false

  private val data = folder.resolve(work.folder)
  private val trash = folder.trashOf(work.folder, record)

  private def retired(input: String): Path = folder.retiredIn(trash, input)

  def isOverwritten: Boolean = overwritten

  def isMoved: Boolean = moved

  private def isGivenUp: Boolean = overwritten || moved

  def isUnclear: Boolean = unclear

  /**
   * Retires all inputs but the first, publishes the first output, retires the first input, and
   * publishes the other outputs. So the folder never looks empty.
   *
   * @throws CommitConflictException when an input is not what the record says, or a name is taken:
   *   then all must go back
   */
  def forward(): Unit = if (!isGivenUp) {
    work.inputs.drop(1).grouped(folder.batches.ofRetired(work.inputs.size)).forall(retire) && {
      Failpoints.hit("retire-rest")
      work.outputs.headOption.forall(publish)
    } && {
      Failpoints.hit("publish-first-1")
      retire(work.inputs.take(1))
    } && {
      Failpoints.hit("retire-first-1")
      val (first, rest) = work.outputs.splitAt(math.max(1, folder.batches.alone))
      first.drop(1).forall { output =>
        val ours = isStillOurs() && publish(output)
        Failpoints.hit("publish-rest-1")
        ours
      } && rest.grouped(folder.batches.published).forall(wave => isStillOurs() && publishWave(wave))
    }
    ()
  }

  /** Whether the folder is still ours. It costs one call while the first visible file is there. */
  private def isStillOurs(): Boolean = watch.holds() || isOurs(watch.look())

  /**
   * The last look, once all files are where they belong. Later changes by others are as on any
   * other day.
   */
  def confirm(): Unit = if (!isGivenUp && isOurs(watch.look())) noteMove()

  /**
   * Our folders may be gone, although files of the names, lengths and times of ours are here: somebody
   * moved the folder away and put a backup in its place.
   */
  private def noteMove(): Unit =
    if (!FileLocations.hasOwnFolders(folder, work.folder, record)) moved = true

  /** False when somebody has overwritten or moved the folder. Then it is given up. */
  private def isOurs(seen: WatchResult): Boolean = {
    if (seen == WatchResult.Moved) moved = true
    if (seen == WatchResult.Unclear) {
      unclear = true
      throw new UnclearException(work.folder)
    }
    if (seen == WatchResult.Overwritten) {
      overwritten = true
      giveUp()
    }
    !isGivenUp
  }

  /**
   * For a file that is gone or changed. False when somebody has overwritten the folder; otherwise
   * it is a conflict.
   */
  private def orConflict(reason: String, path: String): Boolean = {
    val seen = watch.look()
    isOurs(seen) && {
      hasConflict = true
      val paths = seen match {
        case WatchResult.Missing(missing) => missing
        case _                            => Seq(path)
      }
      throw new CommitConflictException(paths, reason)
    }
  }

  /**
   * Retires inputs, several at the same time and in any order, as no decision depends on which are
   * still there. A look at all of them before keeps others' files where they are. A look afterwards
   * finds files by which somebody replaced an input in between. Files that these looks do not
   * confirm are looked up by name.
   *
   * @return false when somebody has overwritten the folder
   */
  private def retire(inputs: Seq[InputFile]): Boolean = {
    val (there, others) = confirmed(inputs, data, FileNames.name)
    // An earlier attempt may have failed although its rename took effect. So the trash is looked at
    // before the names.
    val (done, odd) = if (others.isEmpty) (Nil, Nil) else confirmed(others, trash, FileNames.retiredName)
    done.foreach(input => watch.forget(input.path))
    odd.forall(retireAlone) && {
      val move = moverToTrash(there)
      WorkerThreads.each(there, threads) { input =>
        // The first look may have been late. The second one tells where the file is.
        try toTrash(input, move)
        catch { case _: FileNotFoundException => () }
        FolderExchange.countMove()
        Failpoints.hit("retire-1")
      }
      val (moved, unconfirmed) = confirmed(there, trash, FileNames.retiredName)
      moved.foreach(input => watch.forget(input.path))
      unconfirmed.foreach(returnForeign)
      unconfirmed.forall { input =>
        if (ops.exists(retired(input.path))) checkRetired(input) else retireAlone(input)
      }
    }
  }

  /**
   * The inputs that one look finds in a folder, by the names that they have there, and the others.
   */
  private def confirmed(inputs: Seq[InputFile], dir: Path, name: String => String): (Seq[InputFile], Seq[InputFile]) =
    if (inputs.lengthIs <= 1) inputs.partition { i =>
      ops.status(if (dir eq trash) retired(i.path) else folder.resolve(i.path)).exists(i.isThis(_, timed))
    }
    else {
      val named = inputs.map(i => i -> name(i.path))
      val found = ops.statuses(dir, named.map(_._2), threads)
      val (there, others) = named.partition { case (i, n) => found.get(n).exists(i.isThis(_, timed)) }
      (there.map(_._1), others.map(_._1))
    }

  private def retireAlone(input: InputFile): Boolean =
    ops.status(folder.resolve(input.path)) match {
      case Some(meta) if input.isThis(meta, timed) =>
        toTrash(input)
        checkRetired(input)
      case Some(_) => orConflict(FolderExchange.Changed, input.path)
      case None    =>
        if (ops.status(retired(input.path)).exists(input.isThis(_, timed))) {
          watch.forget(input.path)
          true
        } else orConflict(FolderExchange.Gone, input.path)
    }

  private def toTrash(input: InputFile, move: (Path, Path) => Unit = ops.rename): Unit = {
    val target = retired(input.path)
    guard()
    into(target)(move(folder.resolve(input.path), target))
  }

  /**
   * How to move inputs to the trash. If a folder is gone, each move by itself fails and says so.
   */
  private def moverToTrash(inputs: Seq[InputFile]): (Path, Path) => Unit =
    if (inputs.lengthIs <= 1) ops.rename
    else
      try into(retired(inputs.head.path))(ops.mover(data, trash))
      catch { case _: FileNotFoundException => ops.rename }

  /** Puts another's file back that was moved in place of the input. */
  private def returnForeign(input: InputFile): Unit = {
    val target = retired(input.path)
    if (ops.status(target).exists(!input.isThis(_, timed))) {
      guard()
      move(target, folder.resolve(input.path))
    }
  }

  /** Whether the file that we moved is the input. If it is another's file, it goes back. */
  private def checkRetired(input: InputFile): Boolean = {
    val target = retired(input.path)
    ops.status(target) match {
      case Some(moved) if input.isThis(moved, timed) =>
        watch.forget(input.path)
        true
      case Some(_) =>
        guard()
        ops.rename(target, folder.resolve(input.path))
        orConflict(FolderExchange.Changed, input.path)
      case None => orConflict(FolderExchange.Gone, input.path)
    }
  }

  private def isDone(output: OutputFile): Boolean = watch.has(output.path) || deleted.contains(output.path)

  /** False when somebody has overwritten the folder. */
  private def publish(output: OutputFile): Boolean = isDone(output) || {
    watch.adds(output.path)
    toPlace(output).forall(afterFailure(output, _))
  }

  /**
   * Publishes several outputs at the same time, in any order. Renames that failed are looked at
   * when all have ended.
   *
   * @return false when somebody has overwritten the folder
   */
  private def publishWave(outputs: Seq[OutputFile]): Boolean = {
    val waiting = outputs.filterNot(isDone)
    waiting.foreach(o => watch.adds(o.path))
    val failed = WorkerThreads.map(waiting, threads) { output =>
      val failure = toPlace(output)
      Failpoints.hit("publish-rest-1")
      failure.map(output -> _)
    }.flatten
    failed.foreach { case (output, _) => if (!watch.isThere(output.path)) watch.forget(output.path) }
    failed.forall { case (output, e) => afterFailure(output, e) }
  }

  /** Renames the output. Returns the exception if that failed. */
  private def toPlace(output: OutputFile): Option[IOException] = {
    guard()
    try {
      ops.rename(folder.staged(output.path, record), folder.resolve(output.path))
      published += output.path -> (())
      FolderExchange.countMove()
      None
    } catch { case e: IOException => Some(e) }
  }

  /** Looks at what a failed rename has left. True when the rename took effect nevertheless. */
  private def afterFailure(output: OutputFile, e: IOException): Boolean = {
    val (staged, place) = (folder.staged(output.path, record), folder.resolve(output.path))
    (ops.exists(staged), ops.status(place)) match {
      case (false, Some(meta)) if output.isThis(meta, timed) => true
      case (true, None)                                      => throw e
      case (false, _)                                        =>
        watch.forget(output.path)
        orConflict("a file that was ready to be published is gone", output.path)
      case (true, Some(_)) =>
        watch.forget(output.path)
        throw new CommitConflictException(Seq(output.path), "another file of this name was written")
    }
  }

  /**
   * Leaves the folder as somebody has made it. All files that we made visible go, also inputs that
   * had come back. Then the staging is removed: its absence tells everybody that the folder is
   * given up. The inputs stay in the trash.
   */
  def giveUp(): Unit =
    if (ops.exists(folder.stagingOf(work.folder, record))) {
      retireReturned()
      work.outputs.foreach(takeBack)
      guard()
      Cleanup.withdrawn(folder, record, work)
    }

  private def retireReturned(): Unit = returned.foreach { input =>
    if (watch.isThere(input.path)) {
      guard()
      move(folder.resolve(input.path), retired(input.path))
    }
  }

  private def takeBack(output: OutputFile): Unit = {
    val (staged, place) = (folder.staged(output.path, record), folder.resolve(output.path))
    if (ops.status(place).exists(output.isThis(_, timed)) && !ops.exists(staged)) {
      guard()
      move(place, staged)
    }
  }

  /** Moves a file, unless it is gone or the other name is taken. */
  private def move(from: Path, to: Path): Unit =
    try into(to)(ops.rename(from, to))
    catch { case e: IOException => if (ops.exists(from) && !ops.exists(to)) throw e }

  /**
   * Makes our folder anew if it is missing: somebody may have removed empty folders, or copied the
   * files only.
   */
  private def into[A](target: Path)(rename: => A): A =
    try rename
    catch {
      case e: FileNotFoundException if target.toUri.getPath.contains(s"/${SideNames.Side}/") =>
        if (ops.exists(target.getParent)) throw e
        ops.remakeInSide(target.getParent)
        rename
    }

  /**
   * The way back: inputs return to their names, then outputs to staging, so that the folder never
   * looks empty. If somebody has taken an input's name in the meantime, his file stays there.
   */
  def back(survey: FolderLocations): Unit =
    if (overwritten) giveUp()
    else if (moved) ()
    else if (hasDeleted(survey) && !byChoice) {
      expect(survey)
      if (isOurs(watch.look())) leaveDeleted(survey)
    } else if (byChoice && !survey.inputsComplete && survey.outputsComplete && (!timed || survey.hasLostRetired)) {
      // The table was copied while files moved, or the trash was emptied. Only the outputs have all
      // rows.
      isForward = true
      work.outputs.foreach(o => move(folder.staged(o.path, record), folder.resolve(o.path)))
      work.inputs.filter(survey.stays).foreach(i => move(folder.resolve(i.path), retired(i.path)))
    } else {
      val certain = byChoice || hasConflict
      expect(survey)
      val waiting = work.inputs.filter(i => survey.retired.contains(i.path) && !survey.inPlace.contains(i.path))
      if (waiting.isEmpty || certain || isOurs(watch.look())) {
        // After 1, 2, 4, .. files. The looks may become rare, as files that have come back can be
        // taken away again.
        val looks = Iterator.iterate(1)(_ * 2).takeWhile(_ < waiting.length).toSet + waiting.length
        waiting.zip(LazyList.from(1)).forall { case (input, n) =>
          guard()
          if (survey.retired.get(input.path).exists(input.isThis(_, timed))) {
            watch.adds(input.path)
            returned += input
          }
          move(retired(input.path), folder.resolve(input.path))
          Failpoints.hit("undo-inputs-1")
          !looks(n) || isOurs(watch.look())
        }
      }
      Failpoints.hit("undo-inputs")
      if (!isGivenUp) withdraw(survey)
      if (!isGivenUp) noteMove()
      if (!isGivenUp && byChoice) bringBackRenamed(survey)
    }

  /** Tells the watch what is visible, and what we have taken away. */
  private def expect(survey: FolderLocations): Unit = {
    (survey.retired.keys ++ survey.staged.keys).foreach(watch.forget)
    watch.knows(survey.visible)
  }

  private def hasDeleted(survey: FolderLocations): Boolean =
    work.outputs.exists(o => published.contains(o.path) && !survey.isOut(o) && !survey.staged.contains(o.path))

  /**
   * Somebody deleted rows of new files since these were published. They must not come back with the
   * old files. If the exchange is complete here, the folder stays as it is; else nobody can tell what
   * is right.
   */
  private def leaveDeleted(survey: FolderLocations): Unit =
    if (isElsewhere) moved = true
    else if (survey.staged.nonEmpty || !work.inputs.forall(i => survey.retired.contains(i.path))) {
      unclear = true
      throw new UnclearException(work.folder)
    } else isComplete = true

  /**
   * Takes the outputs back. If somebody deletes one now, he overwrites the folder: he listed it
   * before the inputs came back, so he does not know of them.
   */
  private def withdraw(survey: FolderLocations): Unit = {
    val (there, gone) = work.outputs.filter(survey.isOut).partition(o => watch.isThere(o.path))
    // Somebody who overwrites the folder deletes all of them.
    if (there.nonEmpty && gone.nonEmpty && returned.nonEmpty && !byChoice) {
      if (isElsewhere) moved = true
      else {
        retireReturned()
        leaveDeleted(survey)
      }
    } else withdrawAll(survey)
  }

  private def withdrawAll(survey: FolderLocations): Unit =
    work.outputs.forall { output =>
      val stays = !survey.isOut(output) || watch.isThere(output.path) || returned.isEmpty
      if (stays) takeBack(output)
      else if (isElsewhere) moved = true
      else {
        overwritten = true
        giveUp()
      }
      stays
    }

  private def isElsewhere: Boolean =
    !FileLocations.hasOwnFolders(folder, work.folder, record) ||
      new FolderOrigins(folder, record).isForeign(work.folder)

  /** Inputs whose names are taken come back by another name, if somebody wants them back. */
  private def bringBackRenamed(survey: FolderLocations): Unit =
    work.inputs.filter(i => survey.retired.contains(i.path) && survey.inPlace.contains(i.path)).foreach { input =>
      guard()
      move(retired(input.path), folder.resolve(FileNames.otherName(input.path, record.operationId)))
    }

  /** Whether an input could not come back. */
  def isStuck: Boolean = !isGivenUp && !isComplete && !isForward && work.inputs.exists(i => ops.exists(retired(i.path)))
}

private[commit] object FolderExchange {
  private val Changed = "a file was changed or replaced"
  private val Gone = "a file was deleted or moved away"

  def countMove(): Unit = StatementProgress.current.foreach(_.done(Phase.Moving, files = 1))
}
