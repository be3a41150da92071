package org.sparkzorder.commit.machine

import java.io.{FileNotFoundException, IOException}
import java.util.UUID

import com.google.common.cache.CacheBuilder
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.{Lock, LockSettings, Locking}
import org.sparkzorder.commit.log.{RecordJson, TableState}
import org.sparkzorder.commit.place.StoragePlaces

/**
 * A table as a query may read it.
 *
 * @param around how to read around what is half done; None when nothing is
 * @param exchanging whether files were being exchanged when we came: then a listing made before is to be made anew
 */
final case class ReadableState(state: TableState, around: Option[ReadAround], exchanging: Boolean)

/** Finishes or undoes what a dead owner left half done, for statements and for queries. */
object Recovery {

  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.machine.Recovery")

  /**
   * How long a query waits for the end of an exchange. What it reads afterwards stays. What it reads before
   * may go to the trash while the query runs.
   */
  val QueryWaitMillis = 2000L

  /** A thread looks at so many tables, if there are many. */
  private val TablesPerThread = 8

  /**
   * Takes the lock, recovers, gives it back. Without anything to do it only lists. Returns what was done, in words for
   * the log.
   *
   * @throws ConcurrentOperationException when a living owner has the lock
   * @param keep a person's word: the files that count in folders of which nothing else tells it. Folders that are gone
   *             stay away
   * @throws FoldersUnclearException when only a person can say how an operation ends in some folders
   * @throws java.io.IOException when we may not write there: see [[ReadAround]]
   */
  def recover(folder: TableFolder, settings: LockSettings = LockSettings(), keep: Option[Keep] = None): Seq[String] =
    if (!TableState.look(folder.root, folder.ops).needsRecovery(settings)) Nil
    else {
      val lock = Locking.acquire(folder, s"recover-${UUID.randomUUID()}", settings, "RECOVER")
      try recoverUnder(folder, lock, settings, keep)
      finally lock.release()
    }

  /**
   * Recovers under a lock that is held, as every statement does before it starts. If it fails the
   * lock is abandoned, so that the next statement tries again.
   */
  def recoverUnder(
      folder: TableFolder,
      lock: Lock,
      settings: LockSettings = LockSettings(),
      keep: Option[Keep] = None
  ): Seq[String] = {
    var finished = false
    try {
      val actions = new RecoveryUnderLock(lock, settings, keep).run()
      finished = true
      actions.foreach(action => log.warn(s"Recovery of ${folder.root}: $action"))
      actions
    } catch {
      // The half-done operation has its record, so the next statement sees it without a lock.
      case e: FoldersUnclearException =>
        finished = true
        throw e
    } finally if (!finished) lock.abandon()
  }

  /**
   * Comes before a query's listing of the table. It recovers after a dead owner. If it cannot, or an
   * owner lives that exchanges files, it says which side of the exchange is to be read.
   *
   * @param waitMillis how long to wait for the end of an exchange. No row depends on it: a query that
   *                   waits reads files that stay
   */
  def settled(folder: TableFolder, waitMillis: Long, settings: LockSettings = LockSettings()): ReadableState =
    new QueryWait(folder, waitMillis, settings).readableState()

  /** The same for many tables. Those in which nothing is under way are looked at side by side. */
  def settled(
      folders: Seq[TableFolder],
      waitMillis: Long,
      settings: LockSettings
  ): Seq[(TableFolder, ReadableState)] = {
    val threads = math.min(FileOps.Threads, folders.size / TablesPerThread)
    val states = WorkerThreads.map(folders, threads)(f => TableState.look(f.root, f.ops))
    folders.zip(states).map {
      case (folder, state) if state.isBusy => folder -> settled(folder, waitMillis, settings)
      case (folder, quiet)                 => folder -> ReadableState(quiet, None, exchanging = false)
    }
  }
}

/** One query's wait until it may read the table, see [[Recovery.settled]]. It looks again and again. */
private final class QueryWait(folder: TableFolder, waitMillis: Long, settings: LockSettings) {
  import QueryWait._
  import Recovery.QueryWaitMillis

