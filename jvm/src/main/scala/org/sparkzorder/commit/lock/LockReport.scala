package org.sparkzorder.commit.lock

import java.io.IOException

import org.sparkzorder.commit.{FileMeta, Owner, SideListing, TableFolder}

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
