package org.sparkzorder.table

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.classic

/** What a name stands for, from the catalog or the folder's markers alone: cheap enough for the parser. */
sealed trait TargetKind
object TargetKind {
  final case class Table(metadata: CatalogTable) extends TargetKind
  final case class Folder(path: Path) extends TargetKind

  /** @param kind how messages name it, as in 'a view' */
  final case class Foreign(kind: String) extends TargetKind
  case object Missing extends TargetKind
}

object Targets {

  import TargetKind._

  private val sessionCatalog = "spark_catalog"

  /** Whether statements with a shared grammar are ours for this target. */
  def isOurs(session: SparkSession, target: Target): Boolean = kind(session, target) match {
    case Table(_)  => true
    case Folder(p) =>
      // A path with its format named is ours to refuse; without one it may be meant for the format whose log lies in it.
      target.asInstanceOf[PathTarget].format.isDefined || ForeignFormats.markerIn(fileSystem(session, p), p).isEmpty
    case Foreign(_) => false
    case Missing    => target.isInstanceOf[PathTarget]
  }

  def kind(session: SparkSession, target: Target): TargetKind = target match {
    case PathTarget(path, _) =>
      val unqualified = new Path(path)
      val fs = fileSystem(session, unqualified)
      val qualified = fs.makeQualified(unqualified)
      if (fs.exists(qualified) && fs.getFileStatus(qualified).isDirectory) Folder(qualified) else Missing
    case TableTarget(parts) => ofName(session.asInstanceOf[classic.SparkSession], parts)
  }

  private def ofName(session: classic.SparkSession, parts: Seq[String]): TargetKind = {
    val catalog = session.sessionState.catalog
    parts match {
      case Seq(first, _*) if parts.size > 3 => Foreign(s"a name of ${parts.size} parts under `$first`")
      case Seq(name) if catalog.isTempView(TableIdentifier(name))            => Foreign("a view")
      case Seq(database, name) if catalog.isTempView(TableIdentifier(name, Some(database))) => Foreign("a view")
      case Seq(c, _*) if parts.size == 3 && !c.equalsIgnoreCase(sessionCatalog) => Foreign(s"a table of the catalog `$c`")
      case Seq(_) | Seq(_, _) if inOtherCatalog(session, parts) => Foreign("a table of another catalog")
      case _ =>
        val identifier = parts.takeRight(2) match {
          case Seq(database, name) => TableIdentifier(name, Some(database))
          case _                   => TableIdentifier(parts.last)
        }
        if (!catalog.tableExists(identifier)) Missing
        else ofMetadata(catalog.getTableMetadata(identifier))
    }
  }

  /** A name of one or two parts is looked up in the current catalog, or in the one that its first part names. */
  private def inOtherCatalog(session: classic.SparkSession, parts: Seq[String]): Boolean = {
    val manager = session.sessionState.catalogManager
    if (parts.size == 2 && manager.isCatalogRegistered(parts.head) && parts.head != sessionCatalog) true
    else manager.currentCatalog.name != sessionCatalog
  }

  private def ofMetadata(table: CatalogTable): TargetKind = table.tableType match {
    case CatalogTableType.VIEW => Foreign("a view")
    case _ =>
      table.provider.map(_.toLowerCase(Locale.ROOT)) match {
        case Some(p) if Target.formats.contains(p) => Table(table)
        case Some("hive") | None =>
          val serde = table.storage.serde.getOrElse("").toLowerCase(Locale.ROOT)
          if (Target.formats.exists(serde.contains)) Table(table) else Foreign("a Hive table of another format")
        case Some(p) if p.contains("parquet") || p.endsWith(".orc") => Table(table)
        case Some(p)                                                => Foreign(s"a table of the format `$p`")
      }
  }

  def fileSystem(session: SparkSession, path: Path): org.apache.hadoop.fs.FileSystem =
    path.getFileSystem(session.asInstanceOf[classic.SparkSession].sessionState.newHadoopConf())
}
