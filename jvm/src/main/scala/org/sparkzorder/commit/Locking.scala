package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.util.UUID

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * @param timeoutMillis age of a heartbeat at which its owner counts as dead (`spark.zorder.lock.timeout`)
 * @param beatMillis time between two heartbeats
 * @param attempts how often to try for a lock that another has: two that come at once both step back
 * @param retryMillis least pause between attempts
 * @param lookMillis how long an owner may count on a look at its lock
 */
final case class LockSettings(
    timeoutMillis: Long = 60000L,
    beatMillis: Long = 5000L,
    attempts: Int = 3,
    retryMillis: Long = 50L,
    liveness: Liveness = SystemLiveness,
    sleep: Long => Unit = Thread.sleep(_),
    lookMillis: Long = 100L
)

/** What the lock files of a table say together. */
sealed trait LockState
object LockState {
  case object NoLock extends LockState

  /** @param owner None when its lock file cannot be read (yet) */
  final case class Live(owner: Option[Owner]) extends LockState
  final case class Dead(owner: Option[Owner]) extends LockState
}

object Locking {
  import LockState._

  private val log = LoggerFactory.getLogger(classOf[Lock])

  /** For how long one may be at the few bytes of a lock file. */
  private val UnfinishedMillis = 1000L

  private val UnfinishedLooks = 20

  /**
   * Takes the table's lock, and one in each table above it. Dead owners' locks do not hinder; they are left for
   * [[Recovery.recoverUnder]].
   *
   * @throws ConcurrentOperationException when another, living, has one of them
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
   * The same in this table alone, to recover it for an operation that holds the locks in the tables above it already.
   *
   * @param forOperation whose lock does not hinder
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
          // Two that met must not meet again, so each waits for a time of its own.
          settings.sleep(settings.retryMillis * (1L + java.util.concurrent.ThreadLocalRandom.current().nextLong(4L)))
          next(left - 1)
      }
    }
    next(settings.attempts)
  }

  /** A lock file of ours, with what its folder showed when it was written. */
  private final case class LockFile(
      folder: TableFolder,
      path: Path,
      owner: Owner,
      time: Long,
      others: Seq[FileMeta],
      statuses: Seq[FileMeta]
  ) {
    def held(settings: LockSettings, outer: Seq[Lock]): Lock =
      new Lock(folder, path, owner, settings, time, others, outer)
  }

  private def attempt(
      folder: TableFolder,
      operationId: String,
      settings: LockSettings,
      operation: String,
      alone: Option[String]
  ): Lock = {
    // This process knows of the operation from before its first lock until after its last.
    settings.liveness.register(operationId)
    val owner = Owner(settings.liveness.self, operationId, operation, since = System.currentTimeMillis())
    val outer = mutable.ArrayBuffer.empty[LockFile]
    var own = Option.empty[LockFile]
    def above(): Unit =
      if (alone.isEmpty) NestedRoots.toLock(folder).foreach { o =>
        if (!outer.exists(_.folder.root == o.folder.root)) {
          outer += write(o.folder, owner.copy(root = o.inner), settings, None)
          NestedRoots.register(o, outer.last.statuses)
        }
      }
    var kept = false
    try {
      above()
      own = Some(write(folder, owner, settings, alone))
      // A table above may have come to be meanwhile. Its owner looks for our lock after he has his, or we find his.
      above()
      val lock = own.get.held(settings, outer.sortBy(_.folder.root.depth).toSeq.map(_.held(settings, Nil)))
      kept = true
      lock
    } finally if (!kept) {
        try (own ++ outer.reverse).foreach(file => remove(file.folder, file.path))
        finally settings.liveness.deregister(operationId)
      }
  }

  private def remove(folder: TableFolder, path: Path): Unit =
    try {
      folder.ops.delete(path)
      folder.ops.deleteEmpty(folder.side)
      ()
    } catch { case e: IOException => log.warn(s"cannot remove the lock $path", e) }

