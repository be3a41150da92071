package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.util.UUID

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/** Takes the locks that an operation needs. */
object Locking {
  import LockState._

  private val log = LoggerFactory.getLogger(classOf[Lock])

  /**
   * Takes the table's lock, and one in each table above it. Locks of dead owners do not hinder.
   * They are left for [[Recovery.recoverUnder]].
   *
   * @throws ConcurrentOperationException when a living owner has one of them
   */
  def acquire(
      folder: TableFolder,
      operationId: String,
      settings: LockSettings = LockSettings(),
      operation: String = "OPTIMIZE"
  ): Lock = {
    val lock = attempts(settings)(attempt(folder, operationId, settings, operation, None))
    Failpoints.hit("after-lock")
    lock
  }

  /**
   * Takes the lock of this table alone, to recover it for an operation that already holds the locks
   * above it.
   *
   * @param forOperation an operation whose own lock does not hinder
   */
  private[commit] def acquireHere(folder: TableFolder, settings: LockSettings, forOperation: String): Lock = {
    val id = s"recover-${UUID.randomUUID()}"
    attempts(settings)(attempt(folder, id, settings, "RECOVER", Some(forOperation)))
  }

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

  /**
   * A lock file that we have written.
   *
   * @param time its time stamp
   * @param rivals locks of dead owners in the same folder
   * @param statuses a listing of the folder that shows our file
   */
  private final case class LockFile(
      folder: TableFolder,
      path: Path,
      owner: Owner,
      time: Long,
      rivals: Seq[FileMeta],
      statuses: Seq[FileMeta]
  ) {
    def held(settings: LockSettings, outer: Seq[Lock]): Lock =
      new Lock(folder, path, owner, settings, time, rivals, outer)
  }

  /**
   * @param aloneFor when given, no lock is taken in the tables above, and this operation's lock
   *                 does not hinder
   */
  private def attempt(
      folder: TableFolder,
      operationId: String,
      settings: LockSettings,
      operation: String,
      aloneFor: Option[String]
  ): Lock = {
    // Registered before the first lock is written and until the last one is gone, so that nobody
    // takes it for dead.
    settings.liveness.register(operationId)
    val owner = Owner(settings.liveness.self, operationId, operation, since = System.currentTimeMillis())
    val outer = mutable.ArrayBuffer.empty[LockFile]
    var own = Option.empty[LockFile]
    def above(): Unit =
      if (aloneFor.isEmpty) NestedRoots.toLock(folder).foreach { o =>
        if (!outer.exists(_.folder.root == o.folder.root)) {
          outer += write(o.folder, owner.copy(root = o.inner), settings, None)
          NestedRoots.register(o, outer.last.statuses)
        }
      }
    var kept = false
    try {
      above()
      own = Some(write(folder, owner, settings, aloneFor))
      // A table above may have begun meanwhile. Its owner looks below once he has his lock. So he
      // sees our lock, or we see his now.
      above()
      val lock = own.get.held(settings, outer.sortBy(_.folder.root.depth).toSeq.map(_.held(settings, Nil)))
      kept = true
      lock
    } finally if (!kept) {
        try own.++(outer.reverse).foreach(file => remove(file.folder, file.path))
        finally settings.liveness.deregister(operationId)
      }
  }

  private def remove(folder: TableFolder, path: Path): Unit =
    try {
      folder.ops.delete(path)
      if (folder.ops.keepsEmptyFolders) folder.ops.deleteEmpty(folder.side)
    } catch { case e: IOException => log.warn(s"cannot remove the lock $path", e) }

  /**
   * Writes a lock file, then looks for others. It is removed again if a living owner is in the way.
   *
   * @param forOperation an operation whose own lock does not hinder
   */
  private def write(
      folder: TableFolder,
      owner: Owner,
      settings: LockSettings,
      forOperation: Option[String]
  ): LockFile = {
    if (!folder.ops.isFolder(folder.root))
      throw new FileNotFoundException(s"no folder ${folder.root}")
    val path = folder.newLock()
    var kept = false
    try {
      put(folder, path, Owner.write(owner))
      // Two owners may come at once. The one whose file is the later one sees both.
      val statuses = Listing.showing(folder, path, settings.sleep)
      val own = statuses.find(_.path.getName == path.getName)
        .getOrElse(throw new LockLostException(path, "it vanished at once"))
      val others = SideListing.locks(statuses).filter(_.path.getName != path.getName)
      // Tables beside each other below this one do not hinder each other.
      val rivals = LockJudge.judge(folder, others, settings, Some(own.modificationTime)).filter(_.state match {
        case Live(Some(other)) => owner.conflicts(other) && !forOperation.contains(other.operationId)
        case Dead(Some(other)) => owner.conflicts(other)
        case state             => state != NoLock
      })
      rivals.collectFirst { case JudgedLock(_, Live(other)) => other }
        .foreach(other => throw new ConcurrentOperationException(folder.root, other))
      kept = true
      LockFile(folder, path, owner, own.modificationTime, rivals.map(_.file), statuses)
    } finally if (!kept) remove(folder, path)
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
