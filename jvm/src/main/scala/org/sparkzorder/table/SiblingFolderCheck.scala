package org.sparkzorder.table

import java.nio.file.AccessDeniedException

import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.AccessControlException

import org.sparkzorder.commit.{FileMeta, FileOps, VersionDirectory}
import org.sparkzorder.commit.catalog.StaleAppends
import org.sparkzorder.errors.ZOrderErrors

/**
 * A table that moves to new folders gets one beside its own. Refuses this where others
 * may take that folder for a part of their data, before anything is made.
 */
private[sparkzorder] object SiblingFolderCheck {

  def refuse(table: TableLocation): Unit =
    for { made <- VersionDirectory.parentOf(table.root); reason <- obstacle(table) }
      throw ZOrderErrors.publishBeside(table.name, made.toUri.getPath, reason)

  private def obstacle(table: TableLocation): Option[String] = {
    val ops = TableSideFolder.of(table).ops
    partitionIn(table.root).orElse(
      if (ops.isMountPoint(table.root))
        Some("it would be on another file system than the table, which is mounted at its folder")
      else besideIt(table, ops)
    )
  }

  /** A reader of the dataset lists whatever is in a partition's folder, and beside it. */
  private def partitionIn(root: Path): Option[String] =
    Iterator.iterate(root)(_.getParent).takeWhile(p => p != null && p.getName.nonEmpty).find(ForeignFormats.isPartition)
      .map(p =>
        s"its place is in a dataset that has the partition ${p.toUri.getPath}, whose readers would read it, too"
      )

  private def besideIt(table: TableLocation, ops: FileOps): Option[String] = {
    val above = table.root.getParent
    try {
      val others = ops.list(above).filter(_.name != table.root.getName).sortBy(_.name)
      others.find(m => m.isDirectory && isPartition(m)).orElse(others.find(isData(table, _)))
        .map(m => s"there is ${m.path.toUri.getPath}, and readers of ${above.toUri.getPath} would read it, too")
    } catch {
      case _: AccessControlException | _: AccessDeniedException =>
        Some(s"${above.toUri.getPath} may not be listed, so it cannot be told whether its readers would read it, too")
    }
  }

  private def isPartition(m: FileMeta): Boolean = !m.name.startsWith(".") && ForeignFormats.isPartition(m.path)

  private def isData(table: TableLocation, m: FileMeta): Boolean =
    StaleAppends.isVisible(m) && !m.isLink && FileMagic.format(table.fileSystem, m.path, m.length).isDefined
}

/**
 * Refuses to publish a table through the catalog if another table of its database reads the same
 * folders: a VACUUM would delete files that the other one still has.
 */
private[sparkzorder] object SharedLocations {
  import CachedRelations.overlap

  def refuse(table: TableLocation): Unit = {
    val own = table.catalogTable.get.identifier
    val catalog = table.session.sessionState.catalog
    val database = own.database.getOrElse(catalog.getCurrentDatabase)
    val others = catalog.getTablesByName(catalog.listTables(database).filter(_.database.contains(database)))
      .filter(t => t.identifier.table != own.table && t.storage.locationUri.isDefined)
    val mine = (Seq(table.root, table.location) ++ VersionDirectory.parentOf(table.root)).distinct
    val ops = TableSideFolder.of(table).ops
    // Symbolic links give a folder more names.
    def names(path: Path) =
      if (path.toUri.getScheme == table.root.toUri.getScheme) Seq(path, ops.realPath(path)).distinct else Seq(path)
    others.foreach { other =>
      // A location of another file system that cannot be reached is not ours.
      val location = VersionDirectory.tableRootOf(new Path(other.location)).getOrElse(new Path(other.location))
      val theirs = names(location)
      mine.find(folder => names(folder).exists(name => theirs.exists(overlap(name, _)))).foreach { folder =>
        throw ZOrderErrors.sharedLocation(
          table.name,
          other.identifier.quotedString,
          location.toUri.getPath,
          folder.toUri.getPath
        )
      }
    }
  }
}
