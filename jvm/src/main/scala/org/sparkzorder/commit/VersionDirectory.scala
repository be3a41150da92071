package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

import org.sparkzorder.compat._

/**
 * Folders of tables whose operations write to a new location. `/wh/t__zorder/v0000000007-<operation>`
 * has the files of version 7 of the table whose side folder is in `/wh/t`, its *root*. With partitions
 * there are folders such as `p=1` below.
 */
private[sparkzorder] object VersionDirectory {
  private val Suffix = "__zorder"
  private val Name = """v\d{10,18}-[0-9A-Za-z-]+""".r

  /** Where all generations of a table are. None for the root of a file system, which has no name. */
  def parentOf(tableRoot: Path): Option[Path] =
    Option.when(tableRoot.getName.nonEmpty && tableRoot.getParent != null)(
      FileNames.child(tableRoot.getParent, tableRoot.getName + Suffix)
    )

  /** @throws IllegalArgumentException for the root of a file system */
  def of(tableRoot: Path, version: Long, operationId: String): Path = {
    val parent = parentOf(tableRoot).getOrElse(throw new IllegalArgumentException(s"no folder is beside $tableRoot"))
    FileNames.child(parent, s"${SideNames.versionName(version)}-$operationId")
  }

  /** The folder of a partition in a version's folder. `relative` is empty for the table itself. */
  def partition(directory: Path, relative: String): Path =
    if (relative.isEmpty) directory else FileNames.child(directory, relative)

  /** Whether it is the name of a folder that this operation made. */
  def isOf(name: String, operationId: String): Boolean = Name.matches(name) && name.endsWith(s"-$operationId")

  /** The generation that a path is, or is in. */
  def generationOf(path: Path): Option[Path] =
    Iterator.iterate(path)(_.getParent).takeWhile(p => p != null && p.getParent != null).find { p =>
      Name.matches(p.getName) && p.getParent.getName.endsWith(Suffix) && p.getParent.getName.length > Suffix.length
    }

  /** The root of the table that a generation belongs to, by the path alone. */
  def tableRootOf(path: Path): Option[Path] = generationOf(path).flatMap(g => tableRootBeside(g.getParent))

  /** The root of the table if this may be the folder with all its generations. */
  def tableRootBeside(path: Path): Option[Path] =
    Option.when(path.getName.endsWith(Suffix) && path.getName.length > Suffix.length)(
      FileNames.child(path.getParent, path.getName.stripSuffix(Suffix))
    )

  /** Whether a folder is the table's root, is in it, or is a generation of it. */
  def isOf(tableRoot: Path, path: Path): Boolean = {
    val (root, other) = (tableRoot.toString.stripSuffix("/"), path.toString)
    other == root || other.startsWith(s"$root/") || tableRootOf(path).contains(tableRoot)
  }
}
