package org.sparkzorder.scan

import java.io.FileNotFoundException
import java.util.Locale

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.ResolveSQLOnFile

import org.sparkzorder.commit.SideNames
import org.sparkzorder.scan.RetryPathResolution.isOurs
import org.sparkzorder.shim.PathSource
import org.sparkzorder.table.{ForeignFormats, NamedJobs, Targets}

/**
 * Repeats the resolution of a query by path if a file vanished meanwhile. Spark lists the folder and then reads the
 * columns from one of the files, which an operation may have moved in between. This rule runs before Spark resolves
 * names, only for folders with a side folder.
 */
class RetryPathResolution(session: SparkSession) extends Rule[LogicalPlan] {
  private lazy val classicSession = session.asInstanceOf[classic.SparkSession]
  private lazy val files = new ResolveSQLOnFile(classicSession)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case u @ PathSource(format, paths) if isOurs(format) && paths.exists(hasOperations) =>
      named(paths)(RetryPathResolution.retried(PathSource.resolved(classicSession, u)))
    case u @ UnresolvedRelation(Seq(format, path), _, false)
        if isOurs(format) && path.contains("/") && conf.runSQLonFile && hasOperations(path) =>
      named(Seq(path))(RetryPathResolution.retried(files(u)))
  }

  /** Spark reads the columns from a file by a job. */
  private def named(paths: Seq[String])(resolution: => LogicalPlan): LogicalPlan =
    NamedJobs.named(classicSession.sparkContext, s"columns of ${paths.mkString(", ")}")(resolution)

  /** Whether the folder has a side folder, or a table above it has one of which it is a partition by its name. */
  private def hasOperations(text: String): Boolean =
    try {
      val path = Targets.qualified(classicSession, new Path(text))
      ForeignFormats.withTablesAbove(path).exists { root =>
        !Targets.isSurelyMissing(classicSession, new Path(root, SideNames.Side))
      }
    } catch { case _: IllegalArgumentException => false }
}

private[scan] object RetryPathResolution {

  private val formats = Set("parquet", "orc")

  /** Whether a source reads Parquet or ORC. Spark also takes the name of the source's package or class. */
  def isOurs(source: String): Boolean = {
    val name = source.toLowerCase(Locale.ROOT)
    formats(name) || name.startsWith("org.apache.spark.sql.") && name.split('.').exists(formats)
  }

  /** Tries before the error is the user's. */
  private val Listings = 20

  /** Lists the files and resolves the plan. Does it again while files that were listed are missing. */
  def retried(resolved: => LogicalPlan): LogicalPlan = {
    @tailrec def attempt(left: Int): LogicalPlan = Try(resolved) match {
      case Failure(e) if left > 0 && isOfMissingFile(e) => attempt(left - 1)
      case result                                       => result.get
    }
    attempt(Listings)
  }

  private def isOfMissingFile(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).exists(_.isInstanceOf[FileNotFoundException])
}
