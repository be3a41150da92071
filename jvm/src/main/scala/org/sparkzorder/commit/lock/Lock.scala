package org.sparkzorder.commit.lock

import java.io.IOException
import java.util.concurrent.{ExecutorService, Executors, ScheduledExecutorService, ScheduledFuture, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import org.apache.hadoop.fs.Path
import org.slf4j.{Logger, LoggerFactory}

import org.sparkzorder.commit._
import org.sparkzorder.commit.storage.FolderListing

/**
 * The table's lock, which is held. A daemon thread sets the file's time as its heartbeat. It never
 * makes the file anew, so a process that removes the file takes the lock from us for good.
 *
 * @param others lock files of dead owners that were there when this one was taken
 */
final class Lock private[commit] (
    private[commit] val folder: TableFolder,
    val path: Path,
    val owner: Owner,
    private[commit] val settings: LockSettings,
    firstBeat: Long,
    private[commit] val others: Seq[FileMeta]
) {

  private val heartbeat = new Heartbeat(folder, path, settings, firstBeat)
  private val look = new LastLook

  @volatile private var released = false

  OperationMetrics.held.put(this, heartbeat.taken)

  private val beating: ScheduledFuture[_] = heartbeat.start()

  def operationId: String = owner.operationId

  def isHeld: Boolean = heartbeat.held && heartbeat.lost.isEmpty

  /** Whether the operation came to its end and gave the lock back. */
  def isReleased: Boolean = released

  /**
   * Must be called before every rename. Returns if the lock is ours.
   *
   * @throws LockLostException when it is not, or when others may take its owner for dead
   */
  def check(): Unit = {
    if (!heartbeat.held) throw new LockLostException(path, "it is released")
    if (heartbeat.isOld) heartbeat.beat()
    heartbeat.lost.foreach(reason => throw new LockLostException(path, reason))
    val before = System.nanoTime()
    if (!folder.ops.exists(path)) {
      heartbeat.lost = Some("its file is gone")
      check()
    }
    look.nanos = before
  }

  /**
   * Whether no other process can have taken over. If the file is gone but the last heartbeat is young, then another
   * program deleted it with the table: nothing was judged by a lock that was alive.
   */
  private[sparkzorder] def isAlone: Boolean = !heartbeat.isOld || folder.ops.exists(path)

  /**
   * The same for many renames in a row: one look at the lock counts for `lookMillis`. A process that takes the lock
   * away waits longer than that before it touches anything, because the owner may be in the middle of a rename.
   */
  private[sparkzorder] def checkInARow(): Unit = {
    def isDue = !isHeld || System.nanoTime() - look.nanos >= settings.lookMillis * 1000000L
    // Many threads come at once, and one look does for all of them.
    if (isDue) look.synchronized { if (isDue) check() }
  }

  /**
   * A listing of the side folder that is not older than the lock. So it shows all that others did
   * before, also on a file system that lists late.
   *
   * @throws LockLostException when the lock is not ours any more
   * @throws java.io.IOException when the listing comes too late
   */
  private[commit] def listing(): Seq[FileMeta] = {
    val found = FolderListing.showing(folder, path, settings.sleep)
    if (found.isEmpty) check()
    found
  }

  /** Gives the lock back, as the last step of an operation. It has no effect after [[abandon]]. */
  def release(): Unit = if (heartbeat.held) {
    stop()
    released = true
    try Lock.remove(folder, path)(SideFolderReadme.removeIfAlone(folder, path))
    finally settings.liveness.deregister(operationId)
  }

  /** Stops the heartbeat and leaves the file, as after a death. The next statement recovers what is half done. */
  def abandon(): Unit = if (heartbeat.held) {
    stop()
    settings.liveness.deregister(operationId)
  }

  private def stop(): Unit = {
    heartbeat.held = false
    OperationMetrics.held.remove(this)
    beating.cancel(false)
    ()
  }
}

/** Sets the time of a lock's file, which was `first` when the file was written. */
private final class Heartbeat(folder: TableFolder, path: Path, settings: LockSettings, first: Long) {
  @volatile var lost: Option[String] = None
  @volatile var held = true
  @volatile private var last = System.currentTimeMillis()
  val taken: Long = System.currentTimeMillis()
  private val isBeating = new AtomicBoolean

  // The timer's thread calls no file system. So one that hangs stops the heartbeats of its own locks only.
  def start(): ScheduledFuture[_] = Lock.clock.scheduleWithFixedDelay(
    () =>
      if (isBeating.compareAndSet(false, true)) Lock.threads.execute { () =>
        try beat()
        finally isBeating.set(false)
      },
    settings.beatMillis,
    settings.beatMillis,
    TimeUnit.MILLISECONDS
  )

  def beat(): Unit =
    try {
      if (held && lost.isEmpty) {
        folder.ops.touch(path)
        folder.ops.status(path) match {
          case None                                                          => lost = Some("its file is gone")
          case Some(meta) if meta.modificationTime <= first && isLong(taken) =>
            lost = Some("the file system does not let us set modification times, so others cannot see the heartbeat")
          case _ => last = System.currentTimeMillis()
        }
      }
    } catch {
      case e: IOException =>
        Lock.log.warn(s"heartbeat of $path failed", e)
        if (isOld) lost = Some(s"its heartbeat fails: ${e.getMessage}")
    }

  def isOld: Boolean = isLong(last)

  // Half the timeout: an owner whose heartbeat fails stops long before others may take over.
  private def isLong(since: Long): Boolean = System.currentTimeMillis() - since > settings.timeoutMillis / 2
}

/** At the lock's file, an hour ago at first. One look counts for all threads. */
private final class LastLook {
  @volatile var nanos: Long = System.nanoTime() - TimeUnit.HOURS.toNanos(1)
}

private object Lock {
  val log: Logger = LoggerFactory.getLogger(classOf[Lock])

  /** @param before what else goes with the lock's file */
  def remove(folder: TableFolder, path: Path)(before: => Unit): Unit =
    try {
      before
      folder.ops.delete(path)
      if (folder.ops.keepsEmptyFolders) folder.ops.deleteEmpty(folder.side)
    } catch {
      // This process knows that the operation has ended. Others see it when the heartbeat is old.
      case e: IOException => log.warn(s"cannot remove the lock $path", e)
    }

  private def daemon(task: Runnable): Thread = {
    val thread = new Thread(task, "zorder-heartbeat")
    thread.setDaemon(true)
    thread
  }

  val clock: ScheduledExecutorService = {
    val executor = new java.util.concurrent.ScheduledThreadPoolExecutor(1, daemon(_))
    executor.setRemoveOnCancelPolicy(true)
    executor
  }

  /** One thread for each heartbeat at the same time, so that none waits for another's file system. */
  val threads: ExecutorService = Executors.newCachedThreadPool(daemon(_))
}
