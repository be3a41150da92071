package org.sparkzorder.commit.upkeep

import java.util.UUID

import org.sparkzorder.commit.{Owner, ProcessId, TableFolder}
import org.sparkzorder.commit.lock.{Liveness, LockReport, LockSettings, Locking, ProcessState}
import org.sparkzorder.commit.machine.Recovery

/**
 * What an unlock did.
 *
 * @param removed locks that are gone
 * @param kept locks of owners that may live
 */
final case class Unlocked(removed: Seq[LockReport], kept: Seq[LockReport], recovered: Seq[String])

object Unlock {

  /**
   * Removes the locks of owners that are dead or silent. If another owner may live, it removes nothing.
   *
   * @param force also removes the locks of owners that may live. Such an owner finds its lock gone and stops before its
   *              next rename. The one rename that it may be in is not prevented
   */
  def run(folder: TableFolder, settings: LockSettings, force: Boolean): Unlocked = {
    val locks = LockReport.of(folder, folder.ops.list(folder.side), settings)
    val (dead, living) = locks.partition(_.isDead)
    if (living.nonEmpty && !force) Unlocked(Nil, locks, Nil)
    else if (locks.isEmpty) Unlocked(Nil, Nil, Recovery.recover(folder, settings))
    else {
      // A file that names no owner cannot be judged by the operation's id, so it is deleted right away.
      living.filter(_.owner.isEmpty).foreach(l => folder.ops.delete(l.file.path))
      val ids = living.flatMap(_.owner).map(_.operationId).toSet
      val forced = settings.copy(liveness = new Condemned(settings.liveness, ids))
      val lock = Locking.acquire(folder, s"unlock-${UUID.randomUUID()}", forced, "UNLOCK")
      try {
        // The true settings do not say that these owners are gone, so it waits for the one rename that they may be in.
        val recovered = Recovery.recoverUnder(folder, lock, settings)
        Unlocked(dead ++ living, Nil, recovered)
      } finally lock.release()
    }
  }

  private final class Condemned(liveness: Liveness, ids: Set[String]) extends Liveness {
    override def self: ProcessId = liveness.self
    override def processState(owner: Owner): ProcessState =
      if (ids(owner.operationId)) ProcessState.Gone else liveness.processState(owner)
    override def register(operationId: String): Unit = liveness.register(operationId)
    override def deregister(operationId: String): Unit = liveness.deregister(operationId)
  }
}