  private def write(
      folder: TableFolder,
      owner: Owner,
      settings: LockSettings,
      forOperation: Option[String]
  ): LockFile = {
    val ops = folder.ops
    if (!ops.status(folder.root).exists(_.isDirectory)) throw new FileNotFoundException(s"no folder ${folder.root}")
    val path = folder.newLock()
    var kept = false
    try {
      ops.mkdirs(folder.side)
      try ops.writeNew(path, Owner.write(owner))
      catch {
        case _: FileNotFoundException => // another's release has just removed the empty side folder
          ops.mkdirs(folder.side)
          ops.writeNew(path, Owner.write(owner))
      }
      // Two that come at once: whose lock is the later one sees both.
      val statuses = Listing.showing(folder, path, settings.sleep)
      val own = statuses.find(_.path.getName == path.getName)
      val others = TableFolder.locks(statuses).filter(_.path.getName != path.getName)
      if (own.isEmpty) throw new LockLostException(path, "it vanished at once")
      // Tables beside each other below this one do not hinder each other.
      val rivals = judge(folder, others, settings, own.map(_.modificationTime)).filter {
        case (_, Live(Some(other))) => owner.conflicts(other) && !forOperation.contains(other.operationId)
        case (_, Dead(Some(other))) => owner.conflicts(other)
        case (_, state)             => state != NoLock
      }
      rivals.collectFirst { case (_, Live(other)) => other }
        .foreach(other => throw new ConcurrentOperationException(folder.root, other))
      kept = true
      LockFile(folder, path, owner, own.get.modificationTime, rivals.map(_._1), statuses)
    } finally if (!kept) remove(folder, path)
  }

  /**
   * What the lock files among `statuses`, a listing of the side folder, say. `Live` if any is, else `Dead` if any is
   * there.
   * Looks into the files, and writes one to learn the file system's time only if a heartbeat seems old by our own
   * clock.
   */
  def lockState(folder: TableFolder, statuses: Seq[FileMeta], settings: LockSettings = LockSettings()): LockState = {
    val states = judge(folder, TableFolder.locks(statuses), settings, None).map(_._2)
    states.collectFirst { case live: Live => live }
      .orElse(states.collectFirst { case dead: Dead => dead })
      .getOrElse(NoLock)
  }

  private def judge(
      folder: TableFolder,
      locks: Seq[FileMeta],
      settings: LockSettings,
      fileSystemTime: Option[Long]
  ): Seq[(FileMeta, LockState)] = {
    lazy val exactTime: Long = fileSystemTime.getOrElse {
      try Clock.now(folder)
      catch { case _: IOException => System.currentTimeMillis() } // may not write: our own clock must do
    }
    def older(meta: FileMeta, millis: Long): Boolean =
      (fileSystemTime.isDefined || System.currentTimeMillis() - meta.modificationTime > millis) &&
        exactTime - meta.modificationTime > millis
    @tailrec def look(meta: FileMeta, left: Int): LockState = {
      val bytes = Owner.bytes(folder.ops, meta)
      val owner = bytes.flatMap(Owner.parse)
      owner.map(settings.liveness.processState) match {
        case Some(ProcessState.Alive) => Live(owner)
        case Some(ProcessState.Gone)  => Dead(owner)
        // It tells no process, and need not: who was killed in writing it has touched nothing yet, and who is slow at it
        // looks for his lock next and finds it gone.
        case None if bytes.exists(Owner.isUnfinished) =>
          if (left == 0 || older(meta, UnfinishedMillis)) Dead(None)
          else {
            settings.sleep(UnfinishedMillis / UnfinishedLooks)
            look(meta, left - 1)
          }
        case _ =>
          if (older(meta, settings.timeoutMillis)) Dead(owner)
          else if (owner.isEmpty && !folder.ops.exists(meta.path)) NoLock
          else Live(owner)
      }
    }
    locks.map { meta =>
      val state = look(meta, UnfinishedLooks)
      meta -> state
    }
  }
}
