package org.sparkzorder.command

import java.io.IOException
import java.nio.file.AccessDeniedException

import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.classic

import org.sparkzorder.commit._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.PlainTable

/** What every statement that changes something does around its work. */
object Operations {

  def folder(table: PlainTable): TableFolder = TableFolder(table.root, new HadoopFileOps(table.fileSystem))

  def settings(session: classic.SparkSession): LockSettings =
    LockSettings(timeoutMillis = session.sessionState.conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)

  /**
   * Finishes or undoes what a dead owner left on the table, if anything. To be called before the table's files are listed.
   */
  def recover(table: PlainTable): Unit = translated(table, "Recovery") {
    recovering(table)(Recovery.recover(folder(table), settings(table.session)))
  }

  /** What fails here says nothing about the statement, but about what was left half done. */
  private def recovering(table: PlainTable)(work: => Recovered): Unit =
    try { work; () }
    catch {
      case e: IOException if !isDenied(table, e) => throw ZOrderErrors.recoveryFailed(table.name, e)
      case e: UnreadableRecordException          => throw ZOrderErrors.recoveryFailed(table.name, e)
    }

  /** The last published version; 0 before the first operation. */
  def version(table: PlainTable): Long = TableState.look(table.root, folder(table).ops) match {
    case s: TableState.SideFolder => s.version
    case _                        => 0L
  }

  /** Refuses at once what the lock would refuse after long work done without it. */
  def refuseBusy(table: PlainTable): Unit = translated(table, "Locking") {
    TableState.look(table.root, folder(table).ops) match {
      case s: TableState.SideFolder =>
        s.lockState(settings(table.session)) match {
          case LockState.Live(owner) => throw new ConcurrentOperationException(table.root, owner)
          case _                     => ()
        }
      case TableState.NoSideFolder => ()
    }
  }

  /** Runs the work under the table's lock, with our exceptions turned into Spark's. */
  def locked[T](table: PlainTable, operation: String, operationId: String)(work: Lock => T): T =
    translated(table, operation) {
      val lock = Locking.acquire(folder(table), operationId, settings(table.session), operation)
      val result =
        try {
          recovering(table)(Recovery.recoverUnder(folder(table), lock, settings(table.session)))
          work(lock)
        } catch {
          // Past the commit point: the lock stays, as a dead owner's, so that the next statement finishes the operation.
          case e: IncompletePublishException =>
            lock.abandon()
            throw e
          case e: IOException if !folder(table).ops.exists(lock.path) =>
            lock.release()
            val conflict = new CommitConflictException(Seq("."), CommitConflictException.Overwritten)
            conflict.addSuppressed(e)
            throw conflict
          case e: Throwable =>
            lock.release()
            throw e
        }
      lock.release()
      result
    }

  /** Runs work that needs no lock, with our exceptions and those of the file system turned into Spark's. */
  def translated[T](table: PlainTable, operation: String)(work: => T): T =
    try work
    catch {
      case e: ConcurrentOperationException =>
        throw ZOrderErrors.concurrentOperation(table.name, e.owner.fold("its lock file cannot be read")(_.describe))
      case e: CommitConflictException => throw ZOrderErrors.commitConflict(table.name, e.paths, e.reason, e)
      case e: LockLostException          => throw ZOrderErrors.lockLost(operation, table.name, e.reason, e)
      case e: RecoveryUnclearException   =>
        throw ZOrderErrors.recoveryUnclear(table.name, e.table.toUri.getPath, e.folders.map(_.sentence), e)
      case e: IncompletePublishException => throw ZOrderErrors.incompletePublish(operation, table.name, e)
      case e: VersionNotFoundException => throw ZOrderErrors.versionNotFound(table.name, e.version, e.current)
      case e: NotRestorableException   =>
        throw e.obstacle match {
          case RestoreObstacle.Changed => ZOrderErrors.restoreChangedFiles(table.name, e.version, e.paths)
          case RestoreObstacle.Gone    => ZOrderErrors.restoreFilesGone(table.name, e.version, e.paths)
          case RestoreObstacle.Taken   => ZOrderErrors.restoreNamesTaken(table.name, e.version, e.paths)
        }
      case e: CommitException                   => throw ZOrderErrors.operationFailed(operation, table.name, e)
      case e @ DiskFull(reason)                 => throw ZOrderErrors.diskFull(operation, table.name, reason, e)
      case e: IOException if isDenied(table, e) => throw ZOrderErrors.noWritePermission(table.root.toUri.getPath, e)
      case e: IOException                       => throw ZOrderErrors.operationFailed(operation, table.name, e)
    }

  /** Local file systems fail without saying why, so the folder is asked. */
  private def isDenied(table: PlainTable, e: IOException): Boolean = e match {
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
