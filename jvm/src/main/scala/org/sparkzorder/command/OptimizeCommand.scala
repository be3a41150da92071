package org.sparkzorder.command

import scala.util.control.NonFatal

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.{StringType, StructType}

import org.sparkzorder.commit.{CommitConflictException, WrittenNames}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{History, HistorySettings, TableState}
import org.sparkzorder.footer.files.UnchangedFiles
import org.sparkzorder.memory.learn.PendingScans
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.optimize.plan.{OptimizePlan, OptimizePlanner, StatementContext}
import org.sparkzorder.optimize.report._
import org.sparkzorder.optimize.run.{CommittedRewrite, OptimizeOperation, OptimizeRecord, PlanJobs}
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.table.{PlainTable, PlainTables, TableLocation, TableSideFolder}
import org.sparkzorder.write.job.RewriteJobs

/**
 * `OPTIMIZE`: rewrites files of a table along a curve, or packs small ones. The files are exchanged
 * in one operation, or in several with partial progress.
 */
final case class OptimizeCommand(statement: OptimizeStatement) extends LongCommand {
  import OptimizeCommand._

  override protected def resultColumns: StructType =
    NamedCommand.columns("path" -> StringType, "metrics" -> OptimizeMetrics.schema, "summary" -> StringType)

  override def operation: String = "OPTIMIZE"

  override def tableName: String = statement.target.title

  override def title: String = if (statement.dryRun) s"${super.title} DRY RUN" else super.title

  override protected def metricNames: Seq[String] =
    Seq("files considered", "files removed", "files added", "size of removed files", "size of added files")

  override protected def reported(session: SparkSession): Seq[Row] = {
    val location = PlainTables.locate(session, statement.target)
    val started = System.nanoTime()
    val (plan, isSettled) = planned(location)
    def millis = Some((System.nanoTime() - started) / 1000000)
    val metrics =
      if (statement.dryRun) predicted(plan)
      else if (plan.rewrites.isEmpty && isSettled) metricsOfNothing(plan).copy(millis = millis)
      else
        commit(session, plan, isSettled).copy(
          millis = millis,
          forgotten = PendingScans.forgetFiles(plan.table.root, plan.inputs.map(_.status.getPath))
        )
    if (!statement.dryRun)
      show(
        session,
        metrics.considered,
        metrics.removed.size.toLong,
        metrics.added.size.toLong,
        metrics.removed.sum,
        metrics.added.sum
      )
    Seq(Row(plan.table.root.toString, metrics.row, OptimizeSummary.of(metrics, plan.keeping)))
  }

  /** The plan, and whether files in earlier folders need not be copied forward before. */
  private def planned(location: TableLocation): (OptimizePlan, Boolean) = {
    val state = TableRecovery.recover(location)
    CommitMode.refusePath(location, state)
    val isSettled =
      statement.dryRun || !CommitMode.isNewLocation(location, state) || !CatalogTables.hasWork(location, operation)
    val context = StatementContext.of(statement, location, state)
    OptimizePlanner.check(context)
    if (!statement.dryRun)
      TableLocking.translated(location, operation) {
        RenameCheck.refuseChanging(context.table, operation, context.isByCatalog)
        RefreshSkippingIndexCommand.renew(location, operation)
      }
    (OptimizePlanner.plan(context), isSettled)
  }

  private def enterRewriting(plan: OptimizePlan, until: Double): Unit = StatementProgress.current.foreach { progress =>
    // A dry run writes no file.
    val files = if (statement.dryRun) 0L else plan.rewrites.map(_.outputFiles.toLong).sum
    progress.enter(Phase.Rewriting, until, files, plan.inputs.map(_.status.getLen).sum)
  }

  private def predicted(plan: OptimizePlan): OptimizeMetrics =
    if (plan.rewrites.isEmpty) metricsOfNothing(plan).copy(dryRun = true)
    else {
      enterRewriting(plan, until = 1)
      val groups = plan.options.fileGroups.commits(plan.rewrites).flatten
      OptimizePrediction.metrics(
        plan,
        new PlanJobs(plan, groups).predict(),
        groups.size,
        History.newestFirst(TableSideFolder.of(plan.table)).map(_.record).take(HistorySettings.Whole)
      )
    }

  private def metricsOfNothing(plan: OptimizePlan): OptimizeMetrics =
    OptimizeMetrics.of(plan, added = Nil, batches = 0, OptimizeStrategy.nothing(plan))

  /**
   * Carries a plan out: in one operation, or with partial progress in several, one after the other.
   * Each of them is complete by itself.
   */
  private def commit(session: SparkSession, planned: OptimizePlan, isSettled: Boolean): OptimizeMetrics = {
    planned.kept.warn(planned.table)
    enterRewriting(planned, UntilWritten)
    val started = firstCommit(session, planned, isSettled)
    val published = started.laterCommits.foldLeft(started.published.toVector) { (before, groups) =>
      before :+ laterCommit(session, started, before, groups)
    }
    if (published.isEmpty) metricsOfNothing(started.plan)
    else {
      val whole = RewriteJobs.merged(published.map(_.result))
      OptimizeRecord.metrics(started.plan, whole, started.commits.map(_.size).sum)
        .copy(version = published.last.version, clustering = ColumnClustering.of(started.plan, whole))
    }
  }

  private def firstCommit(session: SparkSession, planned: OptimizePlan, isSettled: Boolean): Started =
    underLock(planned.table) { (lock, state, hasCopied) =>
      val plan = currentPlan(session, planned, state, isSettled && !hasCopied)
      if (plan ne planned) enterRewriting(plan, UntilWritten)
      val commits = plan.options.fileGroups.commits(plan.rewrites)
      def run(groups: FileGroupSchedule) =
        OptimizeOperation.run(statement, plan.only(groups.flatten, Nil), groups, lock, state)
      Started(plan, commits, commits.headOption.map(run))
    }

  /**
   * The plan, made anew if another operation has changed the table since it was listed, or files were copied forward.
   */
  private def currentPlan(
      session: SparkSession,
      planned: OptimizePlan,
      state: TableState,
      isSettled: Boolean
  ): OptimizePlan = {
    // A first operation of another process may have been given up, which the version does not tell.
    val isSameMode = planned.partitions.isDefined || !CommitMode.isNewLocation(planned.table, state)
    if (isSettled && isSameMode && state.version == planned.version) planned
    else {
      val location = PlainTables.locate(session, statement.target)
      // The lock is that of the table's root.
      if (location.root != planned.table.root)
        throw new CommitConflictException(Seq("."), "the location of the table was changed")
      OptimizePlanner.plan(StatementContext.of(statement, location, state))
    }
  }

  private def laterCommit(
      session: SparkSession,
      started: Started,
      before: Seq[CommittedRewrite],
      groups: FileGroupSchedule
  ): CommittedRewrite = {
    val table = started.plan.table
    val part = started.plan.only(groups.flatten, before.flatMap(_.written))
    try underLock(table) { (lock, state, _) =>
        refuseChanged(session, part)
        OptimizeOperation.run(statement, part, groups, lock, state)
      }
    catch {
      case NonFatal(e) =>
        val commits = s"${before.size} of ${started.commits.size} commits were made and stay"
        logWarning(s"OPTIMIZE of ${table.name}: $commits", e)
        throw e
    }
  }

  /** Settles the table and runs work that is told the state after that, and whether files were copied forward. */
  private def underLock[T](table: PlainTable)(work: (Lock, TableState, Boolean) => T): T =
    TableLocking.lockedWithState(table, operation, WrittenNames.newId()) { (lock, state) =>
      if (!CommitMode.isNewLocation(table, state)) work(lock, state, false)
      else {
        val hasCopied = CatalogTables.settleUnder(table, lock)
        work(lock, TableSideFolder.look(table), hasCopied)
      }
    }

  /**
   * Refuses a commit if others changed its inputs. Between two commits the lock is free. The
   * commit itself checks its inputs too, but only after all of its work.
   */
  private def refuseChanged(session: SparkSession, plan: OptimizePlan): Unit = {
    val inputs = plan.inputs.map(_.status)
    val conf = session.asInstanceOf[ClassicSession].sessionState.newHadoopConf()
    val changed = inputs.zip(UnchangedFiles.of(conf, inputs)).collect { case (f, false) => f }
    if (changed.nonEmpty)
      throw new CommitConflictException(
        changed.map(f => plan.table.names.of(f.getPath)),
        "they are gone, or were changed or replaced, between two commits"
      )
  }
}

object OptimizeCommand {

  /** The share of the statement that is done when all files are written. */
  private val UntilWritten = 0.98

  /** The file groups of one commit, each with its rewrites. */
  private type FileGroupSchedule = Seq[Seq[Rewrite]]

  /**
   * An OPTIMIZE after its first commit.
   *
   * @param commits the file groups of each commit, the first one among them
   * @param published the first commit; None if there was nothing to do
   */
  private final case class Started(
      plan: OptimizePlan,
      commits: Seq[FileGroupSchedule],
      published: Option[CommittedRewrite]
  ) {
    def laterCommits: Seq[FileGroupSchedule] = commits.drop(1)
  }
}
