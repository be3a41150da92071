package org.sparkzorder.commit.storage

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

import org.sparkzorder.commit.{FileMeta, FileNames, SideNames}

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
