package org.sparkzorder.commit.storage

import java.nio.file.{Files, LinkOption, NoSuchFileException, Path => LocalPath, Paths}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, SideNames}

private[storage] object LocalPaths {
  def nio(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}

/**
 * Symbolic links, which are shown as links. Hadoop follows them, and so does not see a link whose
 * file is gone, or a relative link that was moved.
 *
 * @param local whether it is the local file system; HDFS and object stores have none
 */
private[commit] final class LocalLinks(local: Boolean) {
  import LocalPaths.nio

  def is(path: Path): Boolean = local && Files.isSymbolicLink(nio(path))

  /**
   * A link to a file or to nothing. A link to a folder counts as that folder, except in the trash:
   * there it is a data file.
   */
  def at(path: Path): Option[FileMeta] =
    if (!is(path) || (!isTrash(path.getParent) && Files.isDirectory(nio(path)))) None
    else
      try Some(FileMeta(path, FileMeta.LinkLength, timeOf(path), isDirectory = false))
      catch { case _: NoSuchFileException => None }

  /** Whether the folder is the trash of one version, which holds retired files. */
  def isTrash(dir: Path): Boolean = dir != null && SideNames.trashVersion(dir.getName).isDefined &&
    dir.getParent != null && dir.getParent.getName == SideNames.TrashName &&
    dir.getParent.getParent != null && dir.getParent.getParent.getName == SideNames.Side

  def isInSide(path: Path): Boolean = s"${path.toUri.getPath}/".contains(s"/${SideNames.Side}/")

  /** The parts of the path that could be links, from the side folder down. None outside of side folders. */
  def below(path: Path): Seq[LocalPath] = {
    val text = path.toUri.getPath
    val side = s"$text/".indexOf(s"/${SideNames.Side}/") + 1
    if (!local || side == 0) Nil
    else {
      val whole = nio(path)
      val below = text.substring(side).split('/').length
      (whole.getNameCount - below + 1 to whole.getNameCount).map(n => whole.getRoot.resolve(whole.subpath(0, n)))
    }
  }

  private def timeOf(path: Path): Long = Files.getLastModifiedTime(nio(path), LinkOption.NOFOLLOW_LINKS).toMillis
}

/** Where file systems are mounted on this machine. */
private[commit] object LocalMounts {
  import LocalPaths.nio

  /** Linux's list. It also has folders of the same disk that are mounted twice. */
  private val List = Paths.get("/proc/self/mountinfo")

  private val Folder = 4

  /** Whether the folder, links followed, is on another file system than the one above its name. */
  def begins(path: Path): Boolean = {
    val real = nio(path).toRealPath()
    device(real) != device(nio(path.getParent).toRealPath()) || mounted(real.toString)
  }

  private def device(path: LocalPath): AnyRef =
    try Files.getAttribute(path, "unix:dev")
    // Not a system like Unix.
    catch { case _: UnsupportedOperationException | _: IllegalArgumentException => Files.getFileStore(path) }

  private def mounted(folder: String): Boolean = Files.isReadable(List) &&
    Files.readAllLines(List).asScala.map(_.split(' ')).exists(line =>
      line.length > Folder && plain(line(Folder)) == folder
    )

  /** The list writes a space as `\\040`. */
  private def plain(folder: String): String = "\\\\([0-7]{3})".r
    .replaceAllIn(
      folder,
      m => scala.util.matching.Regex.quoteReplacement(Integer.parseInt(m.group(1), 8).toChar.toString)
    )
}
