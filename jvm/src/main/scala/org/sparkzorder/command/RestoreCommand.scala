package org.sparkzorder.command

import java.io.IOException

import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.SparkThrowable
import org.apache.spark.internal.Logging
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.util.DateTimeUtils.{getZoneId, stringToTimestamp}
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.commit.{CommitConflictException, CommitException, Record, TableFolder, VersionNotFoundException}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{History, TableState}
import org.sparkzorder.commit.machine.Operation
import org.sparkzorder.commit.upkeep.{Restore, RestorePlan}
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.optimize.check.{CommitMode, UnsafeTables}
import org.sparkzorder.optimize.options.{OptionTable, OptionValues}
import org.sparkzorder.optimize.plan.FileOrigin
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.statement.{RestorePoint, RestoreStatement}
import org.sparkzorder.stats.FileId
import org.sparkzorder.table._

/**
 * `RESTORE`: brings the files of an earlier version back from the trash. It makes a new version, so it can be undone.
 */
final case class RestoreCommand(statement: RestoreStatement) extends LongCommand with Logging {
  import OptionTable.lostFiles
  import statement.target

  // The option is the same for all formats.
  private val restoresLost = OptionValues.of(statement.options, "parquet", Seq(lostFiles.key))(lostFiles).isDefined

  override def operation: String = History.RestoreOperation

  override def tableName: String = target.title

  override protected def metricNames: Seq[String] = Seq("files restored", "files removed", "size of restored files")

  /** The columns have Delta's names. */
  override protected def resultColumns: StructType = NamedCommand.columns(
    "table_size_after_restore" -> LongType,
    "num_of_files_after_restore" -> LongType,
    "num_removed_files" -> LongType,
    "num_restored_files" -> LongType,
    "removed_files_size" -> LongType,
    "restored_files_size" -> LongType
  )

  override protected def reported(session: SparkSession): Seq[Row] = {
    val location = PlainTables.locate(session, target)
    val state = TableRecovery.recover(location)
    CommitMode.refusePath(location, state)
    val table = PlainTables.open(location, FolderColumns.OfRestore)
    // These checks come before the lock, which would create the side folder of a table that has no versions.
    val current = state.version
    val version = RestoreCommand.versionOf(table, statement.to)
    if (version > current)
      throw RecoveryErrors.of(table.name, operation, new VersionNotFoundException(version, current))
    UnsafeTables.refuseShared(table, table.listed)
    TableLocking.translated(table, operation) {
      RenameCheck.refuseChanging(table, operation, CommitMode.isNewLocation(table, state))
      RefreshSkippingIndexCommand.renew(location, operation)
    }
    val metrics =
      if (version == current) {
        TableRecovery.settle(location, operation)
        RestoreMetrics.of(PlainTables.open(location).listed.flatMap(_.files), RestorePlan(Nil, Nil))
      } else
        TableLocking.lockedWithState(table, operation) { (lock, now) =>
          if (CommitMode.isNewLocation(table, now)) executeByCatalog(location, version, lock)
          else execute(table, version, lock, now)
        }
    table.refreshCaches()
    show(session, metrics.restoredFiles, metrics.removedFiles, metrics.restoredBytes)
    Seq(metrics.row)
  }

  private def execute(table: PlainTable, version: Long, lock: Lock, state: TableState): RestoreMetrics = {
    val folder = TableSideFolder.of(table)
    val plan = Restore.plan(folder, lock, version, restoresLost)
    val files = table.folders().flatMap(_.files)
    TableSideFolder.reappeared(table, state, files)
    val metrics = RestoreMetrics.of(files, plan)
    if (!plan.isNothing) {
      StatementProgress.current.foreach(_.enter(Phase.Footers, until = 0.3, files = plan.outputs.size.toLong))
      RestoredFiles.check(table, plan, version)
      val committer = Operation.inFolders(folder, lock)
      if (plan.renamed > 0 && !committer.leavesUploadsOpen) logWarning(
        s"${table.name}: ${plan.renamed} files come back by other names, since others have taken theirs"
      )
      val record = recordOf(plan, version, lock.operationId, metrics)
      Operation.run(committer, folder, lock) {
        val moves = plan.outputs.size.toLong + (if (committer.leavesUploadsOpen) 0 else plan.inputs.size)
        StatementProgress.current.foreach(_.enter(Phase.Moving, until = 0.8, files = moves))
        committer.claim(record.folders.map(_.folder))
        committer.prepare(record)
      } { (_, _) =>
        // Where all files were gone, the columns are known only now.
        def opened = if (files.isEmpty) PlainTables.open(table) else table
        // On an object store a file comes back by another name.
        index(opened, folder, lock, plan, hasOtherNames = committer.leavesUploadsOpen)
      }
    }
    metrics
  }

  private def executeByCatalog(location: TableLocation, version: Long, lock: Lock): RestoreMetrics = {
    CatalogTables.settleUnder(location, lock)
    val located = PlainTables.locate(location.session, target)
    // The lock is that of the table's root.
    if (located.root != location.root)
      throw new CommitConflictException(Seq("."), "the location of the table was changed")
    val table = PlainTables.open(located)
    val before = table.folders().flatMap(_.files)
    val plan = RestoreByCatalog.run(table, version, lock, restoresLost) { plan =>
      val record = recordOf(plan, version, lock.operationId, RestoreMetrics.of(before, plan))
      record.copy(parameters = record.parameters + (OptionTable.commitMode.key -> OptionTable.NewLocation))
    }
    table.refreshCaches()
    index(PlainTables.open(table), TableSideFolder.of(table), lock, plan, hasOtherNames = true)
    RestoreMetrics.of(before, plan)
  }

  private def recordOf(plan: RestorePlan, version: Long, operationId: String, metrics: RestoreMetrics): Record = Record(
    version = 0,
    operationId = operationId,
    operation = operation,
    timestamp = System.currentTimeMillis(),
    userId = UserGroupInformation.getCurrentUser.getShortUserName,
    parameters = Map(History.RestoreParameter -> version.toString) ++ statement.options,
    metrics = metrics.history ++ Seq("numRenamedFiles" -> plan.renamed, "numLostFiles" -> plan.lost.size)
      .collect { case (name, n) if n > 0 => name -> n.toString },
    inputs = plan.inputs,
    outputs = plan.outputs,
    lost = plan.lost
  )

  /**
   * Collects statistics again for the files that OPTIMIZE had written: the index dropped them when
   * the files were retired. The records tell which these are. All rows are in place by now.
   */
  private def index(
      opened: => PlainTable,
      folder: TableFolder,
      lock: Lock,
      plan: RestorePlan,
      hasOtherNames: Boolean
  ): Unit =
    try {
      val table = opened
      TableIndex.of(table, folder).foreach { snapshot =>
        val files = table.folders().flatMap(_.files)
        val back = plan.outputs.map(_.path).toSet
        def isUnknown(id: FileId): Boolean =
          back(id.path) && snapshot.ordinalOf(id.path, id.length, id.modificationTime) < 0
        val unknown = files.filter(f => isUnknown(TableIndex.idOf(table, f)))
        val origins =
          FileOrigin.ofRecords(unknown.map(TableIndex.idOf(table, _)), History.newestFirst(folder), Int.MaxValue)
        val forgotten = unknown.filter(f => hasOtherNames || origins.contains(TableIndex.idOf(table, f)))
        if (forgotten.nonEmpty) {
          val stats = TableIndex.build(table, forgotten, TableIndex.columnsOf(table, Some(snapshot)))
          val listed = files.map(TableIndex.idOf(table, _)).toSet
          TableIndex.add(table, folder, lock, Some(snapshot), listed, stats, origins = origins)
        }
      }
    } catch {
      // The files are back already. Queries only skip fewer of them until REFRESH SKIPPING INDEX.
      case e @ (_: IOException | _: CommitException | _: SparkThrowable) =>
        logWarning(s"No statistics of the files that are back in ${folder.root}", e)
    }
}

