package org.sparkzorder.table

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, ExternalCatalogUtils}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.statement.{PathTarget, Target}
import org.sparkzorder.table.TargetKind._

/**
 * Finds the location that a name stands for, and the table at a location. Makes every refusal that
 * needs no look into the rows.
 */
object PlainTables {

  /** How many files are looked at to find the format of a folder when the statement does not name it. */
  private val AskedForFormat = 8

  /**
   * The table's location.
   *
   * @throws org.apache.spark.sql.AnalysisException when the name or the folder alone shows that it
   *   is not a table of ours
   */
  def locate(session: SparkSession, target: Target): TableLocation = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    Targets.kind(session, target) match {
      case Table(metadata)         => ofCatalog(classicSession, target, metadata)
      case Folder(path, _)         => ofFolder(classicSession, target.asInstanceOf[PathTarget], path)
      case Foreign(kind, _)        => throw ZOrderErrors.unsupportedTarget(target.sql, kind)
      case Unreadable(path, cause) => throw ZOrderErrors.pathUnreadable(path, cause)
      case Missing                 =>
        target match {
          case PathTarget(path, _) => throw ZOrderErrors.pathNotFound(path)
          case _                   => throw ZOrderErrors.tableNotFound(target.sql)
        }
    }
  }

  private def ofCatalog(session: classic.SparkSession, target: Target, metadata: CatalogTable): TableLocation = {
    if (metadata.bucketSpec.isDefined) throw ZOrderErrors.bucketedTable(target.sql)
    val location = Targets.qualified(session, new Path(metadata.location))
    refuseForeign(Targets.fileSystem(session, location), location)
    val root = TableRoots.of(session, location)
    refusePartition(root)
    if (root == location) TableRoots.refuseOverwritten(session, target.sql, location)
    new TableLocation(session, target, target.sql, root, Some(metadata))
  }

  private def ofFolder(session: classic.SparkSession, target: PathTarget, root: Path): TableLocation = {
    refuseForeign(Targets.fileSystem(session, root), root)
    refusePartition(root)
    new TableLocation(session, target, target.sql, root, None)
  }

  /** A folder that is named like a partition belongs to the table above. */
  private def refusePartition(root: Path): Unit = if (ForeignFormats.isPartition(root)) {
    val above = ForeignFormats.withTablesAbove(root)
    val where = above.dropRight(1).reverse.map { p =>
      val (column, value) = p.getName.splitAt(p.getName.indexOf('='))
      s"${quoteIfNeeded(ExternalCatalogUtils.unescapePathName(column))} = '${value.drop(1)}'"
    }
    throw ZOrderErrors.partitionFolder(root.toUri.getPath, above.last.toUri.getPath, where.mkString(" AND "))
  }

  /**
   * Lists the table's files, once, and finds its columns.
   *
   * @param columns which columns a folder has that is named by its path
   * @throws org.apache.spark.sql.AnalysisException when the files are not a table of ours
   */
  def open(place: TableLocation, columns: FolderColumns = FolderColumns.OfQueries): PlainTable =
    place.target match {
      case target: PathTarget if place.catalogTable.isEmpty => openFolder(place, target, columns)
      case target                                           =>
        OwnRelations.ofCatalog(place.session, place.catalogTable.get.identifier) match {
          case Some(relation) => new PlainTable(place, SparkFormat.of(relation).get, relation)
          case None           => throw ZOrderErrors.unsupportedTarget(target.sql, "not read by Spark's own reader")
        }
    }

  private def openFolder(place: TableLocation, target: PathTarget, columns: FolderColumns): PlainTable = {
    val (fs, root) = (place.fileSystem, place.root)
    def refuseEmpty(hasFiles: Boolean): Unit =
      if (!hasFiles && columns != FolderColumns.OfRestore) throw ZOrderErrors.emptyTable(target.sql)
    val format = target.format.getOrElse {
      val first = DataFiles.below(fs, root).take(AskedForFormat).toVector
      if (first.isEmpty) throw ZOrderErrors.emptyTable(target.sql)
      DataFiles.sniff(fs, target, first)
    }
    val relation =
      try OwnRelations.ofFolder(place.session, root, format, columns)
      catch {
        case NonFatal(e) =>
          val files = DataFiles.below(fs, root).toVector
          refuseEmpty(files.nonEmpty)
          if (files.isEmpty) OwnRelations.ofFolder(place.session, root, format, FolderColumns.Nothing)
          else throw DataFiles.firstForeign(fs, target, files, format)
            .orElse(DataFiles.firstSecret(fs, files, e))
            .orElse(UnknownColumns.explained(place, files, format)).getOrElse(e)
      }
    val table = new PlainTable(place, format, relation)
    refuseEmpty(table.listed.nonEmpty)
    table
  }

  private def refuseForeign(fs: FileSystem, root: Path): Unit = ForeignFormats.markerIn(fs, root).foreach { m =>
    throw ZOrderErrors.otherTableFormat(m.folder.toUri.getPath, m.format, m.marker)
  }
}
