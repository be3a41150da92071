package org.sparkzorder.skipping

import java.io.FileNotFoundException
import java.util.Locale

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{ResolveDataSource, UnresolvedRelation}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.ResolveSQLOnFile

import org.sparkzorder.commit.{NestedRoots, TableFolder}
import org.sparkzorder.table.Targets

/**
 * Queries by path whose columns Spark finds by a look into one of the files. It lists the folder first, and an operation
 * may take the file away in between: then Spark's own rule is asked again, which lists again. It runs before Spark
 * resolves names, and only where there is something of ours.
 */
class RetryPathResolution(session: SparkSession) extends Rule[LogicalPlan] {
  private val formats = Set("parquet", "orc")
  private lazy val classicSession = session.asInstanceOf[classic.SparkSession]
  private lazy val sources = new ResolveDataSource(classicSession)
  private lazy val files = new ResolveSQLOnFile(classicSession)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case u: UnresolvedDataSource
        if !u.isStreaming && u.userSpecifiedSchema.isEmpty && isOurs(u.format) &&
          (u.options.get("path").toSeq ++ u.paths).exists(hasOperations) =>
      retried(sources(u))
    case u @ UnresolvedRelation(Seq(format, path), _, false)
        if isOurs(format) && path.contains("/") && conf.runSQLonFile && hasOperations(path) =>
      retried(files(u))
  }

  private def retried(resolved: => LogicalPlan): LogicalPlan = {
    @tailrec def attempt(left: Int): LogicalPlan = Try(resolved) match {
      case Failure(e) if left > 0 && isOfMissingFile(e) => attempt(left - 1)
      case result                                       => result.get
    }
    attempt(RetryPathResolution.Listings)
  }

  private def isOfMissingFile(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).exists(_.isInstanceOf[FileNotFoundException])

  private def isOurs(source: String): Boolean = formats(source.toLowerCase(Locale.ROOT))

  /** Whether there is a side folder in the folder, or in one above it of which it is a partition by its name. */
  private def hasOperations(text: String): Boolean =
    try {
      val path = Targets.qualified(classicSession, new Path(text))
      (path +: NestedRoots.partitionedAbove(path)).exists { root =>
        !Targets.isSurelyMissing(classicSession, new Path(root, TableFolder.Side))
      }
    } catch { case _: IllegalArgumentException => false }
}

private object RetryPathResolution {

  /** So many exchanges in a row are no accident. */
  private val Listings = 20
}
