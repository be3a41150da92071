package org.sparkzorder.commit

import java.io.FileNotFoundException
import java.nio.file.{FileSystemException, Files, NoSuchFileException, Path => LocalPath, Paths}
import java.nio.file.attribute.{GroupPrincipal, PosixFileAttributeView}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{CommonPathCapabilities, FileStatus, FileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.security.AccessControlException

/**
 * Who may read what lies in a side folder: whom the folder beside it is for, and of statistics, who may read the data.
 * An ACL is the file system's to inherit, and where there is one the mode is left to it.
 *
 * Object stores say that they have no rights of files, and are asked for none.
 *
 * @param local whether it is the local file system, of which Hadoop would ask a process of its own for each file
 */
private[commit] final class Permissions(fs: FileSystem, local: Boolean) {
  import Permissions._

  /** Whether a new folder in a side folder has other rights than it is to have: one look at the file system at most. */
  def mayNeedMore(dir: Path): Boolean = local || tableOf(dir).filter(hasRights).flatMap(lookAt).exists { table =>
    !table.hasAcl && table.mode != FsPermission.getDirDefault.applyUMask(
      FsPermission.getUMask(fs.getConf)
    ).toShort.toInt
  }

  /** Gives a new folder in a side folder the mode and the group of the table's folder, a new file no more than those. */
  def inherit(path: Path): Unit = tableOf(path).filter(hasRights).foreach { table =>
    val (of, now) = (lookAt(table), lookAt(path))
    for (o <- of; n <- now if !o.hasAcl && !n.hasAcl) {
      // If it cannot be had, the table's folder stands before all that is in it anyway.
      if (o.group != n.group) takeGroup(path, table, o.group)
      val wanted = if (n.isFolder) o.mode else n.mode & (o.mode | Execute)
      if (wanted != n.mode) set(path, wanted)
    }
  }

  /** Takes from a file the rights that nobody has on the data. */
  def restrict(path: Path, mode: Int): Unit =
    if (mode != Everything && hasRights(path))
      lookAt(path).foreach(n => if ((n.mode & mode) != n.mode && !n.hasAcl) set(path, n.mode & mode))

  /** Rights that there are on every folder and every file in it, but for what is hidden. */
  def common(folders: Seq[Path]): Int =
    if (!folders.headOption.exists(hasRights)) Everything
    else folders.asJava.parallelStream.mapToInt(common(_)).reduce(Everything, (a, b) => a & b)

  private def common(folder: Path): Int = {
    // Who may not enter a folder may not read its files.
    val enter = lookAt(folder).fold(Everything)(f => (f.mode & Execute) * 7)
    val files =
      try fs.listStatus(folder).toSeq.filterNot(s => s.isDirectory || s.getPath.getName.matches("[._].*"))
      catch { case _: FileNotFoundException => Nil }
    enter & files.flatMap(seen(_)).foldLeft(Everything)((m, f) => m & (f.mode | Execute))
  }

  /** Gives files that replace others their rights and their group; where they differ, those that all of them have. */
  def adopt(written: Seq[Path], replaced: Seq[Path]): Unit =
    if (replaced.headOption.exists(hasRights)) {
      val others = if (local) replaced.flatMap(lookAt) else listed(replaced)
      for (first <- others.headOption if !others.exists(_.hasAcl); path <- written; n <- lookAt(path) if !n.hasAcl) {
        val mode = others.foldLeft(0x1b6)((m, f) => m & f.mode)
        val isOfGroup = n.group == first.group || takeGroup(path, replaced.head, first.group)
        val wanted = if (isOfGroup && others.forall(_.group == first.group)) mode else mode & ~Group
        if (wanted != n.mode) set(path, wanted)
      }
    }

  // Spark's listings have no rights in them.
  private def listed(paths: Seq[Path]): Seq[Seen] = paths.groupBy(_.getParent).toSeq.flatMap { case (folder, files) =>
    val names = files.map(_.getName).toSet
    fs.listStatus(folder).toSeq.filter(s => names(s.getPath.getName)).flatMap(seen(_))
  }

  private def hasRights(path: Path): Boolean =
    local || fs.hasPathCapability(path, CommonPathCapabilities.FS_PERMISSIONS)

  private def seen(status: FileStatus): Option[Seen] =
    if (local) lookAt(status.getPath)
    else {
      val acl = status.hasAcl
      Some(Seen(status.getPermission.toShort.toInt & 0xfff, status.getGroup, status.isDirectory, acl))
    }

  private def lookAt(path: Path): Option[Seen] =
    if (!local) {
      try seen(fs.getFileStatus(path))
      catch { case _: FileNotFoundException => None }
    } else {
      try {
        val file = nio(path)
        val group = Files.getAttribute(file, "posix:group").asInstanceOf[GroupPrincipal]
        val mode = Files.getAttribute(file, "unix:mode").asInstanceOf[Int] & 0xfff
        Some(Seen(mode, group.getName, Files.isDirectory(file), hasAcl = false))
      } catch {
        // No POSIX, no modes.
        case _: UnsupportedOperationException | _: IllegalArgumentException | _: NoSuchFileException => None
      }
    }

  private def set(path: Path, mode: Int): Unit =
    if (local) {
      Files.setAttribute(nio(path), "unix:mode", Int.box(mode))
      ()
    } else fs.setPermission(path, new FsPermission(mode.toShort))

  /** False for who is not of the group: he cannot give files to it. */
  private def takeGroup(path: Path, from: Path, group: String): Boolean =
    try {
      if (local) {
        val of = Files.getAttribute(nio(from), "posix:group").asInstanceOf[GroupPrincipal]
        Files.getFileAttributeView(nio(path), classOf[PosixFileAttributeView]).setGroup(of)
      } else fs.setOwner(path, null, group)
      true
    } catch { case _: FileSystemException | _: AccessControlException => false }

  private def nio(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}

private[commit] object Permissions {

  /** @param mode the nine bits, and those for setuid, setgid and sticky */
  private final case class Seen(mode: Int, group: String, isFolder: Boolean, hasAcl: Boolean)

  private val Everything = 0xfff
  private val Execute = 0x49
  private val Group = 0x38

  /** The folder beside the side folder in which a path lies. */
  private def tableOf(path: Path): Option[Path] =
    Iterator.iterate(path)(_.getParent).takeWhile(_ != null).find(_.getName == TableFolder.Side).map(_.getParent)
}
