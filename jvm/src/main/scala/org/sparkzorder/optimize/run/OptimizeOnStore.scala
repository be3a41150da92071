package org.sparkzorder.optimize.run

import java.io.IOException

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.{CommitException, ObjectStore, Record, TableFolder, WorkerThreads}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.machine.ObjectCommitter
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
 * Exchanges files on an object store. The new files get their time stamps when they are published, so
 * the index follows that.
 */
private[optimize] final class OptimizeOnStore(
    statement: OptimizeStatement,
    plan: OptimizePlan,
    groups: Seq[Seq[Rewrite]],
    folder: TableFolder,
    lock: Lock,
    snapshot: Option[IndexSnapshot],
    store: ObjectStore
) extends Logging {
  private val committer = ObjectCommitter.under(lock, store, folder)

  def run(): CommittedRewrite = {
    val (excluded, result, newFiles) =
      try prepare()
      catch {
        case e: Throwable =>
          committer.abort()
          throw e
      }
    StatementProgress.current.foreach(_.stepTo("publishing"))
    val record = committer.commit()
    val written = record.outputs.map(o => o.path -> FileId(o.path, o.length, o.modificationTime)).toMap
    val published = newFiles.flatMap(f => written.get(f.name).map(id => f.copy(published = Some(id))))
    // The rows are in place. Without statistics queries read the new files.
    try {
      val same = unchanged(record)
      val indexed = published.filter(f => same(f.name))
      NewFile.addToIndex(plan, statement, folder, lock, snapshot, indexed, Encryption.none, excluded)
    } catch {
      case e @ (_: IOException | _: CommitException) =>
        logWarning(s"No statistics of the new files of ${plan.table.name}", e)
    }
    committer.tidy(lock)
    plan.table.refreshCaches()
    CommittedRewrite(record.version, result, published.map(_.id))
  }

  /**
   * New files that are still as they were published, now that no later write can get their time stamps. Stores count
   * whole seconds, and others may have written under the name of a new file.
   */
  private def unchanged(record: Record): Set[String] = {
    val listed = record.outputs.map { o =>
      new FileStatus(o.length, false, 0, 0L, o.modificationTime, folder.resolve(o.path))
    }
    val isPast = PastTime.system.wait(listed)
    val now = WorkerThreads.map(record.outputs.map(_.folder).distinct, folder.threads)(dir =>
      store.list(folder.resolve(dir))
    ).flatten.map(m => m.path -> m).toMap
    record.outputs.zip(isPast).collect {
      case (o, true) if o.etag.isDefined && now.get(folder.resolve(o.path)).exists(_.etag == o.etag) => o.path
    }.toSet
  }

  /** Everything up to the commit point. */
  private def prepare(): (ExcludedNames, RewriteResult, Seq[NewFile]) = {
    EncryptedFiles.refuseOnStore(plan.inputs)
    committer.mark(plan.folders)
    val excluded = ExcludedColumns.checked(plan.table)
    val columns = plan.indexed(TableIndex.columnsOf(plan.table, snapshot, excluded, plan.members))
    val result = new PlanJobs(plan, groups).run(folder, lock.operationId, columns, Some(store))
    StatementProgress.current.foreach(_.stepTo("checking"))
    RowVerification.check(plan, result, result.outputs.map(_.rows))
    val newFiles = result.outputs.map(NewFile.inPlace(plan, _))
    val record =
      new OptimizeRecord(statement, plan, excluded)
        .of(lock.operationId, newFiles, result, groups.size, Encryption.none)
    committer.prepare(record, keepsRetired = plan.options.retainHours > 0)
    (excluded, result, newFiles)
  }
}
