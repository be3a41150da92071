package org.sparkzorder.commit.storage

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Path => LocalPath, _}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.fs.{
  FSError,
  FileContext,
  FileStatus,
  FileSystem,
  LocalFileSystem,
  Options,
  Path,
  RawLocalFileSystem
}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.hdfs.DistributedFileSystem
import org.apache.hadoop.io.IOUtils

import org.sparkzorder.commit.{FileMeta, FileOps, LongNames, SideNames}
import org.sparkzorder.compat._

/**
 * [[FileOps]] over a Hadoop file system.
 *
 * On the local file system we rename by `java.nio`, and move Hadoop's checksum file along. Hadoop's own local rename
 * overwrites files, moves into folders and, when the target's folder is missing, makes it and copies.
 */
class HadoopFileOps(fs: FileSystem) extends FileOps {
  import LocalPaths.nio

  private val local = fs match {
    case _: LocalFileSystem | _: RawLocalFileSystem => true
    case _                                          => false
  }

  // For control files. They are small, and their own formats are checked, so they need no checksum files.
  private val plain: FileSystem = fs match {
    case checked: LocalFileSystem => checked.getRawFileSystem
    case other                    => other
  }

  private val links = new LocalLinks(local)

  private val disk = new LocalStatuses(fs, links)

  private val storage = new StorageTraits(plain)

  private val permissions = new Permissions(plain, local)

  /** The file system's clock minus ours, in milliseconds, as last seen. */
  @volatile private var skew = 0L

  override def isMountPoint(path: Path): Boolean =
    if (local) LocalMounts.begins(path)
    else fs.resolvePath(path).getParent != fs.resolvePath(path.getParent)

  override def list(dir: Path): Seq[FileMeta] = {
    refuseLinks(dir)
    if (local) disk.list(dir)
    else
      try fs.listStatus(dir).toIndexedSeq.map(meta)
      catch { case _: FileNotFoundException => Nil }
  }

  override def status(path: Path): Option[FileMeta] = {
    refuseLinksAbove(path)
    if (local) disk.status(path)
    else
      try Some(meta(fs.getFileStatus(path)))
      catch { case _: FileNotFoundException => None }
  }

  override def rename(src: Path, dst: Path): Unit = {
    refuseLinksAbove(src)
    refuseLinksAbove(dst)
    if (local) renameLocally(src, dst)
    else
      fs match {
        // One call: HDFS itself refuses when anything lies at `dst`, or its folder is missing.
        case dfs: DistributedFileSystem => dfs.rename(src, dst, Options.Rename.NONE)
        case _                          =>
          if (fs.exists(dst)) throw exists(src, dst)
          if (!fs.exists(dst.getParent))
            throw new FileNotFoundException(s"cannot rename $src: no folder ${dst.getParent}")
          if (!fs.rename(src, dst)) throw refused(src, dst)
      }
  }

  private def exists(src: Path, dst: Path) = new IOException(s"cannot rename $src: $dst exists")

  private def refused(src: Path, dst: Path): IOException =
    if (!fs.exists(src)) new FileNotFoundException(s"cannot rename $src to $dst: it does not exist")
    else new IOException(s"cannot rename $src to $dst")

  // A checksum file must never be alone among the data. So it goes first into a side folder, and last out of it.
  private def renameLocally(src: Path, dst: Path): Unit = {
    val (from, to) = (nio(src), nio(dst))
    val (fromSum, toSum) = (checksum(from), checksum(to))
    if (!Files.exists(from, LinkOption.NOFOLLOW_LINKS))
      throw new FileNotFoundException(s"cannot rename $src: it does not exist")
    if (Files.exists(to, LinkOption.NOFOLLOW_LINKS)) throw exists(src, dst)
    val hides = dst.toUri.getPath.split('/').contains(SideNames.Side)
    if (hides) moveChecksum(fromSum, toSum)
    else toSum.foreach(Files.deleteIfExists(_))
    moveOrFail(src, dst, from, to)
    if (!hides) moveChecksum(fromSum, toSum)
  }

  private def moveOrFail(src: Path, dst: Path, from: LocalPath, to: LocalPath): Unit =
    try move(from, to)
    catch {
      case e: FileAlreadyExistsException => throw new IOException(s"cannot rename $src: $dst exists", e)
      case e: NoSuchFileException        =>
        throw LocalStatuses.notFound(s"cannot rename $src to $dst: a file or folder is gone", e)
    }

