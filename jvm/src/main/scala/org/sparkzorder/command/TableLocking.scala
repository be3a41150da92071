package org.sparkzorder.command

import java.io.IOException
import java.nio.file.AccessDeniedException
import java.util.UUID

import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.SparkException
import org.apache.spark.sql.classic

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.{Lock, LockSettings, LockState, Locking}
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.side.NestedTables
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.{DiskFull, FailedRead, ZOrderErrors, ZOrderRuntimeException}
import org.sparkzorder.indexing.ExcludedColumns
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.table.{RecoveryErrors, TableLocation, TableSideFolder}

/** What statements do around their own work: they take the table's lock and translate errors. */
object TableLocking {

  def settings(session: classic.SparkSession): LockSettings =
    LockSettings(timeoutMillis = session.sessionState.conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)

  /** Runs a recovery. Its errors are about the operation that was left behind, not about the statement, and say so. */
  private[command] def recovering[A](table: TableLocation)(work: => A): A =
    try work
    catch {
      case e: IOException if !isDenied(table, e) => throw ZOrderErrors.recoveryFailed(table.name, e)
      case e: UnreadableRecordException          => throw ZOrderErrors.recoveryFailed(table.name, e)
    }

  /** Refuses a locked table at once, before a statement does long work that does not need the lock yet. */
  def refuseBusy(table: TableLocation): Unit = translated(table, "Locking") {
    TableSideFolder.look(table).lockState(settings(table.session)) match {
      case LockState.Live(owner) => throw new ConcurrentOperationException(table.root, owner)
      case _                     => ()
    }
  }

  /** Runs work under the table's lock and translates its errors, as [[translated]] does. */
  def locked[T](table: TableLocation, operation: String)(work: Lock => T): T =
    lockedWithState(table, operation)((lock, _) => work(lock))

  /** The same for work that needs the state of the side folder, which is read under the lock. */
  def lockedWithState[T](
      table: TableLocation,
      operation: String,
      operationId: String = UUID.randomUUID().toString
  )(work: (Lock, TableState) => T): T =
    translated(table, operation) {
      // The root has a side folder. Another folder of a table that moves would get one.
      CommitMode.refusePath(table, TableState.NoSideFolder)
      val lock = Locking.acquire(TableSideFolder.of(table), operationId, settings(table.session), operation)
      val result =
        try {
          NestedTables.refuseAbove(TableSideFolder.of(table))
          recovering(table)(Recovery.recoverUnder(TableSideFolder.of(table), lock, settings(table.session)))
          val state = TableSideFolder.look(table)
          CommitMode.refusePath(table, state)
          ExcludedColumns.remember(table, lock)
          work(lock, state)
        } catch {
          // The operation is past its commit point. The lock stays like that of a dead owner, so
          // that the next statement finishes the operation.
          case e: IncompletePublishException =>
            lock.abandon()
            throw e
          case e: Throwable =>
            // An operation that is complete has given its lock back.
            val overwritten = !lock.isReleased && isOverwritten(table, lock, e)
            lock.release()
            if (!overwritten) throw e
            val conflict = new CommitConflictException(Seq("."), CommitConflictException.Overwritten)
            conflict.addSuppressed(e)
            throw conflict
        }
      lock.release()
      result
    }

  /**
   * Whether the work failed because the table was overwritten, and the lock file with it. If the
   * file system cannot tell at this moment, the answer is no.
   */
  private def isOverwritten(table: TableLocation, lock: Lock, e: Throwable): Boolean = e match {
    case _: IOException | _: SparkException | _: ZOrderRuntimeException =>
      try !TableSideFolder.of(table).ops.exists(lock.path)
      catch { case _: IOException => false }
    case e: CommitConflictException => e.getSuppressed.nonEmpty && isOverwritten(table, lock, e.getSuppressed.head)
    case _                          => false
  }

  /** Runs work and turns its exceptions, and those of the file system, into errors for users. */
  def translated[T](table: TableLocation, operation: String)(work: => T): T =
    try work
    catch {
      case e: CommitException                   => throw RecoveryErrors.of(table.name, operation, e)
      case e @ DiskFull(reason)                 => throw ZOrderErrors.diskFull(operation, table.name, reason, e)
      case FailedRead(file, cause)              => throw ZOrderErrors.failedRead(operation, table.name, file, cause)
      case e: IOException if isDenied(table, e) => throw ZOrderErrors.noWritePermission(deniedPath(table, e), e)
      case e: IOException                       => throw ZOrderErrors.operationFailed(operation, table.name, e)
    }

  /** Local file systems name it. Of others it is the table's folder. */
  private def deniedPath(table: TableLocation, e: IOException): String = e match {
    case e: AccessDeniedException if e.getFile != null && e.getFile.startsWith("/") => e.getFile
    case _                                                                          => table.root.toUri.getPath
  }

  /**
   * Whether a permission is missing. Local file systems do not say why they fail, so this asks for the folder's rights.
   */
  private def isDenied(table: TableLocation, e: IOException): Boolean = e match {
    case _: AccessControlException | _: AccessDeniedException => true
    case _                                                    =>
      try {
        table.fileSystem.access(table.root, FsAction.WRITE_EXECUTE)
        Option(e.getMessage).exists(m => m.contains("Permission denied") || m.contains("Read-only file system"))
      } catch {
        case _: AccessControlException => true
        case _: IOException            => false
      }
  }
}
