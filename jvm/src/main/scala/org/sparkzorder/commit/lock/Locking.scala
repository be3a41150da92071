package org.sparkzorder.commit.lock

import java.io.FileNotFoundException

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.storage.FolderListing

object Locking {
  import LockState._

  /**
   * Takes the table's lock. Locks of dead owners do not hinder. They are left for [[Recovery.recoverUnder]].
   *
   * @throws ConcurrentOperationException when a living owner has it
   */
  def acquire(
      folder: TableFolder,
      operationId: String,
      settings: LockSettings = LockSettings(),
      operation: String = "OPTIMIZE"
  ): Lock = attempts(settings)(attempt(folder, operationId, settings, operation))

  private def attempts(settings: LockSettings)(once: => Lock): Lock = {
    @tailrec def next(left: Int): Lock = {
      val taken =
        try Some(once)
        catch { case _: ConcurrentOperationException if left > 1 => None }
      taken match {
        case Some(lock) => lock
        case None       =>
          // Two owners that met must not meet again, so each waits for a random time.
          settings.sleep(settings.retryMillis * (1L + java.util.concurrent.ThreadLocalRandom.current().nextLong(4L)))
          next(left - 1)
      }
    }
    next(settings.attempts)
  }

  private def attempt(folder: TableFolder, operationId: String, settings: LockSettings, operation: String): Lock = {
    // Registered before the lock is written and until it is gone, so that no process takes it for dead.
    settings.liveness.register(operationId)
    var kept = false
    try {
      val owner = Owner(settings.liveness.self, operationId, operation, since = System.currentTimeMillis())
      val lock = write(folder, owner, settings)
      kept = true
      lock
    } finally if (!kept) settings.liveness.deregister(operationId)
  }

  /** Writes a lock file, then looks for others. It is removed again if a living owner is in the way. */
  private def write(folder: TableFolder, owner: Owner, settings: LockSettings): Lock = {
    if (!folder.ops.isFolder(folder.root)) throw new FileNotFoundException(s"no folder ${folder.root}")
    val path = folder.newLock()
    var kept = false
    try {
      put(folder, path, Owner.write(owner))
      // Two owners may come at once. The one whose file is the later one sees both.
      val statuses = FolderListing.showing(folder, path, settings.sleep)
      val own = statuses.find(_.path.getName == path.getName)
        .getOrElse(throw new LockLostException(path, "it vanished at once"))
      val others = SideListing.locks(statuses).filter(_.path.getName != path.getName)
      val rivals = LockJudge.judge(folder, others, settings, Some(own.modificationTime)).filter(_.state != NoLock)
      rivals.collectFirst { case JudgedLock(_, Live(other)) => other }
        .foreach(other => throw new ConcurrentOperationException(folder.root, other))
      kept = true
      new Lock(folder, path, owner, settings, own.modificationTime, rivals.map(_.file))
    } finally if (!kept) Lock.remove(folder, path)(())
  }

  private def put(folder: TableFolder, path: Path, bytes: Array[Byte]): Unit = {
    folder.ops.mkdirs(folder.side)
    try folder.ops.writeNew(path, bytes)
    catch {
      case _: FileNotFoundException => // another owner has just removed the empty side folder with his lock
        folder.ops.mkdirs(folder.side)
        folder.ops.writeNew(path, bytes)
    }
  }
}
