package org.sparkzorder.command

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.{StringType, StructType}

import org.sparkzorder.commit._
import org.sparkzorder.footer.UnchangedFiles
import org.sparkzorder.optimize.{OptimizeMetrics, OptimizeOperation, OptimizePlan, OptimizePlanner, OptimizeStrategy}
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.table.{PlainTable, PlainTables, TableSideFolder}
import org.sparkzorder.write.RewriteJobs

/**
 * `OPTIMIZE`: rewrites files of a table along a curve, or packs small ones, and exchanges them in one operation, or for
 * partial progress in several.
 */
final case class OptimizeCommand(statement: OptimizeStatement) extends LeafRunnableCommand {

  override val output: Seq[Attribute] = toAttributes(OptimizeCommand.schema)

  override def run(session: SparkSession): Seq[Row] = {
    val place = PlainTables.locate(session, statement.target)
    LockedStatements.recover(place)
    val (state, table) = OptimizePlanner.listed(place)
    OptimizePlanner.check(table, statement)
    LockedStatements.translated(table, "OPTIMIZE")(RenameCheck.refuseChanging(table, "OPTIMIZE"))
    val plan = OptimizePlanner.plan(state, table, statement)
    val metrics = if (plan.rewrites.isEmpty) nothing(plan) else committed(session, plan)
    Seq(Row(plan.table.root.toString, metrics.row))
  }

  private def nothing(plan: OptimizePlan): OptimizeMetrics =
    OptimizeMetrics(
      added = Nil,
      removed = Nil,
      considered = plan.considered,
      partitions = 0,
      batches = 0,
      clustered = false,
      version = plan.version,
      clustering = Nil,
      strategy = OptimizeStrategy.nothing(plan),
      auto = plan.auto
    )

  /** Operations one after the other, of which each is whole by itself: one, or several for partial progress. */
  private def committed(session: SparkSession, planned: OptimizePlan): OptimizeMetrics = {
    val operations = new OptimizeOperation(statement)
    planned.kept.warn(planned.table)
    val (plan, commits, first) = operation(planned.table) { lock =>
      // Somebody may have finished an operation since we listed: then the plan is about files that are gone.
      // A table above or below has versions of its own.
      val isOurs = TableSideFolder.version(planned.table) == planned.version && !LockedStatements.isNested(planned.table, lock)
      val current =
        if (isOurs) planned
        else {
          val (state, table) = OptimizePlanner.listed(PlainTables.locate(session, statement.target))
          OptimizePlanner.plan(state, table, statement)
        }
      val commits = current.options.fileGroups.commits(current.rewrites)
      val first = commits.headOption.map(groups => operations.run(current.only(groups.flatten, Nil), groups, lock))
      (current, commits, first)
    }
    val done = commits.drop(1).foldLeft(first.toVector) { (done, groups) =>
      val part = plan.only(groups.flatten, done.flatMap(_.written))
      try done :+ operation(plan.table) { lock =>
          refuseChanged(session, part)
          operations.run(part, groups, lock)
        }
      catch {
        case NonFatal(e) =>
          logWarning(s"OPTIMIZE of ${plan.table.name}: ${done.size} of ${commits.size} commits were made, and stay", e)
          throw e
      }
    }
    if (done.isEmpty) nothing(plan)
    else {
      val whole = RewriteJobs.merged(done.map(_.result))
      operations.metrics(plan, whole, commits.map(_.size).sum)
        .copy(version = done.last.version, clustering = OptimizePlanner.clustering(plan, whole))
    }
  }

  private def operation[T](table: PlainTable)(work: Lock => T): T =
    LockedStatements.locked(table, "OPTIMIZE", UUID.randomUUID().toString)(work)

  /** Between two of our operations the table was anybody's. Their own check of the inputs comes after all the work. */
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
  val schema: StructType = new StructType()
    .add("path", StringType, nullable = false)
    .add("metrics", OptimizeMetrics.schema, nullable = false)
}
