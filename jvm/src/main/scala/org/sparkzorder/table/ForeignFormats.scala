package org.sparkzorder.table

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.sparkzorder.commit.ObjectStore
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.compat._

/**
 * Recognizes folders of table formats that list their files in a log. We must not rewrite such
 * folders: readers of the log would not find the new files.
 */
object ForeignFormats {

  /**
   * @param format the format's name
   * @param marker the file or folder that identifies it
   */
  final case class Marker(format: String, marker: String, folder: Path)

  private val markers = Seq(
    "_delta_log" -> "Delta Lake",
    ".hoodie" -> "Apache Hudi",
    "_spark_metadata" -> "a streaming sink of Spark"
  )

  /**
   * The first marker in the folder, or in a folder above it of which it is a partition. Iceberg has its files in a folder
   * `data` beside its `metadata`.
   */
  def markerIn(fs: FileSystem, folder: Path): Option[Marker] = {
    val tables = withTablesAbove(folder)
    (tables.iterator ++ tables.lastOption.filter(_.getName == "data").flatMap(d => Option(d.getParent)).iterator)
      .flatMap(inOne(fs, _)).nextOption()
  }

  /** The folder, then each folder above it as long as the lower one has a name like a partition, `column=value`. */
  def withTablesAbove(folder: Path): Seq[Path] =
    Iterator
      .iterate(Option(folder))(_.flatMap(f => if (isPartition(f)) Option(f.getParent) else None))
      .takeWhile(_.isDefined)
      .flatten
      .toVector

  def isPartition(folder: Path): Boolean = folder.getName.indexOf('=') > 0

  private def inOne(fs: FileSystem, folder: Path): Option[Marker] = {
    val names = PathKinds.namesIfShort(fs, folder)
    def mayHave(name: String) = names.forall(_(name))
    markers.collectFirst {
      case (name, format) if mayHave(name) && PathKinds.exists(fs, new Path(folder, name)) =>
        Marker(format, name, folder)
    }.orElse {
      val metadata = new Path(folder, "metadata")
      val isIceberg = mayHave("metadata") && PathKinds.isFolder(fs, metadata) &&
        fs.listStatus(metadata).exists { s =>
          val n = s.getPath.getName
          n.endsWith(".metadata.json") || n == "version-hint.text" || n.endsWith(".avro")
        }
      val isPaimon = Seq("snapshot", "manifest", "schema").forall { name =>
        mayHave(name) && PathKinds.isFolder(fs, new Path(folder, name))
      }
      if (isIceberg) Some(Marker("Apache Iceberg", "metadata", folder))
      else if (isPaimon) Some(Marker("Apache Paimon", "snapshot", folder))
      else None
    }
  }
}

/**
 * Whether a path is a file or a folder, links followed. On an object store this takes one request,
 * where Hadoop's file system asks for both kinds.
 */
private[table] object PathKinds {

  def isFolder(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.isFolder(path), _.isDirectory)

  /** Whether there is a file or a folder at the path. A folder is enough on an object store: no format has a log in one object. */
  def exists(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.isFolder(path), _ => true)

  def isFile(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.objectAt(path).isDefined, _.isFile)

  /** The names of what is in a folder, if one request to an object store tells all. */
  def namesIfShort(fs: FileSystem, folder: Path): Option[Set[String]] =
    ObjectStores.storeOf(fs).flatMap(_.listIfShort(folder)).map(_.map(_.name).toSet)

  /** The paths of all files below a folder, hidden ones as well, if it is on an object store. */
  def filesBelow(fs: FileSystem, folder: Path): Option[Set[String]] =
    ObjectStores.storeOf(fs).map(_.below(folder).map(_.toUri.getPath).toSet)

  private def ask(fs: FileSystem, path: Path)(ofStore: ObjectStore => Boolean, of: FileStatus => Boolean): Boolean =
    ObjectStores.storeOf(fs) match {
      case Some(store) => ofStore(store)
      case None        =>
        try of(fs.getFileStatus(path))
        catch { case _: FileNotFoundException => false }
    }
}
