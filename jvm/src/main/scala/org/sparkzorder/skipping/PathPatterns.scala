package org.sparkzorder.skipping

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.analysis.ResolveDataSource
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedDataSource
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.{CreateTempViewUsing, DataSource}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.commit.SideNames
import org.sparkzorder.skipping.RetryPathResolution.isOurs
import org.sparkzorder.stream.StreamedTables
import org.sparkzorder.table.Targets

/**
 * Resolves path patterns such as `/data/t/p=?/a*` if they match files of a table with a side folder. Spark would match
 * them once, perhaps while files are being exchanged. This rule runs before Spark resolves names, and matches them while
 * no operation is half done.
 *
 * Spark then looks at the matched files, and reads the columns from one of them. If an operation has removed a file by
 * then, the pattern is matched again.
 */
class PathPatterns(session: SparkSession) extends Rule[LogicalPlan] {
  private def classicSession = session.asInstanceOf[classic.SparkSession]
  private lazy val sources = new ResolveDataSource(classicSession)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case u: UnresolvedDataSource
        if !u.isStreaming && isOurs(u.format) && !u.options.contains(DataSource.GLOB_PATHS_KEY) =>
      found(u.options.get("path").toSeq ++ u.paths) { files =>
        val options = CaseInsensitiveMap(u.options - "path" + (DataSource.GLOB_PATHS_KEY -> "false"))
        u.copy(options = options, paths = files)
      }.getOrElse(u)
    case u @ UnresolvedRelation(Seq(format, path), given, false)
        if isOurs(format) && path.contains("/") && conf.runSQLonFile =>
      found(Seq(path)) { files =>
        val options =
          CaseInsensitiveMap(given.asCaseSensitiveMap.asScala.toMap + (DataSource.GLOB_PATHS_KEY -> "false"))
        UnresolvedDataSource(format, None, options, isStreaming = false, files)
      }.getOrElse(u)
    // This command matches the pattern itself, right after this rule, when no operation is half done.
    case view @ CreateTempViewUsing(_, _, _, _, provider, options) if isOurs(provider) =>
      resolved(CaseInsensitiveMap(options).get("path").toSeq)
      view
  }

  /** The relation over the files that the patterns match, resolved by Spark. None if Spark may match them itself. */
  private def found(paths: Seq[String])(source: Seq[String] => UnresolvedDataSource): Option[LogicalPlan] =
    resolved(paths).map { first =>
      // The first try uses the matches that are known. Each further try matches again.
      var files = Option(first)
      def once(): LogicalPlan = {
        val now = files.orElse(resolved(paths)).getOrElse(paths)
        files = None
        sources(source(now))
      }
      RetryPathResolution.retried(once(), isOfPattern = true)
    }

  /** None if Spark may match the paths itself: none is a pattern, or none matches files of a table of ours. */
  private def resolved(paths: Seq[String]): Option[Seq[String]] = {
    val found = paths.map(path => path -> (if (SparkOwn.isPattern(new Path(path))) matching(new Path(path)) else None))
    if (found.forall(_._2.isEmpty)) None
    else
      Some(found.flatMap {
        case (_, Some(files))                                   => files.map(_.toString)
        case (path, None) if SparkOwn.isPattern(new Path(path)) => files(new Path(path)).map(_.toString)
        case (path, None)                                       => Seq(path)
      })
  }

  private def files(pattern: Path): Seq[Path] = all(pattern).filterNot(isInSide)

  private def all(pattern: Path): Seq[Path] = {
    val path = Targets.qualified(classicSession, pattern)
    SparkOwn.matching(Targets.fileSystem(session, path), path)
  }

  private def isInSide(path: Path): Boolean = path.toUri.getPath.split('/').contains(SideNames.Side)

  private def matching(pattern: Path): Option[Seq[Path]] = {
    val path = Targets.qualified(classicSession, pattern)
    val fs = Targets.fileSystem(session, path)
    val tables = new StreamedTables(classicSession, path)
    @tailrec def look(): Option[Seq[Path]] = {
      val before = tables.versions(files(path))
      if (before.isEmpty) None
      else {
        val found = files(path)
        if (tables.versions(found) == before) Some(found) else look()
      }
    }
    val first = all(path)
    val data = first.filterNot(isInSide)
    // Spark lists a folder again for each query, so only files need care. The side folder is never data.
    // A path that is already gone was a file.
    def isFile(p: Path) =
      try !fs.getFileStatus(p).isDirectory
      catch { case _: FileNotFoundException => true }
    if (data.exists(isFile)) look()
    else if (data.nonEmpty && data.size < first.size) Some(data)
    else None
  }
}
