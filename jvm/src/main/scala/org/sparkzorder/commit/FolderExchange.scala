package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/**
 * Exchanges one folder's files, forward or back. It looks where each file is and skips what is done, so it may end
 * anywhere and be run again.
 *
 * @param known files of the record that are among the data now
 * @param deleted outputs that were published and that somebody has deleted since: they do not come again
 * @param bystanders see [[Watch]]
 * @param timed whether time stamps tell files apart; not in a copy
 * @param asked whether somebody who knows what happened wants the files back, so that nothing speaks against it
 * @param guard asked before every rename; throws when we may no longer touch the table
 * @param hands how many files are moved at the same time
 */
private[commit] final class FolderExchange(
    folder: TableFolder,
    record: Record,
    val work: FolderWork,
    known: Seq[String],
    deleted: Seq[String],
    bystanders: Set[String],
    timed: Boolean,
    asked: Boolean,
    guard: () => Unit,
    sleep: Long => Unit,
    hands: Int
) {
  private val ops = folder.ops
  private val watch = new Watch(folder, record, work, bystanders, timed, sleep)
  watch.knows(known)

  /** Somebody else's by now: we leave alone what he has made of it. */
  @volatile private var theirs = false

  /** Somebody changed a file of ours here, and that was not an overwrite: on the way back the rest returns. */
  private var contested = false

  /** Nobody can tell what is right here: nothing is moved any more. */
  @volatile private var unclear = false

  private val returned = mutable.LinkedHashSet.empty[InputFile]

  private var isForward = false

  private val data = folder.resolve(work.folder)
  private val trash = folder.trashOf(work.folder, record)

  private def retired(input: String): Path = folder.retiredIn(trash, input)

  def isTheirs: Boolean = theirs

  def isUnclear: Boolean = unclear

  /**
   * The folder never looks empty: all inputs but the first go, an output comes, the first input goes, the others come.
   *
   * @throws CommitConflictException when an input is not what the record says, or a name is taken; the way is back then
   */
  def forward(): Unit = if (!theirs) {
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
        val ours = watched() && publish(output)
        Failpoints.hit("publish-rest-1")
        ours
      } && rest.grouped(folder.batches.published).forall(wave => watched() && publishWave(wave))
    }
    ()
  }

  /** Before more outputs come: whether the folder is ours, by the first file that is visible. */
  private def watched(): Boolean = watch.holds() || isOurs(watch.look())

  /** The last look, when all files are where they belong. What others have changed here since is their business. */
  def confirm(): Unit = if (!theirs) { isOurs(watch.look()); () }

  /** False when the folder is somebody else's. */
  private def isOurs(seen: Seen): Boolean = {
    if (seen == Seen.Unclear) {
      unclear = true
      throw new UnclearException(work.folder)
    }
    if (seen == Seen.Theirs) {
      theirs = true
      giveUp()
    }
    !theirs
  }

  /** The same while rows would be lost if it only were changed. */
  private def isOursUnchanged(reason: String, path: String): Boolean = {
    val seen = watch.look()
    isOurs(seen) && {
      contested = true
      throw new CommitConflictException(
        seen match {
          case Seen.Changed(missing) => missing
          case _                     => Seq(path)
        },
        reason
      )
    }
  }

  /**
   * Several at the same time, in any order: nothing is told by which of them are still there. They are looked at together
   * before, so that others' files stay where they are, and afterwards, as somebody may have replaced one after we looked.
   * What these looks do not affirm is asked for by name.
   */
  private def retire(inputs: Seq[InputFile]): Boolean = {
    val (there, others) = affirmed(inputs, data, FileNames.name)
    // Our own before anything is said of them: an attempt may have failed behind its rename.
    val (done, odd) = if (others.isEmpty) (Nil, Nil) else affirmed(others, trash, FileNames.retiredName)
    done.foreach(input => watch.forget(input.path))
    odd.forall(retireAlone) && {
      val move = trashing(there)
      WorkerThreads.each(there, hands) { input =>
        // The look may have been late. The next one says where the file is.
        try toTrash(input, move)
        catch { case _: FileNotFoundException => () }
        Failpoints.hit("retire-1")
      }
      val (moved, unsure) = affirmed(there, trash, FileNames.retiredName)
      moved.foreach(input => watch.forget(input.path))
      unsure.forall { input =>
        if (ops.exists(retired(input.path))) isRetired(input) else retireAlone(input)
      }
    }
  }

  /** Those that are in a folder by such a name, as far as one look tells, and the others. */
  private def affirmed(inputs: Seq[InputFile], dir: Path, name: String => String): (Seq[InputFile], Seq[InputFile]) =
    if (inputs.lengthIs <= 1) inputs.partition { i =>
      ops.status(if (dir eq trash) retired(i.path) else folder.resolve(i.path)).exists(i.isThis(_, timed))
    }
    else {
      val named = inputs.map(i => i -> name(i.path))
      val found = ops.statuses(dir, named.map(_._2), hands)
      val (there, others) = named.partition { case (i, n) => found.get(n).exists(i.isThis(_, timed)) }
      (there.map(_._1), others.map(_._1))
    }

  private def retireAlone(input: InputFile): Boolean =
    ops.status(folder.resolve(input.path)) match {
      case Some(meta) if input.isThis(meta, timed) =>
        toTrash(input)
        isRetired(input)
      case Some(_) => isOursUnchanged(FolderExchange.Changed, input.path)
      case None    =>
        if (ops.status(retired(input.path)).exists(input.isThis(_, timed))) {
          watch.forget(input.path)
          true
        } else isOursUnchanged(FolderExchange.Gone, input.path)
    }

  private def toTrash(input: InputFile, move: (Path, Path) => Unit = ops.rename): Unit = {
    val target = retired(input.path)
    guard()
    into(target)(move(folder.resolve(input.path), target))
  }

  /** How inputs go to the trash. Where a folder is gone, each of them says so itself. */
  private def trashing(inputs: Seq[InputFile]): (Path, Path) => Unit =
    if (inputs.lengthIs <= 1) ops.rename
    else
      try into(retired(inputs.head.path))(ops.mover(data, trash))
      catch { case _: FileNotFoundException => ops.rename }

  /** Whether what we moved is the input. Another's file goes back. */
  private def isRetired(input: InputFile): Boolean = {
    val target = retired(input.path)
    ops.status(target) match {
      case Some(moved) if input.isThis(moved, timed) =>
        watch.forget(input.path)
        true
      case Some(_) =>
        guard()
        ops.rename(target, folder.resolve(input.path))
        isOursUnchanged(FolderExchange.Changed, input.path)
      case None => isOursUnchanged(FolderExchange.Gone, input.path)
    }
  }

  private def isDone(output: OutputFile): Boolean = watch.has(output.path) || deleted.contains(output.path)

  private def publish(output: OutputFile): Boolean = isDone(output) || {
    watch.adds(output.path)
    toPlace(output).forall(notPublished(output, _))
  }

  /** Several at the same time, in any order. Only when all have come to rest, a look tells what became of one that failed. */
  private def publishWave(outputs: Seq[OutputFile]): Boolean = {
    val waiting = outputs.filterNot(isDone)
    waiting.foreach(o => watch.adds(o.path))
    val failed = WorkerThreads.map(waiting, hands) { output =>
      val failure = toPlace(output)
      Failpoints.hit("publish-rest-1")
      failure.map(output -> _)
    }.flatten
    failed.foreach { case (output, _) => if (!watch.isThere(output.path)) watch.forget(output.path) }
    failed.forall { case (output, e) => notPublished(output, e) }
  }

  private def toPlace(output: OutputFile): Option[IOException] = {
    guard()
    try {
      ops.rename(folder.staged(output.path, record), folder.resolve(output.path))
      None
    } catch { case e: IOException => Some(e) }
  }

  /** What a rename that failed has left. True when it took effect in spite of what was said. */
  private def notPublished(output: OutputFile, e: IOException): Boolean = {
    val (staged, place) = (folder.staged(output.path, record), folder.resolve(output.path))
    (ops.exists(staged), ops.status(place)) match {
      case (false, Some(meta)) if output.isThis(meta, timed) => true
      case (true, None)                                      => throw e
      case (false, _)                                        =>
        watch.forget(output.path)
        isOursUnchanged("a file that was ready to be published is gone", output.path)
      case (true, Some(_)) =>
        watch.forget(output.path)
        throw new CommitConflictException(Seq(output.path), "another file of this name was written")
    }
  }

  /**
   * Leaves the folder to somebody else: what we made visible goes, old rows among it, and the staging, by which everybody
   * knows from then on. The inputs stay in the trash.
   */
  def giveUp(): Unit =
    if (ops.exists(folder.stagingOf(work.folder, record))) {
      returned.foreach { input =>
        if (watch.isThere(input.path)) {
          guard()
          move(folder.resolve(input.path), retired(input.path))
        }
      }
      work.outputs.foreach(takeBack)
      guard()
      Cleanup.withdrawn(folder, record, work)
    }

  private def takeBack(output: OutputFile): Unit = {
    val (staged, place) = (folder.staged(output.path, record), folder.resolve(output.path))
    if (ops.status(place).exists(output.isThis(_, timed)) && !ops.exists(staged)) {
      guard()
      move(place, staged)
    }
  }

  /** A file that has just been deleted need not be moved, nor may one take a name that is taken. */
  private def move(from: Path, to: Path): Unit =
    try into(to)(ops.rename(from, to))
    catch { case e: IOException => if (ops.exists(from) && !ops.exists(to)) throw e }

  /** Who removes empty folders, or copies files only, removes staging and trash of ours while nothing is in them. */
  private def into[A](target: Path)(rename: => A): A =
    try rename
    catch {
      case e: FileNotFoundException if target.toUri.getPath.contains(s"/${SideNames.Side}/") =>
        if (ops.exists(target.getParent)) throw e
        ops.remakeInSide(target.getParent)
        rename
    }

  /**
   * The way back: inputs return to their names, then outputs to staging, so that the folder does not look empty. A name
   * that somebody has taken in the meantime stays his.
   */
  def back(survey: FolderLocations): Unit =
    if (theirs) giveUp()
    else if (asked && !survey.inputsComplete && survey.outputsComplete && (!timed || survey.hasLostRetired)) {
      // A copy that was made while files moved, or a trash that was emptied: only the outputs have all rows.
      isForward = true
      work.outputs.foreach(o => move(folder.staged(o.path, record), folder.resolve(o.path)))
      work.inputs.filter(survey.stays).foreach(i => move(folder.resolve(i.path), retired(i.path)))
    } else {
      val certain = asked || contested
      (survey.retired.keys ++ survey.staged.keys).foreach(watch.forget)
      watch.knows(survey.visible)
      val waiting = work.inputs.filter(i => survey.retired.contains(i.path) && !survey.inPlace.contains(i.path))
      if (waiting.isEmpty || certain || isOurs(watch.look())) {
        // Rarer and rarer: all that has come back can be taken away again.
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
      if (!theirs) withdraw(survey)
      if (!theirs && asked) rename(survey)
    }

  /** An output that somebody deletes now was in his listing, so he did not see what has come back. */
  private def withdraw(survey: FolderLocations): Unit =
    work.outputs.forall { output =>
      val stays = !survey.isOut(output) || watch.isThere(output.path) || returned.isEmpty
      if (stays) takeBack(output)
      else {
        theirs = true
        giveUp()
      }
      stays
    }

  /** Inputs whose names are taken come back by another name, when somebody wants them back. */
  private def rename(survey: FolderLocations): Unit =
    work.inputs.filter(i => survey.retired.contains(i.path) && survey.inPlace.contains(i.path)).foreach { input =>
      guard()
      move(retired(input.path), folder.resolve(FileNames.otherName(input.path, record.operationId)))
    }

  /** Inputs that could not come back. */
  def isStuck: Boolean = !theirs && !isForward && work.inputs.exists(i => ops.exists(retired(i.path)))
}

private object FolderExchange {
  private val Changed = "a file was changed or replaced"
  private val Gone = "a file was deleted or moved away"
}
