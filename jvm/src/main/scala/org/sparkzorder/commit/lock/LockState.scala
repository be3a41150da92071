package org.sparkzorder.commit.lock

import java.io.IOException

import scala.annotation.tailrec

import org.sparkzorder.commit.{FileMeta, Owner, SideListing, TableFolder}
import org.sparkzorder.commit.storage.Clock

/** What a lock file says, or all lock files of a table together. */
sealed trait LockState
object LockState {
  case object NoLock extends LockState

  /** @param owner None when its lock file cannot be read (yet) */
  final case class Live(owner: Option[Owner]) extends LockState
  final case class Dead(owner: Option[Owner]) extends LockState

  /**
   * What the lock files in a listing of the side folder say together: `Live` if any owner lives,
   * else `Dead` if there is any lock. It reads the files. It writes one only if a heartbeat seems
   * old by our own clock, to learn the file system's time.
   */
  private[commit] def of(folder: TableFolder, statuses: Seq[FileMeta], settings: LockSettings): LockState = {
    val states = LockJudge.judge(folder, SideListing.locks(statuses), settings, None).map(_.state)
    states.collectFirst { case live: Live => live }
      .orElse(states.collectFirst { case dead: Dead => dead })
      .getOrElse(NoLock)
  }
}

private[commit] final case class JudgedLock(file: FileMeta, state: LockState)

/**
 * Tells whether the owners of lock files live: by the process that a file names, or else by the age of its heartbeat.
 *
 * @param fileSystemTime the file system's clock, if the caller has just seen it
 */
private final class LockJudge(folder: TableFolder, settings: LockSettings, fileSystemTime: Option[Long]) {
  import LockJudge._

  def judged(file: FileMeta): JudgedLock = JudgedLock(file, stateOf(file, UnfinishedLooks))

  @tailrec private def stateOf(file: FileMeta, looksLeft: Int): LockState = {
    val bytes = Owner.bytes(folder.ops, file)
    val owner = bytes.flatMap(Owner.parse)
    owner.map(settings.liveness.processState) match {
      case Some(ProcessState.Alive)                 => LockState.Live(owner)
      case Some(ProcessState.Gone)                  => LockState.Dead(owner)
      case None if bytes.exists(Owner.isUnfinished) =>
        // An owner that was killed while it wrote the file has touched nothing yet. One that is
        // only slow looks for its lock next, and finds it gone.
        if (looksLeft == 0 || isOlder(file, UnfinishedMillis)) LockState.Dead(None)
        else {
          settings.sleep(UnfinishedMillis / UnfinishedLooks)
          stateOf(file, looksLeft - 1)
        }
      case _ => byHeartbeat(file, owner)
    }
  }

  private def byHeartbeat(file: FileMeta, owner: Option[Owner]): LockState =
    if (isOlder(file, settings.timeoutMillis)) LockState.Dead(owner)
    else if (owner.isEmpty && !folder.ops.exists(file.path)) LockState.NoLock
    else LockState.Live(owner)

  /** Whether the heartbeat is older. The file system's clock decides, but it is asked only if ours says so, too. */
  private def isOlder(file: FileMeta, millis: Long): Boolean = {
    def seemsOlder = System.currentTimeMillis() - file.modificationTime > millis
    (fileSystemTime.isDefined || seemsOlder) && exactTime - file.modificationTime > millis
  }

  private lazy val exactTime: Long = fileSystemTime.getOrElse {
    try Clock.now(folder)
    catch { case _: IOException => System.currentTimeMillis() } // without the right to write, our own clock must do
  }
}

private[commit] object LockJudge {

  /** How long an owner may take to write the few bytes of a lock file. */
  private val UnfinishedMillis = 1000L

  private val UnfinishedLooks = 20

  /** @param fileSystemTime the file system's clock, if the caller has just seen it */
  def judge(
      folder: TableFolder,
      locks: Seq[FileMeta],
      settings: LockSettings,
      fileSystemTime: Option[Long]
  ): Seq[JudgedLock] = {
    val judge = new LockJudge(folder, settings, fileSystemTime)
    locks.map(judge.judged)
  }
}

/** The state of a lock's owner, as far as it can be told without writing anything. */
sealed abstract class OwnerState(val word: String)
object OwnerState {

  /** Its heartbeat is younger than the timeout. */
  case object Alive extends OwnerState("alive")

  /** Its process is gone, or it is this process, which does not run the operation any more. */
  case object Dead extends OwnerState("dead")

  /** Its process cannot be looked up here, and its heartbeat is older than the timeout. */
  case object Silent extends OwnerState("silent")

  /** The file names no process, and it is younger than the timeout. */
  case object Unknown extends OwnerState("unknown")
}

/**
 * A lock file.
 *
 * @param owner None when the file cannot be read
 * @param isHere whether the owner's process is in this host's process table
 * @param beatMillis age of the heartbeat by this process's clock
 */
final case class LockReport(
    file: FileMeta,
    owner: Option[Owner],
    state: OwnerState,
    isHere: Boolean,
    beatMillis: Long
) {

  /** Whether the next statement takes the lock over. */
  def isDead: Boolean = state == OwnerState.Dead || state == OwnerState.Silent

  def describe: String = owner.fold(s"an unknown owner (${file.name})")(_.describe)
}

object LockReport {

  /** Reads the lock files of a listing. Unlike [[LockState.of]] it writes no file to learn the time. */
  def of(folder: TableFolder, statuses: Seq[FileMeta], settings: LockSettings): Seq[LockReport] =
    SideListing.locks(statuses).sortBy(_.name).map { file =>
      val owner =
        try Owner.read(folder.ops, file)
        catch { case _: IOException => None }
      val age = System.currentTimeMillis() - file.modificationTime
      val process = owner.map(settings.liveness.processState)
      val isOld = age > settings.timeoutMillis
      val state = process match {
        case Some(ProcessState.Gone)  => OwnerState.Dead
        case Some(ProcessState.Alive) => OwnerState.Alive
        case _ if isOld               => OwnerState.Silent
        case Some(_)                  => OwnerState.Alive
        case None                     => OwnerState.Unknown
      }
      val isHere = state != OwnerState.Dead && owner.exists(_.process.sameHost(settings.liveness.self))
      LockReport(file, owner, state, isHere, age)
    }
}
