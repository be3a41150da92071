package org.sparkzorder.table

import java.io.FileNotFoundException
import java.nio.file.AccessDeniedException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.hadoop.security.AccessControlException
import org.apache.parquet.crypto.ParquetCryptoRuntimeException
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, ExternalCatalogUtils}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIfNeeded
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.statement.{PathTarget, Target}
import org.sparkzorder.table.TargetKind._

/**
 * Finds the location that a name stands for, and the table at a location. Makes every refusal that
 * needs no look into the rows.
 */
object PlainTables {

  /**
   * How many files are looked at to find the format of a folder when the statement does not name
   * it.
   */
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
    val home = Homes.of(session, location)
    if (home == location) Homes.refuseOverwritten(session, target.sql, location)
    new TableLocation(session, target, target.sql, home, Some(metadata))
  }

  private def ofFolder(session: classic.SparkSession, target: PathTarget, root: Path): TableLocation = {
    refuseForeign(Targets.fileSystem(session, root), root)
    if (ForeignFormats.isPartition(root)) {
      val above = ForeignFormats.withTablesAbove(root)
      val where = above.dropRight(1).reverse.map { p =>
        val (column, value) = p.getName.splitAt(p.getName.indexOf('='))
        s"${quoteIfNeeded(ExternalCatalogUtils.unescapePathName(column))} = '${value.drop(1)}'"
      }
      throw ZOrderErrors.partitionFolder(target.path, above.last.toUri.getPath, where.mkString(" AND "))
    }
    new TableLocation(session, target, target.sql, root, None)
  }

  /**
   * Lists the table's files, once, and finds its columns.
   *
   * @param mergeSchema for a path: take the union of all files' columns instead of those of one
   *   file
   * @param withColumns whether the columns are asked for; false spares the job by which Spark reads
   *   them from a folder's file
   * @throws org.apache.spark.sql.AnalysisException when the files are not a table of ours
   */
  def open(place: TableLocation, mergeSchema: Boolean = false, withColumns: Boolean = true): PlainTable =
    place.target match {
      case target: PathTarget if place.catalogTable.isEmpty => openFolder(place, target, mergeSchema, withColumns)
      case target                                           =>
        val identifier = place.catalogTable.get.identifier
        // The session may have cached an old listing.
        place.session.sessionState.catalog.refreshTable(identifier)
        relationOf(place.session.table(identifier.quotedString)) match {
          case Some(relation) => new PlainTable(place, formatOf(relation).get, relation)
          case None           =>
            throw ZOrderErrors.unsupportedTarget(target.sql, "read by Hive's own reader or through a V2 source")
        }
    }

  private def openFolder(
      place: TableLocation,
      target: PathTarget,
      mergeSchema: Boolean,
      withColumns: Boolean
  ): PlainTable = {
    val (fs, root) = (place.fileSystem, place.root)
    def refuseEmpty(hasFiles: Boolean): Unit = if (!hasFiles) throw ZOrderErrors.emptyTable(target.sql)
    val format = target.format.getOrElse {
      val first = dataFiles(fs, root).take(AskedForFormat).toSeq
      refuseEmpty(first.nonEmpty)
      sniff(fs, target, first)
    }
    val inferring = place.session.read.format(format).option("mergeSchema", mergeSchema.toString)
    val reader = if (withColumns) inferring else inferring.schema(new StructType())
    val relation =
      try relationOf(reader.load(root.toString))
      catch {
        case NonFatal(e) =>
          val files = dataFiles(fs, root).toSeq
          refuseEmpty(files.nonEmpty)
          throw firstForeignFile(fs, target, files, format).orElse(firstSecretFile(fs, files, e)).getOrElse(e)
      }
    val table = relation.map(new PlainTable(place, format, _))
      .getOrElse(throw ZOrderErrors.unsupportedTarget(target.sql, "read through a V2 source"))
    refuseEmpty(table.listed.nonEmpty)
    table
  }

  private def refuseForeign(fs: FileSystem, root: Path): Unit = ForeignFormats.markerIn(fs, root).foreach { m =>
    throw ZOrderErrors.otherTableFormat(m.folder.toUri.getPath, m.format, m.marker)
  }

  private def relationOf(table: DataFrame): Option[HadoopFsRelation] =
    table.asInstanceOf[classic.Dataset[_]].queryExecution.analyzed.collectFirst {
      case l: LogicalRelation if isPlain(l) => l.relation.asInstanceOf[HadoopFsRelation]
    }

  private def isPlain(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation => formatOf(r).isDefined
    case _                   => false
  }

  /** The format, parquet or orc, if exactly Spark's own reader reads the files; else None. */
  def formatOf(relation: HadoopFsRelation): Option[String] = relation.fileFormat.getClass match {
    case c if c == classOf[ParquetFileFormat] => Some("parquet")
    case c if c == classOf[OrcFileFormat]     => Some("orc")
    case _                                    => None
  }

  /**
   * The data files below a folder that Spark's listing would show: hidden names and everything
   * below them are left out. Folders are listed only when the iterator reaches them.
   */
  private def dataFiles(fs: FileSystem, folder: Path): Iterator[FileStatus] =
    fs.listStatus(folder).sortBy(_.getPath.getName).iterator.flatMap { s =>
      val name = s.getPath.getName
      val hidden = (name.startsWith("_") && !name.contains("=")) || name.startsWith(".")
      if (hidden) Nil else if (s.isDirectory) dataFiles(fs, s.getPath) else if (s.getLen > 0) Seq(s) else Nil
    }

  private def sniff(fs: FileSystem, target: PathTarget, files: Seq[FileStatus]): String =
    files.flatMap(f => magic(fs, f)).distinct match {
      case Seq(one) => one
      case Seq() => throw ZOrderErrors.notDataFile(files.head.getPath.toUri.getPath, "Parquet or ORC", "it is neither")
      case _     => throw ZOrderErrors.mixedFormats(target.path)
    }

  private def firstForeignFile(
      fs: FileSystem,
      target: PathTarget,
      files: Seq[FileStatus],
      format: String
  ): Option[Throwable] = {
    val foreign = files.iterator.map(f => f -> isThere(magic(fs, f))).find { case (_, m) =>
      m.exists(!_.contains(format))
    }
    foreign.map { case (f, m) =>
      val path = f.getPath.toUri.getPath
      m.flatten match {
        case Some(other) if files.forall(one => isThere(magic(fs, one)).forall(!_.contains(format))) =>
          ZOrderErrors.wrongFormat(target.sql, path, shown(other), PathTarget(target.path, Some(other)).sql)
        case Some(_) => ZOrderErrors.mixedFormats(target.path)
        case None    => ZOrderErrors.notDataFile(path, shown(format), s"it does not begin as ${shown(format)} files do")
      }
    }
  }

  /** The error for a file with an encrypted footer, if that is why the files cannot be read. */
  private def firstSecretFile(fs: FileSystem, files: Seq[FileStatus], cause: Throwable): Option[Throwable] =
    Iterator.iterate(cause)(_.getCause).takeWhile(_ != null).collectFirst { case e: ParquetCryptoRuntimeException => e }
      .flatMap { e =>
        files.find(f => isThere(FileMagic.of(fs, f.getPath, f.getLen)).contains(FileMagic.EncryptedFooter))
          .map(f => ZOrderErrors.notDecrypted(f.getPath.toUri.getPath, e.getMessage))
      }

  private def shown(format: String): String = if (format == "orc") "ORC" else "Parquet"

  /**
   * None for a file that was deleted meanwhile, or that we may not read. The error that led here
   * describes this better.
   */
  private def isThere[T](look: => T): Option[T] =
    try Some(look)
    catch { case _: FileNotFoundException | _: AccessControlException | _: AccessDeniedException => None }

  private def magic(fs: FileSystem, file: FileStatus): Option[String] =
    FileMagic.format(fs, file.getPath, file.getLen)
}