  /** One system call where possible. Nothing is at `to`. */
  private def move(from: LocalPath, to: LocalPath): Unit =
    try Files.move(from, to, StandardCopyOption.ATOMIC_MOVE)
    catch { case _: AtomicMoveNotSupportedException => Files.move(from, to) }

  /** Moves a checksum file. If there is none, a file at `to` belongs to another data file and is deleted. */
  private def moveChecksum(from: Option[LocalPath], to: Option[LocalPath]): Unit = {
    val moved = from.exists { sum =>
      to.exists { place =>
        try {
          Files.move(sum, place, StandardCopyOption.ATOMIC_MOVE)
          true
        } catch {
          case _: NoSuchFileException             => false
          case _: AtomicMoveNotSupportedException =>
            Files.move(sum, place, StandardCopyOption.REPLACE_EXISTING)
            true
        }
      }
    }
    if (!moved) to.foreach(Files.deleteIfExists(_))
  }

  override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit = {
    def isSame = status(from.path).exists(m => m.length == from.length && m.modificationTime == from.modificationTime)
    def refuse() = throw new IOException(s"cannot copy ${from.path}: it is not as it was listed")
    try Using.resource(plain.open(from.path)) { in =>
        // Another file may be in its place, and go again before the copy ends.
        if (!isSame) refuse()
        Using.resource(plain.create(temporary, true))(IOUtils.copyBytes(in, _, plain.getConf, false))
      }
    catch { case e: FSError => throw new IOException(s"cannot write $temporary: ${e.getMessage}", e) }
    // It may have been rewritten in place meanwhile.
    if (!status(temporary).exists(_.length == from.length) || !isSame) refuse()
    adoptRights(Seq(temporary), Seq(from.path))
    check
    rename(temporary, to)
  }

  override def delete(path: Path): Unit =
    status(path) match {
      case Some(found) =>
        if (found.isDirectory) throw new IOException(s"not a file: $path")
        if (found.isLink) Files.deleteIfExists(nio(path))
        else if (!fs.delete(path, false) && fs.exists(path)) throw new IOException(s"cannot delete $path")
      // The file may have been deleted, and its checksum file left.
      case None => if (local) checksum(nio(path)).foreach(Files.deleteIfExists(_))
    }

  override def deleteEmpty(dir: Path): Boolean = {
    refuseLinks(dir)
    if (local) {
      def attempt(): Boolean =
        try Files.isDirectory(nio(dir)) && Files.deleteIfExists(nio(dir))
        catch { case _: DirectoryNotEmptyException => false }
      attempt() || links.isInSide(dir) && deleteLoneChecksums(nio(dir)) && attempt()
    } else {
      // The list comes first since some file systems delete a full folder when asked without 'recursive'.
      status(dir).exists(_.isDirectory) && list(dir).isEmpty && fs.delete(dir, false)
    }
  }

  /**
   * A death between the two moves of a rename leaves a checksum file without its file. False if there are other files.
   */
  private def deleteLoneChecksums(dir: LocalPath): Boolean =
    try {
      val files = Using.resource(Files.list(dir))(_.iterator.asScala.toIndexedSeq)
      files.nonEmpty && files.forall(isChecksum) && {
        files.foreach(Files.deleteIfExists(_))
        true
      }
    } catch { case _: NoSuchFileException => false }

  override def deleteRecursive(dir: Path): Unit = {
    FileOps.requireBelowSideFolder(dir)
    refuseLinks(dir)
    if (!fs.delete(dir, true) && fs.exists(dir)) throw new IOException(s"cannot delete $dir")
  }

  override def mkdirs(dir: Path): Unit = {
    refuseLinks(dir)
    val missing =
      if (!links.isInSide(dir) || !permissions.mayNeedMore(dir)) Nil
      else Iterator.iterate(dir)(_.getParent).takeWhile(d => links.isInSide(d) && !fs.exists(d)).toVector
    make(dir)
    missing.foreach(permissions.inherit)
  }

  private def make(dir: Path): Unit = if (!fs.mkdirs(dir)) {
    // Hadoop's local file system does not say why.
    if (local) Files.createDirectories(nio(dir))
    throw new IOException(s"cannot make folder $dir")
  }

  override def mkdirsLike(dir: Path, like: Path): Unit = {
    val missing = Iterator.iterate(dir)(_.getParent).takeWhile(d => d != null && !fs.exists(d)).toVector.reverse
    missing.foreach { folder =>
      make(folder)
      permissions.resemble(folder, like)
      if (!local) storage.resemble(folder, like)
    }
    if (!local && fs.getFileStatus(like).isEncrypted && !fs.getFileStatus(dir).isEncrypted)
      throw new IOException(s"$like is in an encryption zone, and $dir would not be")
  }