  private val deadline = System.currentTimeMillis() + waitMillis

  private var pauseMillis = FirstPauseMillis
  private var recoveries = 0

  /** Whether this user or this file system does not let us recover. */
  private var isDenied = false

  private var exchanging = false

  def readableState(): ReadableState = Iterator.continually(look()).flatten.next()

  /** None when it must look again. */
  private def look(): Option[ReadableState] =
    try {
      val state = TableState.look(folder.root, folder.ops)
      exchanging ||= state.publishing.nonEmpty
      if (state.needsRecovery(settings)) afterDeath(state)
      else if (state.publishing.nonEmpty) besideOwner(state)
      else Some(ReadableState(state, None, exchanging))
    } catch {
      case e: IOException if exchanging => throw new HalfPublishedException(folder.root, e)
      // A newer version may have written it.
      case e: UnreadableRecordException if exchanging =>
        throw new HalfPublishedException(folder.root, new IOException(e.getMessage, e))
    }

  private def afterDeath(busy: TableState): Option[ReadableState] =
    if (isUnclear(busy)) readAround(busy, lives = false)
    else if (recoveries < MostRecoveries && tryRecover()) {
      recoveries += 1
      None
    } else if (isLate || isDenied || busy.publishing.isEmpty) readAround(busy, lives = false)
    else pause()

  private def besideOwner(busy: TableState): Option[ReadableState] =
    if (isLate || Outwaited.by(busy.publishing, waitMillis)) {
      Outwaited.remember(busy.publishing, waitMillis)
      readAround(busy, lives = true)
    } else pause()

  /** None when the owner came to an end just now. Of a file that we may not read Java says the same, time and again. */
  private def readAround(busy: TableState, lives: Boolean): Option[ReadableState] =
    try Some(ReadableState(busy, ScanView.of(folder, busy.statuses, lives), exchanging))
    catch { case _: FileNotFoundException if System.currentTimeMillis() < deadline + QueryWaitMillis => pause() }

  private def pause(): Option[ReadableState] = {
    settings.sleep(pauseMillis)
    pauseMillis = math.min(MostPauseMillis, pauseMillis * 2)
    None
  }

  private def isLate: Boolean = System.currentTimeMillis() >= deadline

  private def isUnclear(busy: TableState): Boolean =
    try busy.publishing.exists { file =>
        val (places, record) = (StoragePlaces.of(folder), RecordJson.read(folder, file))
        val found = places.of(record, isRecovery = true)
        found.exists(_.unclear.isDefined) || places.away(record, found).nonEmpty
      }
    catch { case _: FileNotFoundException => false }

  private def tryRecover(): Boolean =
    try {
      Recovery.recover(folder, settings)
      true
    } catch {
      case e: IOException =>
        log.warn(s"cannot recover ${folder.root}, reading around what is half done", e)
        isDenied = true
        false
      case _: FoldersUnclearException                             => false // there may be a way around it
      case _: ConcurrentOperationException | _: LockLostException => false // another process does it
    }
}

/** Operations for which a query of this JVM has waited in vain. The next queries need not wait for them. */
private object Outwaited {
  private val MostOperations = 1000L

  /** How long, by the record's file. */
  private val millis = CacheBuilder.newBuilder().maximumSize(MostOperations).build[FileMeta, java.lang.Long]().asMap

  /** Whether a query has waited for all of them, at least so long. */
  def by(records: Seq[RecordFile], waitMillis: Long): Boolean =
    records.forall(r => Option(millis.get(r.meta)).exists(_ >= waitMillis))

  def remember(records: Seq[RecordFile], waitMillis: Long): Unit =
    records.foreach(r => millis.merge(r.meta, Long.box(waitMillis), (one, other) => if (one < other) other else one))
}

private object QueryWait {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.machine.Recovery")

  /** In one query. A recovery may succeed time and again and change nothing. That must not stop the query for good. */
  private val MostRecoveries = 5

  private val FirstPauseMillis = 5L
  private val MostPauseMillis = 200L
}
