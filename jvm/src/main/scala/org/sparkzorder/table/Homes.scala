package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.{TableFolder, VersionDirectory}
import org.sparkzorder.commit.catalog.{LocationHistory, StaleAppends}
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors

/** Finds the side folder of a table that moves to new folders. */
private[sparkzorder] object Homes {

  /**
   * The folder whose side folder tells of a table, or of a folder that a statement names: the home if
   * the location is a folder that an operation made, else the location itself.
   */
  def of(session: SparkSession, location: Path): Path =
    VersionDirectory.homeOf(location).filter(home => tells(session, home)).getOrElse(location)

  private def tells(session: SparkSession, home: Path): Boolean = {
    val ops = ObjectStores.ops(Targets.fileSystem(session, home))
    LocationHistory.isUsedBy(TableState.look(home, ops))
  }

  /** Whether a folder is the home of a table that moves to new folders, is one of these, or is above them. */
  def isMoving(session: SparkSession, folder: Path): Boolean =
    (folder +: (VersionDirectory.homeOf(folder) ++ VersionDirectory.homeBeside(folder)).toSeq).exists(tells(session, _))

  /** Whether a table has left this folder for another one. */
  def hasLeft(session: SparkSession, folder: Path): Boolean = {
    val home = VersionDirectory.homeOf(folder).getOrElse(folder)
    tells(session, home) && historyOf(session, home).leftBy(folder.toString).isDefined
  }

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
      if (files.nonEmpty && !tells(session, home)) {
        val reason = "the table as it was before was overwritten"
        throw ZOrderErrors.lateFilesUnclear(name, home, location, files.map(_.path), reason, null)
      }
    }

  /**
   * Refuses a table with a folder that an operation on another folder made: the table's
   * location was changed since, and not those of its partitions.
   */
  def refuseChanged(table: TableLocation, folders: Seq[Path]): Unit =
    for {
      (home, some) <- folders.flatMap(f => VersionDirectory.homeOf(f).map(_ -> f)).groupMap(_._1)(_._2)
      if home != table.root && tells(table.session, home)
      folder <- some.find(f => historyOf(table.session, home).folders(f.toString))
    } {
      def shown(path: Path) = path.toUri.getPath
      throw ZOrderErrors.locationChanged(table.name, shown(table.location), shown(folder), shown(home))
    }

  private def historyOf(session: SparkSession, home: Path): LocationHistory =
    LocationHistory.read(TableFolder(home, ObjectStores.ops(Targets.fileSystem(session, home))))
}
