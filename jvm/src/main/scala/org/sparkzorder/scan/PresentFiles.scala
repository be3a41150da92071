package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.execution.datasources.{FileIndex, InMemoryFileIndex, PartitioningAwareFileIndex}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{classic, SparkSession}

import org.sparkzorder.commit.VersionDirectory
import org.sparkzorder.compat._
import org.sparkzorder.table.Targets

/**
 * The files that a scan has now. This is found out once for each scan, when it is planned. Later its files are only
 * left out.
 *
 * @param listed the listing of the index that Spark made
 * @param views how the scan sees each table folder that it reads from
 * @param move finds where the files are now
 */
private[sparkzorder] final class PresentFiles private (
    listed: Listing,
    val views: Seq[ScanSnapshot],
    move: => Option[PartitioningAwareFileIndex]
) {

  /** Whether a query that does without the views may read other rows. */
  def corrects: Boolean = views.exists(_.corrects)

  /**
   * The places where the files are now; None if all are where the listing shows them.
   *
   * @throws org.sparkzorder.errors.ZOrderRuntimeException when files that the query names are gone
   */
  lazy val moved: Option[PartitioningAwareFileIndex] = move

  def index: FileIndex = moved.getOrElse(listed.of)

  /** The listing of [[index]]. */
  lazy val listing: Listing = moved.fold(listed)(new Listing(_))
}

private[sparkzorder] object PresentFiles {

  /**
   * None if no table that the scan reads from has a side folder, as with [[ScanSnapshots.views]].
   *
   * @param location the index that Spark made
   * @param options of the relation, which may choose files
   * @param schema of the files
   * @param table as the catalog has it; None for folders and files
   */
  def of(
      session: SparkSession,
      location: FileIndex,
      options: Map[String, String],
      schema: StructType,
      table: Option[CatalogTable]
  ): Option[PresentFiles] = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val listing = new Listing(location)
    val named = if (table.isDefined) None else NamedFiles.of(classicSession, location)
    val snapshots = new ScanSnapshots(classicSession, listing, options, table, named)
    snapshots.views.map { views =>
      def ofFolder = MovedTables.current(classicSession, location, options, schema, table, views)
      def ofFiles = location match {
        // Partitions of the catalog have values that the names of their folders need not say.
        case base: PartitioningAwareFileIndex if !table.exists(_.partitionColumnNames.nonEmpty) =>
          named.foreach(_.refuseGone(base.allFiles(), options))
          Option.when(views.exists(_.overlay.isDefined))(snapshots.around(base, views))
        case _ => None
      }
      new PresentFiles(listing, views, ofFolder.orElse(ofFiles))
    }
  }
}

/**
 * A session keeps what it has looked up of a table, also when another driver has published the table in a new folder.
 * Then it would read the old one, from which VACUUM deletes the files.
 */
private[scan] object MovedTables {

  /**
   * An index of the folder that the catalog names now, if the scan has an earlier one. Partitions are looked up in the
   * catalog by each query, so this is about tables without.
   */
  def current(
      session: classic.SparkSession,
      location: FileIndex,
      options: Map[String, String],
      schema: StructType,
      table: Option[CatalogTable],
      views: Seq[ScanSnapshot]
  ): Option[InMemoryFileIndex] =
    for {
      t <- table if t.partitionColumnNames.isEmpty
      root <- location.rootPaths.headOption
      if views.exists(_.location.exists(_ != Targets.qualified(session, root)))
      now <- locationOf(session, t)
      if now != Targets.qualified(session, root) && views.exists(v => VersionDirectory.isOf(v.root, now))
    } yield new InMemoryFileIndex(session, Seq(now), options, Some(schema))

  /** None if the table was dropped or has another name by now. */
  def locationOf(session: classic.SparkSession, table: CatalogTable): Option[Path] =
    try {
      val location = session.sessionState.catalog.getTableMetadata(table.identifier).location
      Some(Targets.qualified(session, new Path(location)))
    } catch { case _: NoSuchTableException | _: NoSuchNamespaceException => None }
}
