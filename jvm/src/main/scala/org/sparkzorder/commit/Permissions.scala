package org.sparkzorder.commit

import java.io.FileNotFoundException
import java.nio.file.{FileSystemException, Files, LinkOption, NoSuchFileException, Path => LocalPath, Paths}
import java.nio.file.attribute.{GroupPrincipal, PosixFileAttributeView, UserPrincipal}
import java.security.Principal

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{CommonPathCapabilities, FileStatus, FileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.security.{AccessControlException, UserGroupInformation}

/**
 * Who may read what lies in a side folder: whom the folder beside it is for, and of statistics, who may read the data.
 * What an administrator writes is given to the owner of the table, who could not delete it otherwise.
 * An ACL is the file system's to inherit, and where there is one the mode is left to it.
 *
 * Object stores say that they have no rights of files, and are asked for none.
 *
 * @param local whether it is the local file system, of which Hadoop would ask a process of its own for each file
 */
private[commit] final class Permissions(fs: FileSystem, local: Boolean) {
  import Permissions._

  /** Only administrators may give files away, which the first attempt tells. */
  @volatile private var givesAway = true

  /** Whether a new folder in a side folder has other rights than it is to have: one look at the file system at most. */
  def mayNeedMore(dir: Path): Boolean = local || tableOf(dir).filter(hasRights).flatMap(lookAt(_)).exists { table =>
    val usual = FsPermission.getDirDefault.applyUMask(FsPermission.getUMask(fs.getConf)).toShort.toInt
    (!table.hasAcl && table.mode != usual) ||
    (givesAway && table.owner != UserGroupInformation.getCurrentUser.getShortUserName)
  }

  /**
   * Gives a new folder in a side folder the mode, the group and the owner of the table's folder, a new file no more
   * rights than those.
   */
  def inherit(path: Path): Unit = tableOf(path).filter(hasRights).foreach { table =>
    val (of, now) = (lookAt(table), lookAt(path, LinkOption.NOFOLLOW_LINKS))
    for (o <- of; n <- now if !o.hasAcl && !n.hasAcl) {
      // If it cannot be had, the table's folder stands before all that is in it anyway.
      if (o.group != n.group) takeGroup(path, table, o.group)
      val wanted = if (n.isFolder) o.mode else n.mode & (o.mode | Execute)
      if (wanted != n.mode) set(path, wanted)
    }
    for (o <- of; n <- now) give(path, n, table, o)
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

  /**
   * Gives files that replace others their rights, their group and their owner. Where rights differ, those that all of
   * them have; where owners differ, the files stay with their writer.
   */
  def adopt(written: Seq[Path], replaced: Seq[Path]): Unit =
    if (replaced.headOption.exists(hasRights)) {
      val others = if (local) replaced.flatMap(lookAt(_)) else listed(replaced)
      for (first <- others.headOption; path <- written; n <- lookAt(path, LinkOption.NOFOLLOW_LINKS)) {
        if (!n.hasAcl && !others.exists(_.hasAcl)) {
          val mode = others.foldLeft(0x1b6)((m, f) => m & f.mode)
          val isOfGroup = n.group == first.group || takeGroup(path, replaced.head, first.group)
          val wanted = if (isOfGroup && others.forall(_.group == first.group)) mode else mode & ~Group
          if (wanted != n.mode) set(path, wanted)
        }
        if (others.forall(_.owner == first.owner)) give(path, n, replaced.head, first)
      }
    }

  /** To the owner of another file or folder, if that is allowed. */
  private def give(path: Path, now: Seen, from: Path, other: Seen): Unit =
    if (givesAway && now.owner != other.owner) {
      try {
        if (local) view(path).setOwner(Files.getAttribute(nio(from), "posix:owner").asInstanceOf[UserPrincipal])
        else fs.setOwner(path, other.owner, null)
      } catch { case _: FileSystemException | _: AccessControlException => givesAway = false }
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
      val mode = status.getPermission.toShort.toInt & 0xfff
      Some(Seen(mode, status.getOwner, status.getGroup, status.isDirectory, acl))
    }

  private def lookAt(path: Path, options: LinkOption*): Option[Seen] =
    if (!local) {
      try seen(fs.getFileStatus(path))
      catch { case _: FileNotFoundException => None }
    } else {
      try {
        val found = Files.readAttributes(nio(path), "unix:mode,owner,group,isDirectory,isSymbolicLink", options: _*)
        def nameOf(key: String) = found.get(key).asInstanceOf[Principal].getName
        val mode = found.get("mode").asInstanceOf[Int] & 0xfff
        // Somebody put it in the place of what we wrote: it leads to what is not ours to change.
        if (found.get("isSymbolicLink") == true) None
        else Some(Seen(mode, nameOf("owner"), nameOf("group"), found.get("isDirectory") == true, hasAcl = false))
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
        view(path).setGroup(of)
      } else fs.setOwner(path, null, group)
      true
    } catch { case _: FileSystemException | _: AccessControlException => false }

  // Of a link itself, never of what it leads to: an administrator would give away a file of the system.
  private def view(path: Path): PosixFileAttributeView =
    Files.getFileAttributeView(nio(path), classOf[PosixFileAttributeView], LinkOption.NOFOLLOW_LINKS)

  private def nio(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}

private[commit] object Permissions {

  /** @param mode the nine bits, and those for setuid, setgid and sticky */
  private final case class Seen(mode: Int, owner: String, group: String, isFolder: Boolean, hasAcl: Boolean)

  private val Everything = 0xfff
  private val Execute = 0x49
  private val Group = 0x38

  /** The folder beside the side folder in which a path lies. */
  private def tableOf(path: Path): Option[Path] =
    Iterator.iterate(path)(_.getParent).takeWhile(_ != null).find(_.getName == SideNames.Side).map(_.getParent)
}
