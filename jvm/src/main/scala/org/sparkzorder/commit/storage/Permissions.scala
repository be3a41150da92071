package org.sparkzorder.commit.storage

import java.io.FileNotFoundException
import java.nio.file.{FileSystemException, Files, LinkOption, NoSuchFileException}
import java.nio.file.attribute.{GroupPrincipal, PosixFileAttributeView, UserPrincipal}
import java.security.Principal

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{CommonPathCapabilities, FileStatus, FileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.security.{AccessControlException, UserGroupInformation}

import org.sparkzorder.commit.SideNames

/**
 * The rights of files in a side folder. They are those of the table's folder, and statistics have no more rights than
 * the data. An administrator's files are given to the owner of the table, who could not delete them otherwise. Where
 * there is an ACL, the file system inherits it, and the mode is not changed.
 *
 * Nothing is asked of object stores, which say that their files have no rights.
 *
 * @param local whether it is the local file system, for which Hadoop would start a process for each file
 */
private[commit] final class Permissions(fs: FileSystem, local: Boolean) {
  import LocalPaths.nio
  import Permissions._

  /** Whether we may change the owner of files, as administrators may. The first attempt tells. */
  @volatile private var givesAway = true

  /**
   * Whether a new folder in a side folder gets other rights than it should have. At most one look at the file system.
   */
  def mayNeedMore(dir: Path): Boolean = local || tableOf(dir).filter(hasRights).flatMap(lookAt(_)).exists { table =>
    val usual = FsPermission.getDirDefault.applyUMask(FsPermission.getUMask(fs.getConf)).toShort.toInt
    (!table.hasAcl && table.mode != usual) ||
    (givesAway && table.owner != UserGroupInformation.getCurrentUser.getShortUserName)
  }

  /**
   * Gives a new folder in a side folder the mode, the group and the owner of the table's folder. A
   * new file gets the group and the owner, and no more rights than the table's folder.
   */
  def inherit(path: Path): Unit = tableOf(path).filter(hasRights).foreach { table =>
    val (of, now) = (lookAt(table), lookAt(path, LinkOption.NOFOLLOW_LINKS))
    for (o <- of; n <- now if !o.hasAcl && !n.hasAcl) {
      // If we cannot, the rights of the table's folder still protect all files in it.
      if (o.group != n.group) takeGroup(path, table, o.group)
      val wanted = if (n.isFolder) o.mode else n.mode & (o.mode | Execute)
      if (wanted != n.mode) set(path, wanted)
    }
    for (o <- of; n <- now) give(path, n, table, o)
  }

  /**
   * Gives a new folder the rights, the group and the owner of another folder. Without the group it gets
   * none of the group's rights.
   */
  def resemble(folder: Path, like: Path): Unit = if (hasRights(like)) {
    val (of, now) = (lookAt(like), lookAt(folder, LinkOption.NOFOLLOW_LINKS))
    for (o <- of; n <- now) {
      if (!o.hasAcl && !n.hasAcl) {
        val isOfGroup = o.group == n.group || takeGroup(folder, like, o.group)
        val wanted = if (isOfGroup) o.mode else o.mode & ~Group
        if (wanted != n.mode) set(folder, wanted)
      }
      give(folder, n, like, o)
    }
  }

  def restrict(path: Path, mode: Int): Unit =
    if (mode != Everything && hasRights(path))
      lookAt(path).foreach(n => if ((n.mode & mode) != n.mode && !n.hasAcl) set(path, n.mode & mode))

  /** The rights that all these folders, and all their files that are not hidden, have in common. */
  def common(folders: Seq[Path]): Int =
    if (!folders.headOption.exists(hasRights)) Everything
    else folders.asJava.parallelStream.mapToInt(common(_)).reduce(Everything, (a, b) => a & b)

  private def common(folder: Path): Int = {
    // A user who may not enter the folder may not read its files.
    val enter = lookAt(folder).fold(Everything)(f => (f.mode & Execute) * 7)
    val files =
      try fs.listStatus(folder).toSeq.filterNot(s => s.isDirectory || s.getPath.getName.matches("[._].*"))
      catch { case _: FileNotFoundException => Nil }
    enter & files.flatMap(rightsOf).foldLeft(Everything)((m, f) => m & (f.mode | Execute))
  }

  /**
   * Gives files the rights, the group and the owner of the files that they replace. If rights
   * differ, those that all of these have. If owners differ, the files stay their writer's.
   */
  def adopt(written: Seq[Path], replaced: Seq[Path]): Unit =
    if (replaced.headOption.exists(hasRights)) {
      val others = if (local) replaced.flatMap(lookAt(_)) else StorageTraits.listed(fs, replaced).flatMap(rightsOf)
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

  /** Gives a file to the owner of another file or folder, if that is allowed. */
  private def give(path: Path, now: Rights, from: Path, other: Rights): Unit =
    if (givesAway && now.owner != other.owner) {
      try {
        if (local) view(path).setOwner(Files.getAttribute(nio(from), "posix:owner").asInstanceOf[UserPrincipal])
        else fs.setOwner(path, other.owner, null)
      } catch { case _: FileSystemException | _: AccessControlException => givesAway = false }
    }

  private def hasRights(path: Path): Boolean =
    local || fs.hasPathCapability(path, CommonPathCapabilities.FS_PERMISSIONS)

  private def rightsOf(status: FileStatus): Option[Rights] =
    if (local) lookAt(status.getPath)
    else {
      val acl = status.hasAcl
      val mode = status.getPermission.toShort.toInt & 0xfff
      Some(Rights(mode, status.getOwner, status.getGroup, status.isDirectory, acl))
    }

  private def lookAt(path: Path, options: LinkOption*): Option[Rights] =
    if (!local) {
      try rightsOf(fs.getFileStatus(path))
      catch { case _: FileNotFoundException => None }
    } else {
      try {
        val found = Files.readAttributes(nio(path), "unix:mode,owner,group,isDirectory,isSymbolicLink", options: _*)
        def nameOf(key: String) = found.get(key).asInstanceOf[Principal].getName
        val mode = found.get("mode").asInstanceOf[Int] & 0xfff
        // Our file was replaced by a link. We must not change the file that it leads to.
        if (found.get("isSymbolicLink") == true) None
        else Some(Rights(mode, nameOf("owner"), nameOf("group"), found.get("isDirectory") == true, hasAcl = false))
      } catch {
        // A file system without POSIX has no modes.
        case _: UnsupportedOperationException | _: IllegalArgumentException | _: NoSuchFileException => None
      }
    }

  private def set(path: Path, mode: Int): Unit =
    if (local) {
      Files.setAttribute(nio(path), "unix:mode", Int.box(mode))
      ()
    } else fs.setPermission(path, new FsPermission(mode.toShort))

  /** False if our user is not a member of the group, and so cannot give files to it. */
  private def takeGroup(path: Path, from: Path, group: String): Boolean =
    try {
      if (local) {
        val of = Files.getAttribute(nio(from), "posix:group").asInstanceOf[GroupPrincipal]
        view(path).setGroup(of)
      } else fs.setOwner(path, null, group)
      true
    } catch { case _: FileSystemException | _: AccessControlException => false }

  // Never follows a link: an administrator's process might give away a file of the system.
  private def view(path: Path): PosixFileAttributeView =
    Files.getFileAttributeView(nio(path), classOf[PosixFileAttributeView], LinkOption.NOFOLLOW_LINKS)
}

private[commit] object Permissions {

  /** @param mode the nine bits, and those for setuid, setgid and sticky */
  private final case class Rights(mode: Int, owner: String, group: String, isFolder: Boolean, hasAcl: Boolean)

  private val Everything = 0xfff
  private val Execute = 0x49
  private val Group = 0x38

  /** The folder that contains the side folder that a path is in. */
  private def tableOf(path: Path): Option[Path] =
    Iterator.iterate(path)(_.getParent).takeWhile(_ != null).find(_.getName == SideNames.Side).map(_.getParent)
}
