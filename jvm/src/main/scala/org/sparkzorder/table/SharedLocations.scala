package org.sparkzorder.table

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.VersionDirectory
import org.sparkzorder.errors.ZOrderErrors

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
