package org.sparkzorder.commit.side

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileNames, NestedTableException, TableFolder}

/**
 * Tables over folders of one another, as `/x` and `/x/sub`. They share data files, so statements refuse
 * one of them as soon as the other has a history, an index or a lock.
 *
 * Both directions are asked under the table's own lock. So of two statements that begin at once, at least
 * one sees the other's lock.
 */
object NestedTables {

  /**
   * @throws NestedTableException when a folder above is a table with a history, an index or a lock. Asks
   *   above both names of the folder if a link gives it two
   */
  def refuseAbove(folder: TableFolder): Unit = {
    val names = Seq(folder.ops.realPath(folder.root), folder.root).distinct
    names.flatMap(above).map(TableFolder(_, folder.ops)).find(isRoot(_, ""))
      .foreach(outer => throw new NestedTableException(outer.root, folder.root))
  }

  /**
   * @param dirs folders that are to change, relative to the root
   * @throws NestedTableException when one of them, or a folder between it and the root, is a table
   */
  private[commit] def refuseBelow(folder: TableFolder, dirs: Seq[String]): Unit =
    dirs.flatMap(withFoldersAbove).distinct.sorted.find(isRoot(folder, _))
      .foreach(dir => throw new NestedTableException(folder.root, folder.resolve(dir)))

  private def above(root: Path): Seq[Path] = Iterator.iterate(root.getParent)(_.getParent).takeWhile(_ != null).toVector

  /** A side folder of a partition holds only markers, staging and trash of the table above. */
  private def isRoot(folder: TableFolder, dir: String): Boolean =
    folder.ops.list(folder.sideOf(dir)).exists(SideFolders.beginsTable)

  /** A relative folder and those above it, without the root. */
  private def withFoldersAbove(dir: String): Seq[String] =
    Iterator.iterate(dir)(FileNames.parent).takeWhile(_.nonEmpty).toVector
}
