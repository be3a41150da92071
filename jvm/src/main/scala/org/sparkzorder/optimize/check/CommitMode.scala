package org.sparkzorder.optimize.check

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTableType

import org.sparkzorder.commit.{CatalogPartition, VersionDirectory}
import org.sparkzorder.commit.catalog.LocationHistory
import org.sparkzorder.commit.log.{History, TableState}
import org.sparkzorder.commit.upkeep.Trash
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.optimize.options.OptionTable
import org.sparkzorder.statement.PathTarget
import org.sparkzorder.table._

/**
 * How the files of a table are exchanged. A table is published in one way only: the history of one
 * cannot go back over the other.
 */
private[sparkzorder] object CommitMode {

  /**
   * Whether an OPTIMIZE tells the catalog of a new folder.
   *
   * @param asked by the statement or by the table, if one of them says it
   * @throws org.apache.spark.sql.AnalysisException when the table cannot be published so
   */
  def isCatalog(table: TableLocation, state: TableState, asked: Option[String]): Boolean = {
    val isPublishedSo = LocationHistory.isUsedBy(state)
    if (isPublishedSo && asked.contains(OptionTable.InPlace))
      throw ZOrderErrors.publishWay(table.name, OptionTable.NewLocation, OptionTable.InPlace, "A table stays with it")
    val byCatalog = isPublishedSo || asked.contains(OptionTable.NewLocation)
    if (byCatalog) refuse(table, isFirst = !isPublishedSo)
    byCatalog
  }

  private def refuse(table: TableLocation, isFirst: Boolean): Unit = {
    val catalogTable = table.catalogTable.filterNot(_ => table.target.isInstanceOf[PathTarget])
      .getOrElse(throw ZOrderErrors.publishNeedsCatalog(table.name, "it is a folder without a table in the catalog"))
    if (catalogTable.partitionColumnNames.nonEmpty && !catalogTable.tracksPartitionsInCatalog && isOfSpark(table))
      throw ZOrderErrors.publishNeedsCatalog(table.name, "the catalog does not track its partitions")
    if (catalogTable.tableType == CatalogTableType.MANAGED)
      throw ZOrderErrors.publishNeedsCatalog(
        table.name,
        "it is a managed table, and DROP, RENAME and partition statements also act on its default folder"
      )
    if (VersionDirectory.parentOf(table.root).isEmpty)
      throw ZOrderErrors.publishNeedsCatalog(table.name, "its folder is the root of a file system")
    SharedLocations.refuse(table)
    if (isFirst) SiblingFolderCheck.refuse(table)
    if (isFirst && hasRetired(table))
      throw ZOrderErrors.publishWay(
        table.name,
        OptionTable.InPlace,
        OptionTable.NewLocation,
        s"Run VACUUM ${table.name} RETAIN 0 HOURS first: no RESTORE reaches back over the change"
      )
  }

  /** The partitions of Hive's own tables are always in the catalog. */
  private def isOfSpark(table: TableLocation): Boolean = !table.catalogTable.exists(_.provider.contains("hive"))

  private def hasRetired(table: TableLocation): Boolean = {
    val folder = TableSideFolder.of(table)
    Trash.all(folder, History.read(folder)).exists(_.files.nonEmpty)
  }

  /**
   * What the folders that a statement is about are in the catalog.
   *
   * @throws org.apache.spark.sql.AnalysisException when a folder is none of them, or is not ours to leave
   */
  def partitions(table: PlainTable, folders: Seq[DataFolder]): Map[Path, CatalogPartition] = {
    val all = new SessionCatalogLocations(table).all().map(_.swap)
    folders.map { f =>
      val partition = all.getOrElse(f.path, throw ZOrderErrors.publishFolder(table.name, f.path.toUri.getPath))
      val isOurs = f.path == table.root || table.names.isBelow(f.path) ||
        VersionDirectory.tableRootOf(f.path).contains(table.root)
      if (!isOurs) throw ZOrderErrors.partitionOutsideTable(f.path.toString, table.root.toString)
      f.path -> partition
    }.toMap
  }

  /** Whether statements on the table tell the catalog of new folders. */
  def isNewLocation(table: TableLocation, state: TableState): Boolean =
    table.catalogTable.isDefined && LocationHistory.isUsedBy(state)

  /** Refuses a folder of a table that moves to new ones, in a statement that names it by its path. */
  def refusePath(table: TableLocation, state: TableState): Unit = {
    def isMoving = LocationHistory.isUsedBy(state) || TableRoots.isVersionFolder(table.session, table.root)
    if (table.catalogTable.isEmpty && isMoving) throw ZOrderErrors.publishedByCatalog(table.root.toUri.getPath)
  }
}
