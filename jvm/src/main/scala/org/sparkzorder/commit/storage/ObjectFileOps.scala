package org.sparkzorder.commit.storage

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.compat._

/**
 * [[FileOps]] over an object store, for the small files of the side folder: locks, records and
 * statistics. There are no folders to make. A rename writes the new object if there is none and
 * deletes the old one, so a crash may leave both. Files of data are never renamed here.
 */
private[sparkzorder] final class ObjectFileOps(val store: ObjectStore) extends FileOps {
  import ObjectFileOps._

  override def list(dir: Path): Seq[FileMeta] = store.list(dir)

  // A side folder is never an object. One request less for each folder above a table.
  override def status(path: Path): Option[FileMeta] =
    if (path.getName != SideNames.Side) store.status(path)
    else Option.when(store.isFolder(path))(FileMeta(path, 0, 0, isDirectory = true))

  override def isFolder(path: Path): Boolean = store.isFolder(path)

  override def rename(src: Path, dst: Path): Unit = {
    val found =
      store.get(src, MostRenamed).getOrElse(throw new FileNotFoundException(s"cannot rename $src: it is gone"))
    if (store.putIfAbsent(dst, found.bytes).isEmpty) throw new IOException(s"cannot rename $src: $dst exists")
    store.delete(src, found.etag)
    ()
  }

  override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit = {
    if (store.status(to).isDefined) throw new IOException(s"cannot copy ${from.path}: $to exists")
    check
    if (!from.etag.exists(store.copy(from.path, _, from.length, to)))
      throw new FileNotFoundException(s"cannot copy ${from.path}: it is gone, or was replaced")
  }

  override def delete(path: Path): Unit = store.deleteAll(Seq(path))

  override def keepsEmptyFolders: Boolean = false

  // A folder is there as long as there is an object below it.
  override def deleteEmpty(dir: Path): Boolean = store.list(dir).isEmpty

  override def deleteRecursive(dir: Path): Unit = {
    FileOps.requireBelowSideFolder(dir)
    val found = store.below(dir)
    if (found.nonEmpty) store.deleteAll(found)
  }

  override def mkdirs(dir: Path): Unit = ()

  override def mkdir(dir: Path): Unit = ()

  override def remakeInSide(dir: Path): Unit = ()

  override def writesAtOnce: Boolean = true

  override def writeNew(path: Path, bytes: Array[Byte]): Unit =
    // A client that got no answer sends a request again, and then finds what it has written.
    if (
      store.putIfAbsent(
        path,
        bytes
      ).isEmpty && !store.get(path, bytes.length.toLong + 1).exists(_.bytes.sameElements(bytes))
    )
      throw new IOException(s"$path exists")

  override def read(path: Path, limit: Long): Array[Byte] =
    store.get(path, limit).getOrElse(throw new FileNotFoundException(s"$path is gone")).bytes

  override def touch(path: Path): Unit = {
    val found = store.get(path, MostRenamed).getOrElse(throw new FileNotFoundException(s"$path is gone"))
    if (store.putIfMatch(path, found.bytes, found.etag).isEmpty) throw new FileNotFoundException(s"$path was replaced")
  }
}

private[sparkzorder] object ObjectFileOps {

  /** No file that is renamed or touched is longer: records, statistics and locks. */
  private val MostRenamed = 1L << 30

  /** Reads a file with at most so many bytes by one request, if the table is on an object store. */
  def reader(folder: TableFolder): Option[(Path, Long) => Array[Byte]] = storeOf(folder).map(_ => folder.ops.read _)

  /** The store below a table, if it is on one. */
  def storeOf(folder: TableFolder): Option[ObjectStore] = folder.ops match {
    case ops: ObjectFileOps => Some(ops.store)
    case _                  => None
  }
}