object RestoreCommand {

  /**
   * The version to go back to. For a time, it is the version that the table had then, by the time
   * stamps that DESCRIBE HISTORY shows. Before the first operation that was version 0.
   *
   * @throws org.apache.spark.sql.AnalysisException when the text is not a time, or the history does
   *   not reach back so far
   */
  private def versionOf(table: PlainTable, to: RestorePoint): Long = to match {
    case RestorePoint.Version(number) => number
    case RestorePoint.Time(text)      =>
      val zone = getZoneId(table.session.sessionState.conf.sessionLocalTimeZone)
      val micros = stringToTimestamp(UTF8String.fromString(text), zone).getOrElse(throw ZOrderErrors.invalidTime(text))
      // Newest first. Records have milliseconds, the time has microseconds.
      val records = History.newestFirst(TableSideFolder.of(table)).map(_.record)
      var oldest = 1L
      records.map { r => oldest = r.version; r }.find(_.timestamp <= Math.floorDiv(micros, 1000L)).map(_.version)
        .getOrElse(if (oldest == 1L) 0L else throw ZOrderErrors.timeBeforeHistory(table.name, text, oldest))
  }
}

private[command] final case class RestoreMetrics(
    bytesAfter: Long,
    filesAfter: Long,
    removedFiles: Long,
    restoredFiles: Long,
    removedBytes: Long,
    restoredBytes: Long
) {
  def row: Row = Row.fromTuple(this)

  /** The metrics that the history keeps, with Delta's names. */
  def history: Map[String, String] = RestoreMetrics.Names.zip(productIterator.map(_.toString).toSeq).toMap
}

private[command] object RestoreMetrics {
  private val Names = Seq(
    "tableSizeAfterRestore",
    "numOfFilesAfterRestore",
    "numRemovedFiles",
    "numRestoredFiles",
    "removedFilesSize",
    "restoredFilesSize"
  )

  def of(before: Seq[FileStatus], plan: RestorePlan): RestoreMetrics = {
    val (removed, restored) = (plan.inputs.map(_.length).sum, plan.outputs.map(_.length).sum)
    val (out, in) = (plan.inputs.size.toLong, plan.outputs.size.toLong)
    RestoreMetrics(before.map(_.getLen).sum - removed + restored, before.size - out + in, out, in, removed, restored)
  }
}
