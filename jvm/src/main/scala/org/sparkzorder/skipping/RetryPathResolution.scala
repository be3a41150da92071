package org.sparkzorder.skipping

import java.io.FileNotFoundException
import java.util.Locale

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{ResolveDataSource, UnresolvedRelation}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.ResolveSQLOnFile

import org.sparkzorder.commit.{NestedRoots, TableFolder}
import org.sparkzorder.skipping.RetryPathResolution.isOurs
import org.sparkzorder.table.Targets

/**
 * Queries by path whose columns Spark finds by a look into one of the files. It lists the folder first, and an operation
 * may take the file away in between: then Spark's own rule is asked again, which lists again. It runs before Spark
 * resolves names, and only where there is something of ours.
 */
class RetryPathResolution(session: SparkSession) extends Rule[LogicalPlan] {
  private lazy val classicSession = session.asInstanceOf[classic.SparkSession]
  private lazy val sources = new ResolveDataSource(classicSession)
  private lazy val files = new ResolveSQLOnFile(classicSession)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case u: UnresolvedDataSource
        if !u.isStreaming && u.userSpecifiedSchema.isEmpty && isOurs(u.format) &&
          (u.options.get("path").toSeq ++ u.paths).exists(hasOperations) =>
      RetryPathResolution.retried(sources(u))
    case u @ UnresolvedRelation(Seq(format, path), _, false)
        if isOurs(format) && path.contains("/") && conf.runSQLonFile && hasOperations(path) =>
      RetryPathResolution.retried(files(u))
  }

  /** Whether there is a side folder in the folder, or in one above it of which it is a partition by its name. */
  private def hasOperations(text: String): Boolean =
    try {
      val path = Targets.qualified(classicSession, new Path(text))
      (path +: NestedRoots.partitionedAbove(path)).exists { root =>
        !Targets.isSurelyMissing(classicSession, new Path(root, TableFolder.Side))
      }
    } catch { case _: IllegalArgumentException => false }
}

private[skipping] object RetryPathResolution {

  private val formats = Set("parquet", "orc")

  /** Whether a source reads Parquet or ORC: by its short name, or by the name of its package or class, which Spark takes as well. */
  def isOurs(source: String): Boolean = {
    val name = source.toLowerCase(Locale.ROOT)
    formats(name) || name.startsWith("org.apache.spark.sql.") && name.split('.').exists(formats)
  }

  /** So many exchanges in a row are no accident. */
  private val Listings = 20

  /**
   * A plan, made again as long as files are missing that were listed for it.
   *
   * @param resolved lists, and resolves by what it has listed
   * @param isOfPattern whether the paths themselves were listed, so that a missing one is no mistake of the user's
   */
  def retried(resolved: => LogicalPlan, isOfPattern: Boolean = false): LogicalPlan = {
    @tailrec def attempt(left: Int): LogicalPlan = Try(resolved) match {
      case Failure(e) if left > 0 && isOfMissingFile(e, isOfPattern) => attempt(left - 1)
      case result                                                    => result.get
    }
    attempt(Listings)
  }

  private def isOfMissingFile(e: Throwable, isOfPattern: Boolean): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).exists {
      case _: FileNotFoundException => true
      case e: AnalysisException     => isOfPattern && e.getCondition == "PATH_NOT_FOUND"
      case _                        => false
    }
}
