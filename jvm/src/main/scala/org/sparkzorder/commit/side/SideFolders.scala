package org.sparkzorder.commit.side

import java.io.IOException

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._

/**
 * A side folder in the table's root, or in a folder below or above it.
 *
 * @param folder the folder that it is in, relative to the root; None above the root
 * @param statuses what is in it
 * @param isRoot whether a table begins here: only its root has locks, records or statistics
 * @param obstacle a reason for which nothing may be deleted here, if there is one
 */
final case class FoundSideFolder(
    path: Path,
    folder: Option[String],
    statuses: Seq[FileMeta],
    isRoot: Boolean,
    obstacle: Option[String]
)

/** Finds side folders by walking through the table, as partitions may have been moved or copied. */
object SideFolders {
  private val MaxDepth = 64

  private val RecordName = """_v\d{10,18}(?:-.+)?(\.[a-z]+)""".r
  private val recordSuffixes = RecordState.all.map("." + _.suffix).toSet + SideNames.OutcomeSuffix

  private[commit] def isRecord(name: String): Boolean = name match {
    case RecordName(suffix) => recordSuffixes(suffix)
    case _                  => false
  }

  /** A reason for which nothing is deleted in a folder, although it can be read. */
  private[commit] val IsLinked = "a link leads to this folder"

  private[commit] def beginsTable(status: FileMeta): Boolean = !status.isDirectory && {
    SideNames.isTemporary(status.name) || isRecord(status.name) || SideListing.indexes(Seq(status)).nonEmpty ||
    SideListing.locks(Seq(status)).nonEmpty
  }

  /** Whether readers ignore a folder of this name. Names of partition columns may begin with an underscore. */
  private def isHidden(name: String): Boolean = (name.startsWith("_") && !name.contains("=")) || name.startsWith(".")

  private def read(folder: TableFolder, path: Path, in: Option[String], isLinked: Boolean): FoundSideFolder =
    try {
      val statuses = folder.ops.list(path)
      val isRoot = statuses.exists(beginsTable)
      FoundSideFolder(path, in, statuses, isRoot, if (isLinked) Some(IsLinked) else None)
    } catch {
      // It may belong to another table.
      case e: IOException =>
        FoundSideFolder(path, in, Nil, isRoot = true, Some(s"it cannot be listed: ${e.getMessage}"))
    }

  /**
   * The side folders of the root and of all folders below it, outermost first. A folder to which
   * several links lead is visited once.
   */
  def below(folder: TableFolder): Seq[FoundSideFolder] = {
    def realPath(path: Path) = folder.ops.realPath(path).toUri.getPath.stripSuffix("/")
    val seen = mutable.HashSet.empty[String]
    val found = mutable.ArrayBuffer.empty[FoundSideFolder]
    val rootPath = realPath(folder.root)
    def visit(dir: String, depth: Int): Unit = {
      val real = realPath(folder.resolve(dir))
      if (depth <= MaxDepth && seen.add(real)) {
        val folders = folder.ops.list(folder.resolve(dir)).filter(_.isDirectory).map(_.name).sorted
        val isLinked = real != (if (dir.isEmpty) rootPath else s"$rootPath/$dir")
        if (folders.contains(SideNames.Side)) found += read(folder, folder.sideOf(dir), Some(dir), isLinked)
        folders.filterNot(isHidden).foreach(name => visit(FileNames.in(dir, name), depth + 1))
      }
    }
    visit("", 0)
    found.toVector
  }

  def above(folder: TableFolder): Seq[FoundSideFolder] =
    foldersAbove(folder.root).map(parent => read(folder, new Path(parent, SideNames.Side), None, isLinked = false))
      .filter(side => side.statuses.nonEmpty || side.obstacle.isDefined)

  private[side] def foldersAbove(root: Path): Seq[Path] =
    Iterator.iterate(root.getParent)(_.getParent).takeWhile(_ != null).toVector
}

/**
 * Tables over folders of one another, as `/x` and `/x/sub`. They share data files, so statements refuse
 * one of them as soon as the other has a history, an index or a lock.
 *
 * Both directions are asked under the table's own lock. So of two statements that begin at once, at least one sees the
 * other's lock. Below is asked for exchanges in place only: on an object store one operation alone can have a folder's
 * marker.
 */
object NestedTables {

  /**
   * @throws NestedTableException when a folder above is a table with a history, an index or a lock. Asks
   *   above both names of the folder if a link gives it two
   */
  def refuseAbove(folder: TableFolder): Unit = {
    val names = Seq(folder.ops.realPath(folder.root), folder.root).distinct
    names.flatMap(SideFolders.foldersAbove).map(TableFolder(_, folder.ops)).find(isRoot(_, ""))
      .foreach(outer => throw new NestedTableException(outer.root, folder.root))
  }

  /**
   * @param dirs folders that are to change, relative to the root
   * @throws NestedTableException when one of them, or a folder between it and the root, is a table
   */
  private[commit] def refuseBelow(folder: TableFolder, dirs: Seq[String]): Unit =
    dirs.flatMap(withFoldersAbove).distinct.sorted.find(isRoot(folder, _))
      .foreach(dir => throw new NestedTableException(folder.root, folder.resolve(dir)))

  /** A side folder of a partition holds only markers, staging and trash of the table above. */
  private def isRoot(folder: TableFolder, dir: String): Boolean =
    folder.ops.list(folder.sideOf(dir)).exists(SideFolders.beginsTable)

  private def withFoldersAbove(dir: String): Seq[String] =
    Iterator.iterate(dir)(FileNames.parent).takeWhile(_.nonEmpty).toVector
}
