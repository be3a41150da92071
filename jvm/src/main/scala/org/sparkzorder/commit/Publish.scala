package org.sparkzorder.commit

import java.io.IOException

import org.slf4j.LoggerFactory

/**
 * Exchanges the files of a record that is past its commit point: forward, or back. Both ways look where each file is
 * and
 * skip what is done, so either may die anywhere and be run again.
 *
 * @param guard asked before every rename; throws when we may no longer touch the table
 */
private[commit] final class Publish(folder: TableFolder, record: Record, guard: () => Unit) {
  private val ops = folder.ops
  private val log = LoggerFactory.getLogger(classOf[Publish])

  /**
   * Steps A and B: all inputs go to the trash, and one output of each folder comes before the folder's last input goes.
   *
   * @throws CommitConflictException when an input is not what the record says; the way is back then
   */
  def exchange(works: Seq[FolderWork]): Unit = {
    works.foreach { work =>
      work.inputs.drop(1).foreach { input =>
        retire(input)
        Failpoints.hit("retire-1")
      }
    }
    Failpoints.hit("retire-rest")
    works.foreach { work =>
      work.outputs.headOption.foreach { output =>
        if (!publish(output))
          throw new CommitConflictException(Seq(output.path), "the output vanished, its folder was overwritten")
      }
      Failpoints.hit("publish-first-1")
      work.inputs.headOption.foreach(retire)
      Failpoints.hit("retire-first-1")
    }
    Failpoints.hit("retire-first-all")
  }

  /**
   * Step C: the other outputs. An overwritten folder is left alone.
   *
   * @throws CommitConflictException when somebody has just taken a name that comes back; the way is back then
   */
  def finish(works: Seq[FolderWork]): Unit = {
    works.foreach { work =>
      work.outputs.drop(1).foreach { output =>
        if (!publish(output)) log.warn(s"${output.path} is neither staged nor published: its folder was overwritten")
        Failpoints.hit("publish-rest-1")
      }
    }
    Failpoints.hit("publish-rest-all")
  }

  private def retire(input: InputFile): Unit = {
    val place = folder.resolve(input.path)
    val trash = folder.retired(input.path, record)
    ops.status(place) match {
      case Some(meta) if input.isSame(meta) =>
        guard()
        ops.rename(place, trash)
        // Somebody may have replaced the file after we looked.
        val moved = ops.status(trash)
        if (!moved.exists(input.isSame)) {
          guard()
          ops.rename(trash, place)
          throw new CommitConflictException(Seq(input.path), "the file was changed by another")
        }
      case Some(_) => throw new CommitConflictException(Seq(input.path), "the file was changed by another")
      case None    =>
        if (!ops.status(trash).exists(input.isSame)) {
          throw new CommitConflictException(Seq(input.path), "the file was deleted by another")
        }
    }
  }

  /** False when the output is nowhere. */
  private def publish(output: OutputFile): Boolean = {
    val staged = folder.staged(output.path, record.operationId)
    val place = folder.resolve(output.path)
    if (!ops.exists(staged)) ops.exists(place)
    else {
      guard()
      try {
        ops.rename(staged, place)
        true
      } catch {
        // Overwritten in this very moment, or done although it said otherwise.
        case _: IOException if !ops.exists(staged) => ops.exists(place)
        case _: IOException if ops.exists(place)   =>
          throw new CommitConflictException(Seq(output.path), "another file of this name was written")
      }
    }
  }

  /**
   * All the way back, after which the record is one of an operation that was undone.
   *
   * @param why in one sentence, and who undoes it if its owner is dead, for `DESCRIBE HISTORY`
   */
  def undo(why: String, by: Option[String] = None): Unit = {
    back(Survey.of(folder, record))
    guard()
    ops.rename(
      folder.record(record.version, RecordState.Publishing),
      folder.record(record.version, RecordState.Undoing)
    )
    Failpoints.hit("undo-record")
    Outcome.note(folder, record, why, by)
    Cleanup.undoing(folder, record)
  }

  /**
   * The way back: inputs return to their names, then published outputs to staging, folder by folder, so that none looks
   * empty. A name that somebody has taken in the meantime stays his: he replaced the file, be it an input or an output.
   */
  def back(survey: Survey): Unit = {
    survey.kept.foreach { found =>
      found.work.inputs.foreach { input =>
        if (found.retired.contains(input.path) && !found.inPlace.contains(input.path)) {
          guard()
          ops.rename(folder.retired(input.path, record), folder.resolve(input.path))
          Failpoints.hit("undo-inputs-1")
        }
      }
    }
    Failpoints.hit("undo-inputs")
    survey.kept.foreach { found =>
      found.work.outputs.foreach { output =>
        if (found.inPlace.get(output.path).exists(output.isSame) && !found.staged.contains(output.path)) {
          guard()
          ops.rename(folder.resolve(output.path), folder.staged(output.path, record.operationId))
        }
      }
    }
    Failpoints.hit("undo-outputs")
  }
}
