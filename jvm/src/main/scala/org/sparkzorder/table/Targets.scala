package org.sparkzorder.table

import java.io.IOException
import java.nio.file.{Files, Paths}

import scala.collection.mutable

import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog, ViewCatalog}

import org.sparkzorder.statement.{PathTarget, TableTarget, Target}

/** Finds what a name stands for, and the file system of a path. */
object Targets {

  import TargetKind._

  private val sessionCatalog = "spark_catalog"

  /** Whether this target is ours in statements whose grammar others share. */
  def isOurs(target: Target, kind: TargetKind): Boolean = kind match {
    case Table(_)             => true
    case Folder(_, forOthers) => !forOthers
    case Foreign(_, _)        => false
    case Missing              => target.isInstanceOf[PathTarget]
    case Unreadable(_, _)     => namesFormat(target)
  }

  def kind(session: SparkSession, target: Target): TargetKind = target match {
    case TableTarget(parts)           => ofName(session.asInstanceOf[classic.SparkSession], parts)
    case p @ PathTarget(path, format) =>
      // As in Spark, a table `t` in a database called `parquet` wins over a folder.
      val table = format.filterNot(_ => path.contains("/")).map(f => TableIdentifier(path, Some(f)))
      table.flatMap(inSessionCatalog(session.asInstanceOf[classic.SparkSession], _)).getOrElse(ofPath(session, p))
  }

  /** Whether the current catalog has a table or view of this name, or there is such a temporary view. */
  def relationExists(session: SparkSession, name: String): Boolean = {
    val manager = session.asInstanceOf[classic.SparkSession].sessionState.catalogManager
    if (manager.currentCatalog.name == sessionCatalog) kind(session, TableTarget(Seq(name))) != Missing
    else {
      val identifier = Identifier.of(manager.currentNamespace, name)
      def isTable = manager.currentCatalog match {
        case c: TableCatalog => c.tableExists(identifier)
        case _               => false
      }
      def isView = manager.currentCatalog match {
        case c: ViewCatalog => c.viewExists(identifier)
        case _              => false
      }
      session.asInstanceOf[classic.SparkSession].sessionState.catalog.isTempView(Seq(name)) || isTable || isView
    }
  }

  /**
   * If the statement names a format, refusing the path is up to us. Otherwise it may be meant for
   * the format whose log is in the folder.
   */
  private def namesFormat(target: Target): Boolean = target match {
    case PathTarget(_, format) => format.isDefined
    case _                     => false
  }

  private def ofPath(session: SparkSession, target: PathTarget): TargetKind =
    pathOf(target.path).fold[TargetKind](Missing) { unqualified =>
      try {
        val fs = fileSystem(session, unqualified)
        val path = fs.makeQualified(unqualified)
        if (!PathKinds.isFolder(fs, path)) Missing
        else Folder(path, !namesFormat(target) && ForeignFormats.markerIn(fs, path).isDefined)
      } catch { case e: IOException => Unreadable(target.path, e) }
    }

  /** None for a text that is no path, such as an empty one. */
  private def pathOf(text: String): Option[Path] =
    try Some(new Path(text))
    catch { case _: IllegalArgumentException => None }

  /** Resolves a name like Spark: temporary views, then a catalog that the first part names, then the current one. */
  private def ofName(session: classic.SparkSession, parts: Seq[String]): TargetKind = {
    val manager = session.sessionState.catalogManager
    if (session.sessionState.catalog.isTempView(parts)) Foreign("a view", ofSpark = true)
    else if (parts.size > 1 && manager.isCatalogRegistered(parts.head)) {
      if (!parts.head.equalsIgnoreCase(sessionCatalog))
        Foreign(s"a table of the catalog ${quoteIdentifier(parts.head)}")
      // A name in the session catalog needs a database when it names the catalog.
      else if (parts.size == 2) Missing
      else ofSessionCatalog(session, parts.tail)
    } else if (manager.currentCatalog.name != sessionCatalog)
      Foreign(s"a table of the catalog ${quoteIdentifier(manager.currentCatalog.name)}")
    else ofSessionCatalog(session, parts)
  }

