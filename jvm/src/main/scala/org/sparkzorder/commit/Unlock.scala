package org.sparkzorder.commit

import java.util.UUID

/**
 * What an unlock did.
 *
 * @param removed locks that are gone
 * @param kept locks of owners that may live
 */
final case class Unlocked(removed: Seq[LockReport], kept: Seq[LockReport], recovered: Recovered)

/** Takes locks away and recovers what their owners left. */
object Unlock {

  /**
   * Removes the locks of owners that are dead or silent; nothing if another owner may live.
   *
   * @param force takes the locks of owners that may live, too. An owner that lives finds its lock gone and stops before
   *              its next rename; the one rename that it may be in is not prevented
   */
  def run(folder: TableFolder, settings: LockSettings, force: Boolean): Unlocked = {
    val locks = LockReport.of(folder, folder.ops.list(folder.side), settings)
    val (dead, living) = locks.partition(_.isDead)
    if (living.nonEmpty && !force) Unlocked(Nil, locks, Recovered(Nil))
    else if (locks.isEmpty) Unlocked(Nil, Nil, Recovery.recover(folder, settings))
    else {
      // A file that names no process is nobody's that could be told by its operation.
      living.filter(_.owner.isEmpty).foreach(l => folder.ops.delete(l.file.path))
      val ids = living.flatMap(_.owner).map(_.operationId).toSet
      val forced = settings.copy(liveness = new Condemned(settings.liveness, ids))
      val lock = Locking.acquire(folder, s"unlock-${UUID.randomUUID()}", forced, "UNLOCK")
      try {
        // By its own liveness nobody is surely gone, so it waits for the one rename that a living owner may be in.
        val recovered = Recovery.recoverUnder(folder, lock, settings)
        Unlocked(dead ++ living, Nil, recovered)
      } finally lock.release()
    }
  }

  /** Says of some operations that their owners are gone. */
  private final class Condemned(liveness: Liveness, ids: Set[String]) extends Liveness {
    override def self: ProcessId = liveness.self
    override def processState(owner: Owner): ProcessState =
      if (ids(owner.operationId)) ProcessState.Gone else liveness.processState(owner)
    override def register(operationId: String): Unit = liveness.register(operationId)
    override def deregister(operationId: String): Unit = liveness.deregister(operationId)
  }
}
