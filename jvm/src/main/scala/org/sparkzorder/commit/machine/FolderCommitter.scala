package org.sparkzorder.commit.machine

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.{Lock, SideFolderReadme}
import org.sparkzorder.commit.log.{RecordJson, StagingDirectories}
import org.sparkzorder.commit.place.{FolderMark, FolderPlaces}
import org.sparkzorder.commit.side.NestedTables
import org.sparkzorder.commit.storage.{AtomicFile, Clock}

/**
 * Brings one operation's files into a table on a disk or HDFS, by the steps in `docs/design/commit.md`.
 * Whatever happens, the caller calls `lock.release()` in the end. If something must be recovered, the lock was
 * abandoned, and its file stays.
 *
 * @param sleep how to wait for the file system's clock, in milliseconds
 */
private[sparkzorder] final class FolderCommitter(
    folder: TableFolder,
    lock: Lock,
    sleep: Long => Unit = Thread.sleep(_)
) extends Committer {
  import FolderCommitter._

  private val ops = folder.ops
  private val operationId = lock.operationId
  private val retries = Retries(Attempts, FirstPauseMillis, sleep)
  private val places = new FolderPlaces(folder, folder.threads, () => ops.exists(lock.path))
  private var claimed = Seq.empty[String]
  private var prepared = Option.empty[Record]

  /** Makes the staging of each folder. Throws a [[NestedTableException]] when one of them is a table of its own. */
  override def claim(dirs: Seq[String]): Unit = {
    NestedTables.refuseBelow(folder, dirs)
    StagingDirectories.write(folder, operationId, dirs)
    dirs.foreach { dir =>
      lock.check()
      orGone(dir) {
        Seq(folder.sideOf(dir), folder.stagingsOf(dir), folder.stagingOf(dir, operationId)).foreach(ops.mkdir)
        // If the whole table has just been overwritten, no record and no manifest tells of the marker.
        if (!ops.exists(folder.manifest(operationId)))
          throw new FileNotFoundException(s"${folder.root} was overwritten")
        mark(dir).claim()
        claimed :+= dir
      }
    }
    refuseMarked(dirs)
    lock.check()
  }

  // A folder that was copied or away while an operation ended may have old and new files side by side. Of two tables
  // with one folder, by a link, each makes its own markers first. So one sees those of the other.
  private def refuseMarked(dirs: Seq[String]): Unit = {
    val marked = dirs.flatMap { dir =>
      val marks = ops.list(folder.sideOf(dir)).map(m => m -> FolderMark.operation(m.name))
      val foreign = marks.collect { case (m, Some(id)) if id != operationId => m -> id }
      val (spare, others) = foreign.partition { case (m, id) => FolderMark.isSpare(folder, dir, m.name, id) }
      spare.foreach { case (m, _) => ops.delete(m.path) }
      others.map(_._1.path)
    }
    if (marked.nonEmpty) throw new StrayMarkException(folder.root, marked)
  }

  private def mark(dir: String) = FolderMark(folder, dir, dir, operationId)

  /** Of a folder that is gone nothing is made: it must not come back. */
  private def orGone(dir: String)(work: => Unit): Unit =
    try work
    catch {
      case e: FileNotFoundException =>
        val why = if (ops.exists(folder.resolve(dir))) "the folder was overwritten" else "the folder is gone"
        val conflict = new CommitConflictException(Seq(dir), why)
        conflict.addSuppressed(e)
        throw conflict
    }

  override def target(dir: String, path: Path): Path = folder.stagingOf(dir, operationId)

  override def leavesUploadsOpen: Boolean = false

  /** The files that the job wrote there are gone. */
  override def overwritten(): Seq[String] = claimed.sorted.filter(dir => mark(dir).decision().isEmpty)

  override def prepare(record: Record): Unit = {
    require(prepared.isEmpty, "prepared already")
    val numbered = record.copy(version = nextVersion(lock, record), way = CommitProtocol.InPlace)
    val others = numbered.folders.map(_.folder).filterNot(claimed.contains)
    require(others.isEmpty, s"not claimed: $others")
    prepared = Some(numbered)
    numbered.folders.foreach { work =>
      val trash = folder.trashOf(work.folder, numbered)
      orGone(work.folder)(Seq(trash.getParent, trash).foreach(ops.mkdir))
    }
    numbered.outputs.filter(_.source.isEmpty).foreach { o =>
      val place = folder.staged(o.path, operationId)
      if (!ops.status(place).exists(o.isSame)) throw new IOException(s"$place is not as it was written")
    }
    val gone = numbered.outputs.filter(o => o.source.exists(s => !ops.status(folder.resolve(s)).exists(o.isSame)))
    if (gone.nonEmpty) throw new CommitConflictException(gone.flatMap(_.source), "they are gone, or were changed")
    SideFolderReadme.write(folder)
  }

  /**
   * An interrupt of the caller ends the operation before its commit point; after it the steps come to their end, and the
   * caller is interrupted afterwards.
   */
  override def commit(): Record =
    WorkerThreads.toTheEnd(s"zorder-commit-$operationId", alone = folder.threads > 1)(exchange(_))

  private def exchange(interrupted: () => Boolean): Record = {
    val planned = prepared.getOrElse(throw new IllegalStateException("not prepared"))
    val record = planned.copy(root = Some(folder.root.toString))
    orAbort {
      Clock.waitPast(folder, record.outputs.map(_.modificationTime), sleep)
      lock.check()
      val moved = overwritten()
      if (moved.nonEmpty) throw new CommitConflictException(moved, "the folder was overwritten or moved")
      if (interrupted()) throw new InterruptedException("interrupted before the commit point")
    }
    val started = System.nanoTime()
    write(record)
    val settle = new SettleOperation(places, folder, record, () => (), folder.threads)
    def listing() = ops.list(folder.side)
    val millis = () => Some((System.nanoTime() - started) / 1000000)
    val result =
      try retries(s"publishing in ${folder.root}")(settle.toTheEnd(() => listing(), millis))
      catch {
        case e: IOException =>
          lock.abandon()
          throw new IncompletePublishException(folder.record(record, RecordState.Publishing), e)
      }
    orLater("clean up")(settle.clean(result))
    val done = result.orConflict
    OperationMetrics.published(done)
    done
  }

  /** Writes the record, which is the commit point. The rename may have taken effect although it failed. */
  private def write(record: Record): Unit = orAbort {
    val path = folder.record(record, RecordState.Publishing)
    try AtomicFile.put(ops, folder.newTemporary(), path, RecordJson.write(record))(())
    catch { case e: IOException => if (!ops.exists(path)) throw e }
  }

  /** What fails here is left to the next statement. The abandoned lock tells of it. */
  private def orLater(what: String)(work: => Unit): Unit =
    try work
    catch {
      case e @ (_: IOException | _: LockLostException) =>
        log.warn(s"cannot $what in ${folder.root}, the next statement will", e)
        lock.abandon()
    }

  /** If that fails the lock file stays. */
  override def abort(): Unit = orLater("roll back") {
    // Of a table that was overwritten with its lock and manifest, no other process knows what is left.
    if (ops.exists(lock.path) || ops.exists(folder.manifest(operationId))) lock.check()
    places.rollBack(operationId, claimed)
    ()
  }

  private def orAbort[A](step: => A): A =
    try step
    catch {
      case e: Exception =>
        abort()
        throw e
    }
}

private object FolderCommitter {
  private val log = LoggerFactory.getLogger(classOf[FolderCommitter])

  private val Attempts = 3
  private val FirstPauseMillis = 100L

  /**
   * The version that a record gets.
   *
   * @throws IllegalArgumentException when the record may not be published under this lock
   */
  private def nextVersion(lock: Lock, record: Record): Long = {
    Record.check(record, lock.operationId)
    // Two listings, since one that is late may lack the newest record.
    val newest = Seq.fill(2)(lock.listing()).map { listing =>
      // Its owner was taken for dead, and wrote the record since. It may exchange our inputs.
      if (SideListing.records(listing).exists(_.state == RecordState.Publishing))
        throw new ConcurrentOperationException(lock.folder.root, None)
      val underWay = SideListing.records(listing).find(_.state != RecordState.Undone).fold(0L)(_.version)
      math.max(underWay, SideListing.newestPublished(listing))
    }.max
    SideListing.nextVersion(newest)
  }
}