  private def ofSessionCatalog(session: classic.SparkSession, parts: Seq[String]): TargetKind = {
    val identifier = parts match {
      case Seq(name)           => Some(TableIdentifier(name))
      case Seq(database, name) => Some(TableIdentifier(name, Some(database)))
      case _                   => None
    }
    identifier.flatMap(inSessionCatalog(session, _)).getOrElse(identifier match {
      case Some(TableIdentifier(path, Some(format), _)) if path.contains("/") => CatalogKind.ofFolder(format)
      case Some(i) if isBeyondSpark(session, i) => Foreign("a table of an extension of the session catalog")
      case _                                    => Missing
    })
  }

  private def inSessionCatalog(session: classic.SparkSession, identifier: TableIdentifier): Option[TargetKind] = {
    val catalog = session.sessionState.catalog
    if (catalog.tableExists(identifier)) Some(CatalogKind.of(catalog.getTableMetadata(identifier))) else None
  }

  /** A table format may add tables of its own to the session catalog. */
  private def isBeyondSpark(session: classic.SparkSession, identifier: TableIdentifier): Boolean = {
    val database = identifier.database.getOrElse(session.sessionState.catalog.getCurrentDatabase)
    session.sessionState.catalogManager.catalog(sessionCatalog) match {
      case c: TableCatalog => c.tableExists(Identifier.of(Array(database), identifier.table))
      case _               => false
    }
  }

  def fileSystem(session: SparkSession, path: Path): FileSystem = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    // To put together a session's own settings costs time, since Hadoop has so many, and every query would pay for it.
    if (isOfLocalDisk(classicSession, path)) path.getFileSystem(classicSession.sparkContext.hadoopConfiguration)
    else path.getFileSystem(classicSession.sessionState.newHadoopConf())
  }

  /** The file systems of many paths, most of which are in the same one. */
  def fileSystems(session: SparkSession): Path => FileSystem = {
    val known = mutable.Map.empty[(String, String), FileSystem]
    path => known.getOrElseUpdate((path.toUri.getScheme, path.toUri.getAuthority), fileSystem(session, path))
  }

  /** The path with scheme and authority. Every query calls this, so a local path that has both is returned at once. */
  def qualified(session: SparkSession, path: Path): Path =
    if (path.isAbsolute && path.toUri.getScheme == "file") path else fileSystem(session, path).makeQualified(path)

  /**
   * Whether this path certainly does not exist, which costs one look at a local disk. Every query
   * of a table without a side folder calls this.
   */
  def isSurelyMissing(session: classic.SparkSession, path: Path): Boolean =
    isOfLocalDisk(session, path) && {
      val implementation = session.sparkContext.hadoopConfiguration.get("fs.file.impl")
      (implementation == null || implementation == classOf[LocalFileSystem].getName) &&
      !new java.io.File(path.toUri.getPath).exists()
    }

  /** The folder, and its name without links if that name may tell of which table it is a partition. */
  def spellings(session: classic.SparkSession, folder: Path): Seq[Path] =
    if (!isOfLocalDisk(session, folder)) Seq(folder)
    else {
      val file = Paths.get(folder.toUri.getPath)
      if (!ForeignFormats.isPartition(folder) && !Files.isSymbolicLink(file)) Seq(folder)
      else
        try Seq(folder, new Path("file", null, file.toRealPath().toString)).distinct
        catch { case _: IOException => Seq(folder) }
    }

  /** Two settings choose the local file system, and a session may have its own values of them. */
  private def isOfLocalDisk(session: classic.SparkSession, path: Path): Boolean = {
    val conf = session.sessionState.conf
    path.toUri.getScheme == "file" && !conf.contains("fs.file.impl") && !conf.contains("fs.file.impl.disable.cache")
  }
}
