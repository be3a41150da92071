package org.sparkzorder.commit.storage

import java.io.{FileNotFoundException, IOException}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.fs.{FileSystem, Path}
import org.slf4j.LoggerFactory

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

  override def writeNew(path: Path, bytes: Array[Byte]): Unit = {
    // A client that got no answer sends a request again, and then finds what it has written.
    def isWritten = store.get(path, bytes.length.toLong + 1).exists(_.bytes.sameElements(bytes))
    if (store.putIfAbsent(path, bytes).isEmpty && !isWritten) throw new IOException(s"$path exists")
  }

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

  def storeOf(folder: TableFolder): Option[ObjectStore] = folder.ops match {
    case ops: ObjectFileOps => Some(ops.store)
    case _                  => None
  }
}

object ObjectStores {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /** Only a file system of this class, or of one below it, is asked for its client. */
  private val S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"

  private val known = new ConcurrentHashMap[FileSystem, Option[ObjectStore]]

  /**
   * The calls to a file system, without renames if it is an object store that we can commit to. What
   * links to the store's client is loaded only then.
   */
  def ops(fs: FileSystem): FileOps = storeOf(fs).fold[FileOps](onDisk(fs))(new ObjectFileOps(_))

  private def onDisk(fs: FileSystem): HadoopFileOps =
    ofTest.fold(new HadoopFileOps(fs))(_.getConstructor(classOf[FileSystem]).newInstance(fs))

  /** Only a test names a class. It stops the process at a call. */
  private val ofTest =
    Option(System.getProperty("spark.zorder.test.fileOps")).map(Class.forName(_).asSubclass(classOf[HadoopFileOps]))

  /** The store behind a file system; None if it is none that we can commit to. */
  def storeOf(fs: FileSystem): Option[ObjectStore] =
    if (!isS3A(fs.getClass)) None else known.computeIfAbsent(fs, found(_))

  private def isS3A(of: Class[_]): Boolean = of != null && (of.getName == S3A || isS3A(of.getSuperclass))

  private def found(fs: FileSystem): Option[ObjectStore] =
    try {
      val maker = Class.forName("org.sparkzorder.s3.S3Objects", true, getClass.getClassLoader)
      maker.getMethod("of", classOf[FileSystem]).invoke(null, fs).asInstanceOf[Option[ObjectStore]]
    } catch {
      // A version of hadoop-aws without what we call. Reading and skipping still work.
      case e @ (_: ReflectiveOperationException | _: LinkageError) =>
        log.warn(s"${fs.getUri} is used as a file system, since its client cannot be used", e)
        None
    }
}

/**
 * Asks an object store whether it keeps the conditions of requests. Some that speak S3's language
 * take a conditional write and ignore the condition.
 */
object StoreProbe {
  private val able = TrieMap.empty[ObjectStore, Unit]

  /**
   * What the store does not do, in words for an error; None if it does all that a commit needs. Then it
   * is not asked again.
   */
  def lacks(folder: TableFolder): Option[String] = ObjectFileOps.storeOf(folder).filterNot(able.contains).flatMap {
    store =>
      val found = store.lacks.orElse(lacks(store, folder))
      if (found.isEmpty) able.put(store, ())
      found
  }

  private[commit] def lacks(store: ObjectStore, folder: TableFolder): Option[String] = {
    val (path, one, two) = (folder.newProbe(), Array[Byte](1), Array[Byte](2))
    try {
      // A client that got no answer sends a request again, and then finds what it has written.
      def written(bytes: Array[Byte]) = store.get(path, limit = 1).filter(_.bytes.sameElements(bytes)).map(_.etag)
      val first = store.putIfAbsent(path, one).orElse(written(one)).getOrElse(throw new IOException(s"$path exists"))
      if (store.list(folder.side).find(_.name == path.getName).forall(m => !m.etag.contains(first)))
        Some("show etags in listings")
      else if (store.putIfAbsent(path, two).isDefined) Some("keep the condition 'If-None-Match' of a write")
      else store.putIfMatch(path, two, first).orElse(written(two)) match {
        case None                                                    => Some("do a write with 'If-Match'")
        case Some(_) if store.putIfMatch(path, one, first).isDefined => Some("keep the condition 'If-Match' of a write")
        case Some(_) if store.delete(path, first) != Removal.Changed =>
          Some("keep the condition 'If-Match' of a delete")
        case Some(_) => None
      }
    } finally store.deleteAll(Seq(path))
  }
}
