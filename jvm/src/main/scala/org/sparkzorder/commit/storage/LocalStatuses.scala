package org.sparkzorder.commit.storage

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{
  DirectoryIteratorException,
  FileSystemException,
  Files,
  LinkOption,
  NoSuchFileException,
  NotDirectoryException,
  Path => LocalPath
}
import java.nio.file.attribute.BasicFileAttributes

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{FileMeta, FileNames}

/**
 * Files and folders on a local disk, by one system call for each. Hadoop makes several calls. It
 * also says that a file does not exist whenever it cannot look at it, for example if the disk fails
 * or we may not enter the folder. But we decide what becomes of rows by 'it does not exist'.
 */
private[commit] final class LocalStatuses(fs: FileSystem, links: LocalLinks) {
  import LocalPaths.nio

  private val hidesChecksums = fs.isInstanceOf[LocalFileSystem]

  /** A symbolic link is shown as [[LocalLinks]] says. */
  def status(path: Path): Option[FileMeta] = ifThere(path) {
    val found = attributes(nio(path))
    if (found.isSymbolicLink) links.at(path).orElse(followed(path))
    else Some(meta(fs.makeQualified(path), found))
  }

  /**
   * The files and folders in one. Links in side folders are ignored, except in the trash, where they are data files.
   */
  def list(dir: Path): Seq[FileMeta] = {
    val (isTrash, isInSide) = (links.isTrash(dir), links.isInSide(dir))
    val parent = fs.makeQualified(dir)
    def entry(file: LocalPath): Option[FileMeta] =
      try {
        val (path, found) = (FileNames.child(parent, file.getFileName.toString), attributes(file))
        if (!found.isSymbolicLink) Some(meta(path, found))
        else if (isTrash) links.at(path)
        else if (isInSide) {
          LocalStatuses.log.warn(s"$path is a symbolic link and is ignored")
          None
        } else if (Files.exists(file)) links.at(path).orElse(followed(path))
        else None
      } catch { case _: NoSuchFileException => None } // deleted since it was listed
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

  /** @throws java.io.IOException when the file system does not say whether it is there */
  private def ifThere[A](path: => Path)(look: => Option[A]): Option[A] =
    try look
    catch {
      case _: NoSuchFileException                                          => None
      case e: FileSystemException if LocalStatuses.Impossible(e.getReason) => None
      case e: FileSystemException                                          =>
        throw new IOException(s"cannot look at $path: ${Option(e.getReason).getOrElse(e.toString)}", e)
    }
}

private[commit] object LocalStatuses {

  /** Reasons, in the words of POSIX, for which there cannot be a file of this name. */
  private val Impossible = Set("Not a directory", "File name too long")

  def notFound(message: String, cause: Throwable): FileNotFoundException = {
    val exception = new FileNotFoundException(message)
    exception.initCause(cause)
    exception
  }

  private val log = LoggerFactory.getLogger(classOf[LocalStatuses])
}
