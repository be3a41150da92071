package org.sparkzorder.optimize.run

import java.io.IOException

import org.apache.spark.SparkException

import org.sparkzorder.commit.{CommitConflictException, TableFolder}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.machine.FolderCommitter
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{ExcludedColumns, TableIndex}
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.statement.OptimizeStatement

/** Exchanges files in their folders, by renames. */
private[optimize] final class OptimizeInPlace(
    statement: OptimizeStatement,
    plan: OptimizePlan,
    groups: Seq[Seq[Rewrite]],
    folder: TableFolder,
    lock: Lock,
    snapshot: Option[IndexSnapshot]
) {
  private val committer = new FolderCommitter(folder, lock)

  def run(): CommittedRewrite = {
    val published =
      try prepare()
      catch {
        case e: Throwable =>
          val overwritten = overwrittenFolders(e)
          committer.abort()
          if (overwritten.isEmpty) throw e
          val conflict = new CommitConflictException(overwritten, "the folder was overwritten")
          conflict.addSuppressed(e)
          throw conflict
      }
    StatementProgress.current.foreach(_.stepTo("publishing"))
    committer.commit()
    plan.table.refreshCaches()
    published
  }

  /** Everything up to the commit point. */
  private def prepare(): CommittedRewrite = {
    committer.stage(plan.folders)
    val excluded = ExcludedColumns.checked(plan.table)
    val columns = plan.indexed(TableIndex.columnsOf(plan.table, snapshot, excluded, plan.members))
    val result = new PlanJobs(plan, groups).run(folder, lock.operationId, columns)
    StatementProgress.current.foreach(_.stepTo("checking"))
    val encryption =
      WrittenFiles.check(plan, result, result.outputs.map(o => plan.table.fileSystem.getFileStatus(o.path)))
    plan.adoptRights(folder, result)
    val newFiles = result.outputs.map(NewFile.inPlace(plan, _))
    val record =
      new OptimizeRecord(statement, plan, excluded).of(lock.operationId, newFiles, result, groups.size, encryption)
    val prepared = committer.prepare(record, newFiles.map(f => f.name -> f.staged.path).toMap)
    NewFile.addToIndex(plan, statement, folder, lock, snapshot, newFiles, encryption, excluded)
    CommittedRewrite(prepared.version, result, newFiles.map(_.id))
  }

  /**
   * The folders that were overwritten, if that may be why the operation failed. A task then does
   * not find its staging folder, or a look at a file fails.
   */
  private def overwrittenFolders(e: Throwable): Seq[String] = e match {
    case _: IOException | _: SparkException | _: ZOrderRuntimeException =>
      try committer.overwritten()
      catch { case _: IOException => Nil }
    case _ => Nil
  }
}
