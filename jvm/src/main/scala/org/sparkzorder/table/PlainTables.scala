package org.sparkzorder.table

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.util.{Failure, Try}
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.TargetKind._

/** Names to tables, with every refusal that needs no look into the files. */
object PlainTables {

  /** How often a folder is listed again whose files were taken away before they were asked for the schema. */
  private val Listings = 20

  /**
   * @param mergeSchema for a path: take the union of all files' columns instead of one file's
   * @throws org.apache.spark.sql.AnalysisException when the target is not a table of ours
   */
  def resolve(session: SparkSession, target: Target, mergeSchema: Boolean = false): PlainTable = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    Targets.kind(session, target) match {
      case Table(metadata)         => ofCatalog(classicSession, target, metadata)
      case Folder(path, _)         => ofFolder(classicSession, target.asInstanceOf[PathTarget], path, mergeSchema)
      case Foreign(kind, _)        => throw ZOrderErrors.unsupportedTarget(target.sql, kind)
      case Unreadable(path, cause) => throw ZOrderErrors.pathUnreadable(path, cause)
      case Missing                 =>
        target match {
          case PathTarget(path, _) => throw ZOrderErrors.pathNotFound(path)
          case _                   => throw ZOrderErrors.tableNotFound(target.sql)
        }
    }
  }

  private def ofCatalog(session: classic.SparkSession, target: Target, metadata: CatalogTable): PlainTable = {
    if (metadata.bucketSpec.isDefined) throw ZOrderErrors.bucketedTable(target.sql)
    val root = Targets.qualified(session, new Path(metadata.location))
    refuseForeign(Targets.fileSystem(session, root), root)
    relationOf(session.table(metadata.identifier.quotedString)) match {
      case Some(relation) =>
        new PlainTable(session, target, target.sql, root, formatOf(relation).get, relation, Some(metadata))
      case None => throw ZOrderErrors.unsupportedTarget(target.sql, "read by Hive's own reader or through a V2 source")
    }
  }

  private def ofFolder(
      session: classic.SparkSession,
      target: PathTarget,
      root: Path,
      mergeSchema: Boolean
  ): PlainTable = {
    val fs = Targets.fileSystem(session, root)
    refuseForeign(fs, root)
    if (ForeignFormats.isPartition(root)) {
      val above = ForeignFormats.withTablesAbove(root)
      val where = above.dropRight(1).reverse.map { p =>
        val (column, value) = p.getName.splitAt(p.getName.indexOf('='))
        s"$column = '${value.drop(1)}'"
      }
      throw ZOrderErrors.partitionFolder(target.path, above.last.toUri.getPath, where.mkString(" AND "))
    }
    val files = dataFiles(fs, root)
    if (files.isEmpty) throw ZOrderErrors.emptyTable(target.sql)
    val format = target.format.getOrElse(sniff(fs, target, files))
    val relation =
      try relationOf(loaded(session, format, root, mergeSchema))
      catch { case NonFatal(e) => throw firstForeignFile(fs, target, files, format).getOrElse(e) }
    relation match {
      case Some(r) => new PlainTable(session, target, target.sql, root, format, r, None)
      case None    => throw ZOrderErrors.unsupportedTarget(target.sql, "read through a V2 source")
    }
  }

  /**
   * The folder as Spark reads it. Spark lists it and then asks files for the schema. An operation that publishes takes
   * listed files away in between: then the folder is listed again.
   */
  private def loaded(session: classic.SparkSession, format: String, root: Path, mergeSchema: Boolean): DataFrame = {
    @tailrec def attempt(left: Int): DataFrame =
      Try(session.read.format(format).option("mergeSchema", mergeSchema.toString).load(root.toString)) match {
        case Failure(e) if left > 0 && isOfMissingFile(e) => attempt(left - 1)
        case result                                       => result.get
      }
    attempt(Listings)
  }

  private def isOfMissingFile(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).exists(_.isInstanceOf[FileNotFoundException])

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

  /** parquet or orc when the relation's files are that, read by exactly Spark's own reader; else None. */
  def formatOf(relation: HadoopFsRelation): Option[String] = relation.fileFormat.getClass match {
    case c if c == classOf[ParquetFileFormat] => Some("parquet")
    case c if c == classOf[OrcFileFormat]     => Some("orc")
    case _                                    => None
  }

  /** Data files below a folder as Spark's listing sees them: hidden names and all below them are left out. */
  private def dataFiles(fs: FileSystem, folder: Path): Seq[FileStatus] =
    fs.listStatus(folder).toSeq.sortBy(_.getPath.getName).flatMap { s =>
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

  private def shown(format: String): String = if (format == "orc") "ORC" else "Parquet"

  /** None for a file that somebody took away meanwhile: what failed says so better. */
  private def isThere[T](look: => T): Option[T] =
    try Some(look)
    catch { case _: FileNotFoundException => None }

  private def magic(fs: FileSystem, file: FileStatus): Option[String] = {
    val head = new Array[Byte](math.min(4L, file.getLen).toInt)
    val in = fs.open(file.getPath)
    try in.readFully(0, head)
    finally in.close()
    new String(head, java.nio.charset.StandardCharsets.ISO_8859_1) match {
      case "PAR1" | "PARE"          => Some("parquet")
      case s if s.startsWith("ORC") => Some("orc")
      case _                        => None
    }
  }
}
