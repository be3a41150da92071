package org.sparkzorder.table

import java.io.IOException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.analysis.NoSuchPartitionException
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTablePartition, ExternalCatalogUtils}
import org.apache.spark.sql.classic

import org.sparkzorder.commit.{CatalogLocations, CatalogPartition, FileNames, LocationUpdate}
import org.sparkzorder.compat._

/**
 * The locations of a table and its partitions in Spark's session catalog.
 *
 * @param title how messages name the table
 */
private[sparkzorder] final class SessionCatalogLocations(
    session: classic.SparkSession,
    table: CatalogTable,
    title: String
) extends CatalogLocations {
  import SessionCatalogLocations._

  def this(table: TableLocation) = this(table.session, table.catalogTable.get, table.name)

  private val catalog = session.sessionState.catalog
  private val name = table.identifier
  private val columns = table.partitionColumnNames

  override def all(): Map[CatalogPartition, Path] =
    if (columns.isEmpty) current(Seq(CatalogPartition.Table))
    else asked("list the partitions of")(catalog.listPartitions(name)).map(p => partitionOf(p) -> located(p)).toMap

  override def current(some: Seq[CatalogPartition]): Map[CatalogPartition, Path] =
    if (some.isEmpty) Map.empty
    else if (columns.isEmpty) Map(CatalogPartition.Table -> qualified(new Path(asked("look up")(metadata()).location)))
    else found(some).map { case (partition, p) => partition -> located(p) }

  override def move(moves: Seq[LocationUpdate]): Unit =
    if (columns.isEmpty) moves.foreach { m =>
      val now = asked("look up")(metadata())
      if (qualified(new Path(now.location)) == m.from) asked("change the location of") {
        catalog.alterTable(now.withNewStorage(locationUri = Some(m.to.toUri)))
      }
    }
    else {
      val now = found(moves.map(_.partition))
      val changed = moves.flatMap { m =>
        now.get(m.partition).filter(located(_) == m.from).map { p =>
          p.copy(storage = p.storage.copy(locationUri = Some(m.to.toUri)))
        }
      }
      if (changed.nonEmpty) asked("change the locations of partitions of")(catalog.alterPartitions(name, changed))
    }

  private def metadata(): CatalogTable = catalog.getTableMetadata(name)

  private def found(some: Seq[CatalogPartition]): Map[CatalogPartition, CatalogTablePartition] =
    if (some.sizeIs > AskedOneByOne) {
      val wanted = some.toSet
      asked("list the partitions of")(catalog.listPartitions(name)).map(p => partitionOf(p) -> p)
        .filter(p => wanted(p._1)).toMap
    } else
      some.flatMap { partition =>
        try Some(partition -> asked("look up a partition of")(catalog.getPartition(name, partition.values.toMap)))
        catch { case _: NoSuchPartitionException => None }
      }.toMap

  private def partitionOf(p: CatalogTablePartition): CatalogPartition =
    CatalogPartition(columns.map(c => c -> p.spec(c)))

  private def located(p: CatalogTablePartition): Path = qualified(new Path(p.location))

  private def qualified(path: Path): Path = Targets.qualified(session, path)

  // The clients of catalogs throw exceptions of many kinds.
  private def asked[A](what: String)(call: => A): A =
    try call
    catch {
      case e: NoSuchPartitionException => throw e
      case NonFatal(e)                 => throw new IOException(s"the catalog cannot $what $title: ${e.getMessage}", e)
    }
}

private[sparkzorder] object SessionCatalogLocations {

  /** So few partitions are looked up one by one. */
  private val AskedOneByOne = 16

  /** The folder of a partition below that of its version, such as `p=1/q=2`. Empty for the table itself. */
  def folderOf(partition: CatalogPartition): String = partition.values.foldLeft("") { case (above, (column, value)) =>
    FileNames.in(above, ExternalCatalogUtils.getPartitionPathString(column, value))
  }
}
