package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{
  DirectoryIteratorException,
  FileSystemException,
  Files,
  LinkOption,
  NoSuchFileException,
  NotDirectoryException,
  Path => LocalPath,
  Paths
}
import java.nio.file.attribute.BasicFileAttributes

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.slf4j.LoggerFactory

/**
 * What lies on a local disk. The system is asked itself, once for each file. Hadoop asks it several times, and says that a
 * file does not exist whenever it cannot be looked at, where we may not enter a folder or a disk fails. By 'it does not
 * exist' we decide what becomes of rows.
 */
private[commit] final class LocalStatuses(fs: FileSystem, links: LocalLinks) {
  private val hidesChecksums = fs.isInstanceOf[LocalFileSystem]

  /** Links are told as [[LocalLinks]] does. */
  def status(path: Path): Option[FileMeta] = ifThere(path) {
    val found = attributes(nio(path))
    if (found.isSymbolicLink) links.at(path).orElse(followed(path))
    else Some(meta(fs.makeQualified(path), found))
  }

  /** What lies at these names in one folder. */
  def statuses(dir: Path, names: Seq[String]): Seq[(String, FileMeta)] = {
    val (parent, at) = (fs.makeQualified(dir), nio(dir))
    names.flatMap { name =>
      lazy val path = child(parent, name)
      ifThere(child(dir, name)) {
        val found = attributes(at.resolve(name))
        if (found.isSymbolicLink) links.at(path).orElse(followed(path)) else Some(meta(path, found))
      }.map(name -> _)
    }
  }

  /** The names of all that is in a folder, without a look at it. */
  def names(dir: Path): Set[String] =
    try Using.resource(Files.newDirectoryStream(nio(dir)))(_.iterator.asScala.map(_.getFileName.toString).toSet)
    catch {
      case e: NoSuchFileException =>
        val gone = new FileNotFoundException(s"no folder $dir")
        gone.initCause(e)
        throw gone
      case e: DirectoryIteratorException => throw e.getCause
    }

  /** The files and folders in one. Links in side folders are left out, but for those in the trash, which are data files. */
  def list(dir: Path): Seq[FileMeta] = {
    val (isTrash, isInSide) = (links.isTrash(dir), links.isInSide(dir))
    val parent = fs.makeQualified(dir)
    def entry(file: LocalPath): Option[FileMeta] =
      try {
        val (path, found) = (child(parent, file.getFileName.toString), attributes(file))
        if (!found.isSymbolicLink) Some(meta(path, found))
        else if (isTrash) links.at(path)
        else if (isInSide) {
          LocalStatuses.log.warn(s"$path is a symbolic link and is ignored")
          None
        } else if (Files.exists(file)) links.at(path).orElse(followed(path))
        else None
      } catch { case _: NoSuchFileException => None } // gone since
    ifThere(dir) {
      try Some(Using.resource(Files.newDirectoryStream(nio(dir)))(
          _.iterator.asScala.filterNot(isHidden).flatMap(entry).toIndexedSeq
        ))
      catch {
        case _: NotDirectoryException      => Some(status(dir).toSeq)
        case e: DirectoryIteratorException => throw e.getCause
      }
    }.getOrElse(Nil)
  }

  // Not `new Path(parent, name)`, which takes what stands before a colon for a scheme.
  def child(dir: Path, name: String): Path =
    new Path(dir.toUri.getScheme, dir.toUri.getAuthority, s"${dir.toUri.getPath.stripSuffix("/")}/$name")

  private def isHidden(file: LocalPath): Boolean = hidesChecksums && {
    val name = file.getFileName.toString
    name.startsWith(".") && name.endsWith(".crc")
  }

  private def followed(path: Path): Option[FileMeta] =
    Some(meta(fs.makeQualified(path), Files.readAttributes(nio(path), classOf[BasicFileAttributes])))

  private def attributes(file: LocalPath): BasicFileAttributes =
    Files.readAttributes(file, classOf[BasicFileAttributes], LinkOption.NOFOLLOW_LINKS)

  private def meta(path: Path, found: BasicFileAttributes): FileMeta =
    FileMeta(path, if (found.isDirectory) 0L else found.size, found.lastModifiedTime.toMillis, found.isDirectory)

  /** @throws java.io.IOException when nobody can say whether it is there */
  private def ifThere[A](path: => Path)(look: => Option[A]): Option[A] =
    try look
    catch {
      case _: NoSuchFileException                                          => None
      case e: FileSystemException if LocalStatuses.Impossible(e.getReason) => None
      case e: FileSystemException                                          =>
        throw new IOException(s"cannot look at $path: ${Option(e.getReason).getOrElse(e.toString)}", e)
    }

  private def nio(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}

private object LocalStatuses {

  /** Why there cannot be a file of this name: in words of POSIX, which the JDK hands on. */
  private val Impossible = Set("Not a directory", "File name too long")

  private val log = LoggerFactory.getLogger(classOf[LocalStatuses])
}
