package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.execution.datasources.{DataSource, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import org.sparkzorder.conf.SessionCopy

/** What a statement wants to know of the columns of a folder that it names by its path. */
sealed trait FolderColumns
object FolderColumns {

  /** Nothing. This spares the job by which Spark reads them from a file. */
  case object Nothing extends FolderColumns

  /** As [[OfQueries]], and nothing if there are no files any more: RESTORE may bring all of them back. */
  case object OfRestore extends FolderColumns

  /** As a query of this session sees them: its settings say whether files are merged, and what old types become. */
  case object OfQueries extends FolderColumns

  /**
   * With the types that the files have, whatever the session's settings make of them: a rewrite must give them back.
   *
   * @param merged take the union of all files' columns, whatever the session's settings say
   */
  final case class OfFiles(merged: Boolean = false) extends FolderColumns
}

/**
 * The relations that statements read tables by. They always have Spark's own reader of files. Which
 * reader the session's queries use (V2 sources, Hive's readers) is no concern of a statement.
 */
private[table] object OwnRelations {

  /** Settings that choose a catalog table's reader. */
  private val ownReaders = Map(
    "spark.sql.orc.impl" -> "native",
    "spark.sql.hive.convertMetastoreParquet" -> "true",
    "spark.sql.hive.convertMetastoreOrc" -> "true"
  )

  /** Without it Spark finds no columns at all where a file has INT96. */
  private val noReaderWithout = Map(SQLConf.PARQUET_INT96_AS_TIMESTAMP.key -> "true")

  private val typesOfFiles = noReaderWithout ++ Map(
    SQLConf.PARQUET_BINARY_AS_STRING.key -> "false",
    SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key -> "true"
  )

  /** The relation over exactly this folder, also if its name looks like a pattern. */
  def ofFolder(session: classic.SparkSession, root: Path, format: String, columns: FolderColumns): HadoopFsRelation = {
    val settings = if (columns.isInstanceOf[FolderColumns.OfFiles]) typesOfFiles else noReaderWithout
    val options =
      if (columns == FolderColumns.OfFiles(merged = true)) Map("mergeSchema" -> "true") else Map.empty[String, String]
    val source = DataSource(
      withSettings(session, settings),
      // The name of the format would lead to the reader that the session's settings choose.
      className = if (format == "orc") classOf[OrcFileFormat].getName else classOf[ParquetFileFormat].getName,
      paths = Seq(root.toString),
      userSpecifiedSchema = if (columns == FolderColumns.Nothing) Some(new StructType()) else None,
      options = options + (DataSource.GLOB_PATHS_KEY -> "false")
    )
    source.resolveRelation() match {
      case r: HadoopFsRelation => r.copy(options = options)(session)
      case other               => throw new IllegalStateException(s"$root is read by ${other.getClass.getName}")
    }
  }

  /** The relation of a catalog's table; None if Spark has no reader of its own for it. */
  def ofCatalog(session: classic.SparkSession, table: TableIdentifier): Option[HadoopFsRelation] = {
    // The session may have cached an old listing.
    session.sessionState.catalog.refreshTable(table)
    of(session, table).orElse(of(withSettings(session, ownReaders), table).map(_.copy()(session)))
  }

  private def of(session: classic.SparkSession, table: TableIdentifier): Option[HadoopFsRelation] =
    session.table(table.quotedString).queryExecution.analyzed.collect { case l: LogicalRelation =>
      l.relation
    }.collectFirst {
      case r: HadoopFsRelation if SparkFormat.of(r).isDefined => r
    }

  /** The session if it has these settings, else a new one that has them and the session's others. */
  private def withSettings(session: classic.SparkSession, settings: Map[String, String]): classic.SparkSession = {
    val conf = session.sessionState.conf
    if (settings.forall { case (key, value) => valueOf(conf, key).forall(_ == value) }) session
    else SessionCopy.of(session, settings)
  }

  /** None for a setting of Hive's in a session without Hive. */
  private def valueOf(conf: SQLConf, key: String): Option[String] =
    try Some(conf.getConfString(key))
    catch { case _: NoSuchElementException => None }
}

object SparkFormat {

  /** The format, parquet or orc, if exactly Spark's own reader reads the files; else None. */
  def of(relation: HadoopFsRelation): Option[String] = relation.fileFormat.getClass match {
    case c if c == classOf[ParquetFileFormat] => Some("parquet")
    case c if c == classOf[OrcFileFormat]     => Some("orc")
    case _                                    => None
  }
}
