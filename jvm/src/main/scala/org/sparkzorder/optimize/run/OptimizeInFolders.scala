package org.sparkzorder.optimize.run

import java.io.IOException

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.{CommitException, Record, TableFolder, WorkerThreads}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.machine.Operation
import org.sparkzorder.footer.Encryption
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{ExcludedColumns, PastTime, TableIndex}
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.check.EncryptedFiles
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.ExcludedNames
import org.sparkzorder.write.job.RewriteResult

/**
 * Exchanges files in their folders. On an object store the new files get their time stamps when they are
 * published, so the index follows that.
 */
private[optimize] final class OptimizeInFolders(
    statement: OptimizeStatement,
    plan: OptimizePlan,
    groups: Seq[Seq[Rewrite]],
    folder: TableFolder,
    lock: Lock,
    snapshot: Option[IndexSnapshot]
) extends Logging {
  import OptimizeInFolders._

  private val committer = Operation.inFolders(folder, lock, keepsRetired = plan.options.retainHours > 0)

  def run(): CommittedRewrite = {
    val (done, written) = Operation.run(committer, folder, lock)(begin()) { (done, written) =>
      if (committer.leavesUploadsOpen) indexPublished(done, written)
    }
    plan.table.refreshCaches()
    val published = done.outputs.map(o => FileId(o.path, o.length, o.modificationTime))
    CommittedRewrite(done.version, written.result, published)
  }

  /** Everything up to the commit point. */
  private def begin(): Written = {
    if (committer.leavesUploadsOpen) EncryptedFiles.refuseOnStore(plan.inputs)
    committer.claim(plan.folders)
    val excluded = ExcludedColumns.checked(plan.table)
    val columns = plan.indexed(TableIndex.columnsOf(plan.table, snapshot, excluded, plan.members))
    val result = new PlanJobs(plan, groups).run(folder, lock.operationId, columns, committer)
    StatementProgress.current.foreach(_.stepTo("checking"))
    val encryption =
      if (committer.leavesUploadsOpen) {
        // An open upload has no footer that could be read.
        RowVerification.check(plan, result, result.outputs.map(_.rows))
        Encryption.none
      } else {
        val found =
          WrittenFiles.check(plan, result, result.outputs.map(o => plan.table.fileSystem.getFileStatus(o.path)))
        plan.adoptRights(folder, result)
        found
      }
    val written = Written(excluded, result, result.outputs.map(NewFile.inPlace(plan, _)), encryption)
    committer.prepare(
      new OptimizeRecord(statement, plan, excluded).of(lock.operationId, written.files, result, groups.size, encryption)
    )
    if (!committer.leavesUploadsOpen) addToIndex(written, written.files)
    StatementProgress.current.foreach(_.stepTo("publishing"))
    written
  }

  private def addToIndex(written: Written, files: Seq[NewFile]): Unit =
    NewFile.addToIndex(plan, statement, folder, lock, snapshot, files, written.encryption, written.excluded)

  /** The rows are in place. Without statistics queries read the new files. */
  private def indexPublished(done: Record, written: Written): Unit =
    try {
      val ids = unchanged(done)
      addToIndex(written, written.files.flatMap(f => ids.get(f.name).map(id => f.copy(published = Some(id)))))
    } catch {
      case e @ (_: IOException | _: CommitException) =>
        logWarning(s"No statistics of the new files of ${plan.table.name}", e)
    }

  /**
   * New files that are still as they were published, now that no later write can get their time stamps. Stores count
   * whole seconds, and others may have written under the name of a new file.
   */
  private def unchanged(record: Record): Map[String, FileId] = {
    val listed = record.outputs.map { o =>
      new FileStatus(o.length, false, 0, 0L, o.modificationTime, folder.resolve(o.path))
    }
    val isPast = PastTime.system.wait(listed)
    val now = WorkerThreads.map(record.outputs.map(_.folder).distinct, folder.threads)(dir =>
      folder.ops.list(folder.resolve(dir))
    ).flatten.map(m => m.path -> m).toMap
    record.outputs.zip(isPast).collect {
      case (o, true) if o.etag.isDefined && now.get(folder.resolve(o.path)).exists(_.etag == o.etag) =>
        o.path -> FileId(o.path, o.length, o.modificationTime)
    }.toMap
  }
}

private object OptimizeInFolders {

  private final case class Written(
      excluded: ExcludedNames,
      result: RewriteResult,
      files: Seq[NewFile],
      encryption: Encryption
  )
}
