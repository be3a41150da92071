package org.sparkzorder.table

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.classic
import org.apache.spark.sql.catalyst.catalog.CatalogTable

import org.sparkzorder.statement.Target

/**
 * The location of a table, and what else is known before its files are listed.
 *
 * @param name how messages name the table
 * @param root the qualified folder that contains all of the table. If it is published through the
 *             catalog, the folder whose side folder tells of it
 */
class TableLocation(
    val session: classic.SparkSession,
    val target: Target,
    val name: String,
    val root: Path,
    val catalogTable: Option[CatalogTable]
) {
  lazy val fileSystem: FileSystem = Targets.fileSystem(session, root)
  val names = new RelativePath(root)

  /** The folder that the catalog names; the root for a folder without a table. */
  lazy val location: Path = catalogTable.fold(root)(t => Targets.qualified(session, new Path(t.location)))
}

/**
 * Names of files as the index and the journal store them: relative to the table's root if the file
 * is below it, else the absolute URI. This works on decoded paths, so names may contain '%', ':'
 * and spaces. A Path made of a relative string would parse these characters.
 */
final class RelativePath(root: Path) {
  private val rootUri = root.toUri
  private val prefix = if (rootUri.getPath.endsWith("/")) rootUri.getPath else rootUri.getPath + "/"

  def of(file: Path): String = {
    val uri = file.toUri
    if (isBelow(file)) uri.getPath.substring(prefix.length) else file.toString
  }

  def isBelow(file: Path): Boolean = start(file) >= 0

  /** The position in the URI's path where the relative name of a file below the root begins; -1 for other files. */
  def start(file: Path): Int = {
    val uri = file.toUri
    val below =
      uri.getScheme == rootUri.getScheme && uri.getAuthority == rootUri.getAuthority && uri.getPath.startsWith(prefix)
    if (below) prefix.length else -1
  }

  /** The inverse of `of`. The empty name stands for the root itself. */
  def resolve(name: String): Path =
    if (name.isEmpty) root
    else if (name.matches("^[a-zA-Z][a-zA-Z0-9+.-]*:/.*")) new Path(name)
    else new Path(rootUri.getScheme, rootUri.getAuthority, prefix + name)
}
