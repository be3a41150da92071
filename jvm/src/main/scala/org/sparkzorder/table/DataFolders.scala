package org.sparkzorder.table

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.nio.file.attribute.BasicFileAttributes

import scala.collection.mutable

import org.apache.hadoop.fs.{FileSystem, Path}

import org.sparkzorder.commit.WorkerThreads
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.compat._

/**
 * Two data folders of one table that contain the same files.
 *
 * @param real the folder that both names lead to; None when `other` is below `one`
 */
final case class SharedFolder(one: DataFolder, other: DataFolder, real: Option[String])

/** Finds two data folders of a table that are the same folder, or of which one contains the other. */
object DataFolders {

  private val Threads = 16

  /**
   * The real place of a folder.
   *
   * @param key the same for all names of a folder
   * @param above keys of the folders above it
   */
  private final case class RealFolder(key: AnyRef, real: String, above: Seq[AnyRef])

  /**
   * The first two such folders, in the order of the folders. Each folder is looked up once.
   *
   * @param fileSystem of a folder: partitions may be on several
   */
  def shared(fileSystem: Path => FileSystem, folders: Seq[DataFolder]): Option[SharedFolder] =
    if (folders.size < 2) None
    else {
      val places = placesOf(fileSystem, folders.map(_.path)).zip(folders)
      val byKey = mutable.HashMap.empty[AnyRef, DataFolder]
      val equal = places.iterator.flatMap { case (place, folder) =>
        byKey.put(place.key, folder).map(SharedFolder(_, folder, Some(place.real)))
      }.nextOption()
      equal.orElse(places.iterator.flatMap { case (place, folder) =>
        place.above.iterator.flatMap(byKey.get).map(SharedFolder(_, folder, None)).nextOption()
      }.nextOption())
    }

  private def placesOf(fileSystem: Path => FileSystem, paths: Seq[Path]): Seq[RealFolder] = {
    val local = new RealFolders
    val real = if (paths.forall(isLocal)) paths else resolved(paths.map(p => p -> fileSystem(p)))
    real.map(p => if (isLocal(p)) local.of(p) else RealFolder(p, p.toString, above(p)))
  }

  private def isLocal(path: Path): Boolean = path.toUri.getScheme == "file"

  private def above(path: Path): Seq[Path] = Iterator.iterate(path.getParent)(_.getParent).takeWhile(_ != null).toVector

  /**
   * The paths after following links and mount points, which is up to the file system: one call for
   * each folder, several at a time.
   */
  private def resolved(paths: Seq[(Path, FileSystem)]): Seq[Path] = {
    def resolve(path: Path, fs: FileSystem): Path =
      // A store has no links.
      try if (isLocal(path) || ObjectStores.storeOf(fs).isDefined) path else fs.resolvePath(path)
      // The folder's files are gone as well; reading them will report that.
      catch { case _: FileNotFoundException => path }
    WorkerThreads.map(paths, Threads) { case (p, fs) => resolve(p, fs) }
  }

  /**
   * Identifies folders by device and inode, which do not depend on the spelling: a file system may ignore case, and a
   * folder may be mounted twice. Without such numbers the real path identifies the folder.
   */
  private final class RealFolders {
    private val keys = mutable.HashMap.empty[LocalPath, AnyRef]

    def of(path: Path): RealFolder = {
      val named = Paths.get(path.toUri.getPath)
      val real =
        try named.toRealPath()
        catch { case _: IOException => named }
      val above = Iterator.iterate(real.getParent)(_.getParent).takeWhile(_ != null).map(keyOf).toVector
      RealFolder(keyOf(real), real.toString, above)
    }

    private def keyOf(folder: LocalPath): AnyRef = keys.getOrElseUpdate(
      folder,
      try Option(Files.readAttributes(folder, classOf[BasicFileAttributes]).fileKey).getOrElse(folder)
      catch { case _: IOException => folder }
    )
  }
}
