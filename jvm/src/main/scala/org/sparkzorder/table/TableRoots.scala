package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.{StaleAppendsUnclearException, TableFolder, VersionDirectory}
import org.sparkzorder.commit.catalog.{LocationHistory, StaleAppends}
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors

/** Finds the side folder of a table that moves to new folders. */
private[sparkzorder] object TableRoots {

  /**
   * The folder whose side folder tells of a table, or of a folder that a statement names: its root if
   * the location is a folder that an operation made, else the location itself.
   */
  def of(session: SparkSession, location: Path): Path =
    VersionDirectory.tableRootOf(location).filter(root => usesCatalogMode(session, root)).getOrElse(location)

  private def usesCatalogMode(session: SparkSession, root: Path): Boolean = {
    val ops = ObjectStores.ops(Targets.fileSystem(session, root))
    LocationHistory.isUsedBy(TableState.look(root, ops))
  }

  /** Whether a folder is the root of a table that moves to new folders, is one of these, or is above them. */
  def isMoving(session: SparkSession, folder: Path): Boolean =
    usesCatalogMode(session, folder) || isVersionFolder(session, folder)

  /** The same without the root. Most folders are known by their names not to be one. */
  def isVersionFolder(session: SparkSession, folder: Path): Boolean =
    (VersionDirectory.tableRootOf(folder) ++ VersionDirectory.tableRootBeside(folder)).exists(usesCatalogMode(
      session,
      _
    ))

  def hasLeft(session: SparkSession, folder: Path): Boolean = {
    val root = VersionDirectory.tableRootOf(folder).getOrElse(folder)
    usesCatalogMode(session, root) && historyOf(session, root).leftBy(folder.toString).isDefined
  }

  /**
   * Refuses a table whose catalog names a folder that an operation made, while its root has files and no
   * side folder that tells of it: the table as it was before was overwritten.
   *
   * @param name how messages name the table
   */
  def refuseOverwritten(session: SparkSession, name: String, location: Path): Unit =
    VersionDirectory.tableRootOf(location).foreach { root =>
      val ops = ObjectStores.ops(Targets.fileSystem(session, root))
      val files = ops.list(root).filter(StaleAppends.isVisible)
      if (files.nonEmpty && !usesCatalogMode(session, root)) {
        val reason = "the table as it was before was overwritten"
        val unclear = new StaleAppendsUnclearException(root, location, files.map(_.path), reason)
        throw RecoveryErrors.of(name, "Locating", unclear)
      }
    }

  /**
   * Refuses a table with a folder that an operation on another folder made: the table's
   * location was changed since, and not those of its partitions.
   */
  def refuseChanged(table: TableLocation, folders: Seq[Path]): Unit =
    for {
      (root, some) <- folders.flatMap(f => VersionDirectory.tableRootOf(f).map(_ -> f)).groupMap(_._1)(_._2)
      if root != table.root && usesCatalogMode(table.session, root)
      folder <- some.find(f => historyOf(table.session, root).knows(f.toString))
    } {
      def shown(path: Path) = path.toUri.getPath
      throw ZOrderErrors.locationChanged(table.name, shown(table.location), shown(folder), shown(root))
    }

  private def historyOf(session: SparkSession, root: Path): LocationHistory =
    LocationHistory.read(TableFolder(root, ObjectStores.ops(Targets.fileSystem(session, root))))
}