  override def mkdir(dir: Path): Unit = {
    refuseLinks(dir)
    if (!fs.exists(dir)) {
      try {
        if (local) Files.createDirectory(nio(dir))
        // A `FileSystem` would make the folders above, too.
        else FileContext.getFileContext(fs.getUri, fs.getConf).mkdir(dir, FsPermission.getDirDefault, false)
      } catch {
        case _: FileAlreadyExistsException | _: org.apache.hadoop.fs.FileAlreadyExistsException => ()
        case e: NoSuchFileException => throw LocalStatuses.notFound(s"no folder ${dir.getParent}", e)
      }
      permissions.inherit(dir)
    }
  }

  override def writeNew(path: Path, bytes: Array[Byte]): Unit = write(path, bytes, None)

  override def writeNew(path: Path, bytes: Array[Byte], mode: Int): Unit = write(path, bytes, Some(mode))

  override def adoptRights(written: Seq[Path], replaced: Seq[Path]): Unit = {
    if (!local) storage.adopt(written, replaced)
    // The owner comes last: it may take the rights to change anything from us.
    permissions.adopt(written, replaced)
  }

  override def commonMode(folders: Seq[Path]): Int = permissions.common(folders)

  private def write(path: Path, bytes: Array[Byte], mode: Option[Int]): Unit = {
    refuseLinks(path)
    // The raw local file system would make missing parents.
    if (local && !Files.isDirectory(nio(path.getParent)))
      throw new FileNotFoundException(s"no folder ${path.getParent}")
    val (replication, blockSize) = (plain.getDefaultReplication(path), plain.getDefaultBlockSize(path))
    val out =
      try plain.createNonRecursive(path, false, 65536, replication, blockSize, null)
      // Java throws this for a full disk, too. Then the folder is still there.
      catch { case e: FileNotFoundException if fs.exists(path.getParent) => throw new IOException(e.getMessage, e) }
    try {
      try {
        // Before anything is in it.
        permissions.inherit(path)
        mode.foreach(permissions.restrict(path, _))
        out.write(bytes)
      } finally out.close()
    } catch {
      // Hadoop's local file system throws this when the disk is full.
      case e: FSError => throw new IOException(s"cannot write $path: ${Option(e.getCause).getOrElse(e).getMessage}", e)
    }
    status(path).foreach(written => skew = written.modificationTime - System.currentTimeMillis())
  }

  override def read(path: Path, limit: Long): Array[Byte] = {
    refuseLinks(path)
    val length = plain.getFileStatus(path).getLen
    if (length > math.min(limit, Int.MaxValue - 16L))
      throw new IOException(s"$path has $length bytes, more than $limit")
    val bytes = new Array[Byte](length.toInt)
    Using.resource(plain.open(path))(_.readFully(bytes))
    bytes
  }

  override def touch(path: Path): Unit = {
    refuseLinks(path)
    // Some stores ignore the call for a missing file. Others ignore it always, which the lock's heartbeat notices.
    if (!fs.exists(path)) throw new FileNotFoundException(s"cannot touch $path: it does not exist")
    plain.setTimes(path, System.currentTimeMillis() + skew, -1L)
  }

  override def realPath(path: Path): Path =
    if (!local) path
    else
      try new Path(path.toUri.getScheme, path.toUri.getAuthority, nio(path).toRealPath().toString)
      catch { case _: IOException => path }

  /** We make no symbolic links in a side folder. Through a link of others we would reach files outside the table. */
  private def refuseLinks(path: Path): Unit =
    links.below(path).find(Files.isSymbolicLink(_)).foreach(l => throw new IOException(s"$l is a symbolic link"))

  /**
   * For calls that do not follow a link at the end of the path. A data file may be a link, and is
   * one in the trash, too.
   */
  private def refuseLinksAbove(path: Path): Unit =
    refuseLinks(if (links.isTrash(path.getParent)) path.getParent else path)

  private def meta(s: FileStatus): FileMeta =
    FileMeta(s.getPath, if (s.isDirectory) 0L else s.getLen, s.getModificationTime, s.isDirectory)

  /** None for a file whose name is so long that no checksum file fits beside it. */
  private def checksum(file: LocalPath): Option[LocalPath] = {
    val name = s".${file.getFileName}.crc"
    Option.when(LongNames.isPossible(name))(file.resolveSibling(name))
  }

  private def isChecksum(file: LocalPath): Boolean = file.getFileName.toString.matches("\\..+\\.crc")
}
