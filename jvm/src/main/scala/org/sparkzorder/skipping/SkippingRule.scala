package org.sparkzorder.skipping

import java.util.{Collections, IdentityHashMap}

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, PartitioningAwareFileIndex}

import org.sparkzorder.commit.{CommitException, HalfPublishedException, RecoveryUnclearException}
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.{ZOrderErrors, ZOrderRuntimeException}
import org.sparkzorder.index.IndexFormatException
import org.sparkzorder.table.PlainTables
import org.sparkzorder.write.FixedFileIndex

/**
 * Replaces the file index of every scan of a plain table that has a `_zorder` folder by one that leaves out the files that cannot
 * hold a matching row. Runs after partition pruning and before join planning, which then sees the smaller size.
 */
class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] with Logging {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    // The pattern matches a relation again below each operator over it: the outermost match has all the filters.
    val seen = Collections.newSetFromMap(new IdentityHashMap[LogicalPlan, java.lang.Boolean])
    plan.transformDown {
      case operation @ PhysicalOperation(_, filters, l: LogicalRelation) if eligible(l) && seen.add(l) =>
        rewritten(l, filters) match {
          case Some(replacement) =>
            seen.add(replacement)
            operation.transformUp { case leaf if leaf eq l => replacement }
          case None => operation
        }
    }
  }

  private def eligible(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation =>
      PlainTables.formatOf(r).isDefined && !l.isStreaming && (r.location match {
        case _: SkippingFileIndex | _: FixedFileIndex => false
        case _                                        => true
      })
    case _ => false
  }

  private def rewritten(l: LogicalRelation, filters: Seq[Expression]): Option[LogicalRelation] = {
    val relation = l.relation.asInstanceOf[HadoopFsRelation]
    try {
      val named =
        if (l.catalogTable.isDefined) None
        else NamedFiles.of(session.asInstanceOf[classic.SparkSession], relation.location)
      TableViews.of(session, relation.location, relation.options, l.catalogTable, named).flatMap { views =>
        val now = named.flatMap(_.placed(relation.options))
        val placed = now.getOrElse(relation.location) match {
          case base: PartitioningAwareFileIndex if views.exists(_.overlay.isDefined) =>
            Some(TableViews.around(session, base, relation.options, views))
          case _ => now
        }
        val current = placed.fold(relation)(p => relation.copy(location = p)(relation.sparkSession))
        val normalized = ScanFilters.evaluable(filters, l)
        val enabled = conf.getConf(ZOrderConf.skippingEnabled)
        val index = Pruning(l, current, views, filters, normalized, enabled)
        index.map { index =>
          // Rows and columns stay as they are: the filters stay above the scan, and the optimizer estimates by them.
          val statistics = l.catalogTable.map { t =>
            t.copy(stats = t.stats.map(_.copy(sizeInBytes = BigInt(index.sizeInBytes))))
          }
          l.copy(relation = relation.copy(location = index)(relation.sparkSession), catalogTable = statistics)
        }.orElse(placed.map(_ => l.copy(relation = current)))
      }
    } catch {
      // Half an operation's files are no answer, however they are read.
      case e: RecoveryUnclearException =>
        val path = e.table.toUri.getPath
        throw ZOrderErrors.recoveryUnclear(
          l.catalogTable.fold(s"`$path`")(_.identifier.quotedString),
          path,
          e.folders.map(_.sentence),
          e
        )
      case e: HalfPublishedException =>
        throw ZOrderErrors.recoveryFailed(
          l.catalogTable.fold(s"`${e.table.toUri.getPath}`")(_.identifier.quotedString),
          e
        )
      case e: ZOrderRuntimeException => throw e
      // A query must not fail for want of a shortcut; what is lost is speed, and the log says so.
      case NonFatal(e) =>
        // Our own messages name the file that is to blame and hold no data; of others' nobody knows.
        val why = e match {
          case _: CommitException | _: IndexFormatException => e.getMessage
          case _                                            => e.getClass.getSimpleName
        }
        logWarning(s"No files are skipped for ${relation.location.rootPaths.mkString(", ")}: $why", e)
        SkippingErrors.count()
        None
    }
  }
}
