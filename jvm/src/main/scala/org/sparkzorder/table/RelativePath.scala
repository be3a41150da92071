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

  def isBelow(file: Path): Boolean = start(file) >= 0

  /** Where in the path of its URI the name of a file begins that lies below the root, else -1. */
  def start(file: Path): Int = {
    val uri = file.toUri
    val below =
      uri.getScheme == rootUri.getScheme && uri.getAuthority == rootUri.getAuthority && uri.getPath.startsWith(prefix)
    if (below) prefix.length else -1
  }

  /** The inverse of `of`. The empty name is the root itself. */
  def resolve(name: String): Path =
    if (name.isEmpty) root
    else if (name.matches("^[a-zA-Z][a-zA-Z0-9+.-]*:/.*")) new Path(name)
    else new Path(rootUri.getScheme, rootUri.getAuthority, prefix + name)
}
