package org.sparkzorder.table

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.{classic, AnalysisException}
import org.apache.spark.sql.catalyst.QualifiedTableName
import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.storage.StorageLevel

/**
 * The relations that the session's catalog caches, each with a listing of its files. A statement that names a folder by
 * its path, or one of several tables over a folder, makes the listings of the other tables outdated.
 */
private[table] object CachedRelations extends Logging {

  /** Removes the relations that read from the folder, from a folder below it, or from one above it. */
  def forget(session: classic.SparkSession, root: Path): Unit = {
    val catalog = session.sessionState.catalog
    cached(catalog) match {
      case Some(relations) =>
        relations.foreach { case (name, relation) =>
          if (relation.location.rootPaths.exists(overlap(_, root))) {
            relation.location.refresh()
            catalog.invalidateCachedTable(name)
          }
        }
      // Without the list, all relations are looked up again. This is slower, but right as well.
      case None => catalog.invalidateAllCachedTables()
    }
  }

  def overlap(a: Path, b: Path): Boolean = {
    val (one, other) = (a.toUri.getPath.stripSuffix("/") + "/", b.toUri.getPath.stripSuffix("/") + "/")
    one.startsWith(other) || other.startsWith(one)
  }

  /** Spark has no method that lists them, so this reads a private field; None if it is not as in Spark 4.0 to 4.3. */
  private def cached(catalog: SessionCatalog): Option[Seq[(QualifiedTableName, HadoopFsRelation)]] =
    try {
      val field = classOf[SessionCatalog].getDeclaredField("tableRelationCache")
      field.setAccessible(true)
      val cache = field.get(catalog)
      val asMap = field.getType.getMethod("asMap")
      asMap.setAccessible(true)
      val all = asMap.invoke(cache).asInstanceOf[JMap[QualifiedTableName, LogicalPlan]].asScala.toSeq
      Some(all.flatMap { case (name, plan) => relationOf(plan).map(name -> _) })
    } catch {
      case NonFatal(e) =>
        logDebug("The cached relations of the session's catalog cannot be listed", e)
        None
    }

  private def relationOf(plan: LogicalPlan): Option[HadoopFsRelation] = plan match {
    case l: LogicalRelation =>
      l.relation match {
        case r: HadoopFsRelation => Some(r)
        case _                   => None
      }
    case _ => None
  }
}

/** What `CACHE TABLE` keeps in memory. Spark knows it by the table's location. */
private[sparkzorder] object CachedTable extends Logging {

  /**
   * Runs work that changes the location of a table. If the session had cached the table, it is cached
   * afterwards as well, and read again when it is next used.
   */
  def following[A](table: TableLocation)(work: => A): A = {
    val session = table.session
    val name = table.catalogTable.map(_.identifier.quotedString)
    val before = name.filterNot(_ => session.sharedState.cacheManager.isEmpty).map(session.table(_))
      .map(rows => rows -> rows.storageLevel).filter(_._2 != StorageLevel.NONE)
    try work
    finally before.foreach { case (rows, level) =>
        try
          if (session.table(name.get).storageLevel == StorageLevel.NONE) {
            rows.unpersist()
            session.catalog.cacheTable(name.get, level)
          }
        // The table was dropped meanwhile.
        catch { case e: AnalysisException => logWarning(s"${table.name} is not cached any more", e) }
      }
  }
}
