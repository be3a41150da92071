package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.{
  CatalogState,
  CatalogStateFile,
  ObjectStores,
  StaleAppends,
  TableFolder,
  TableState,
  VersionDirectory
}
import org.sparkzorder.errors.ZOrderErrors

/** Finds the side folder of a table that is published through the catalog. */
private[sparkzorder] object Homes {

  /**
   * The folder whose side folder tells of a table, or of a folder that a statement names: the home if
   * the location is a folder that an operation made, else the location itself.
   */
  def of(session: SparkSession, location: Path): Path =
    VersionDirectory.homeOf(location).filter(home => stateOf(session, home).folder(location).isDefined)
      .getOrElse(location)

  /**
   * Refuses a table whose catalog names a folder that an operation made, while its home has files and no
   * side folder that tells of it: the table as it was before was overwritten.
   *
   * @param name how messages name the table
   */
  def refuseOverwritten(session: SparkSession, name: String, location: Path): Unit =
    VersionDirectory.homeOf(location).foreach { home =>
      val ops = ObjectStores.ops(Targets.fileSystem(session, home))
      val files = ops.list(home).filter(StaleAppends.isVisible)
      if (files.nonEmpty && stateOf(session, home).folder(location).isEmpty) {
        val reason =
          if (CatalogStateFile.isThere(TableState.look(home, ops)))
            "its side folder tells of other folders, as in a copy"
          else "the table as it was before was overwritten"
        throw ZOrderErrors.lateFilesUnclear(name, home, location, files.map(_.path), reason, null)
      }
    }

  /**
   * Refuses a table with a folder that an operation on another folder made: the table's
   * location was changed since, and not those of its partitions.
   */
  def refuseChanged(table: TableLocation, folders: Seq[Path]): Unit =
    for {
      folder <- folders.iterator
      home <- VersionDirectory.homeOf(folder)
      if home != table.root && stateOf(table.session, home).folder(folder).isDefined
    } {
      def shown(path: Path) = path.toUri.getPath
      throw ZOrderErrors.locationChanged(table.name, shown(table.location), shown(folder), shown(home))
    }

  /** The state of a table that is published through the catalog; empty for other tables. */
  def stateOf(session: SparkSession, home: Path): CatalogState = {
    val folder = TableFolder(home, ObjectStores.ops(Targets.fileSystem(session, home)))
    stateIn(TableState.look(home, folder.ops))
  }

  /** The same, if the side folder was looked at. */
  def stateIn(looked: TableState): CatalogState = looked match {
    case side: TableState.SideFolder if CatalogStateFile.isThere(side) =>
      CatalogStateFile.read(side.folder, side.statuses)
    case _ => CatalogState.Empty
  }
}
