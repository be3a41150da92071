package org.sparkzorder.table

import org.apache.hadoop.fs.Path

/**
 * Names of files as index and journal hold them: relative to the table's root where below it, else the absolute URI.
 * Works on the decoded path, so that names with '%', ':' or spaces survive; building a Path from a relative string would parse them.
 */
final class RelativePath(root: Path) {
  private val rootUri = root.toUri
  private val prefix = if (rootUri.getPath.endsWith("/")) rootUri.getPath else rootUri.getPath + "/"

  def of(file: Path): String = {
    val uri = file.toUri
    if (isBelow(file)) uri.getPath.substring(prefix.length) else file.toString
  }

  def isBelow(file: Path): Boolean = {
    val uri = file.toUri
    uri.getScheme == rootUri.getScheme && uri.getAuthority == rootUri.getAuthority && uri.getPath.startsWith(prefix)
  }

  /** The inverse of `of`. The empty name is the root itself. */
  def resolve(name: String): Path =
    if (name.isEmpty) root
    else if (name.matches("^[a-zA-Z][a-zA-Z0-9+.-]*:/.*")) new Path(name)
    else new Path(rootUri.getScheme, rootUri.getAuthority, prefix + name)
}
