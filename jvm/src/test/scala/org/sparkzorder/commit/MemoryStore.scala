package org.sparkzorder.commit

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/** An object in [[MemoryStore]]; data files hold ids of rows. */
final case class StoredObject(length: Long, time: Long, etag: String, rows: Set[Int], bytes: Array[Byte])

/** An object store with the rules of S3, in memory. */
final class MemoryStore {
  val objects: mutable.TreeMap[String, StoredObject] = mutable.TreeMap.empty

  /** Open uploads by their ids: the key, the rows and the length of what they will be. */
  val uploads: mutable.Map[String, (String, Set[Int], Long)] = mutable.Map.empty
  private var clock = 1000L
  private var uploadCount = 0

  /** Called after every change. */
  var changed: () => Unit = () => ()

  def put(key: String, rows: Set[Int], length: Long): Unit =
    set(key, StoredObject(length, 0, s"${rows.toSeq.sorted.mkString(",")}-$length", rows, Array.emptyByteArray))

  def put(key: String, bytes: Array[Byte]): String = {
    val etag = s"${java.util.Arrays.hashCode(bytes)}-${bytes.length}"
    set(key, StoredObject(bytes.length.toLong, 0, etag, Set.empty, bytes))
    etag
  }

  private def set(key: String, o: StoredObject): Unit = {
    clock += 1
    // Whole seconds, as S3 has them.
    objects(key) = o.copy(time = clock / 10 * 1000)
    changed()
  }

  def copy(from: String, to: String): Unit = set(to, objects(from))

  def remove(keys: Seq[String]): Unit = {
    val before = objects.size
    keys.foreach(objects.remove)
    if (objects.size < before) changed()
  }

  def start(key: String, rows: Set[Int], length: Long): OpenUpload = {
    uploadCount += 1
    uploads(s"u$uploadCount") = (key, rows, length)
    OpenUpload(s"u$uploadCount", Seq("e1"))
  }

  def complete(id: String): Boolean =
    uploads.remove(id).map { case (key, rows, length) => put(key, rows, length) }.isDefined

  def below(dir: String): Seq[String] =
    objects.rangeFrom(dir + "/").keysIterator.takeWhile(_.startsWith(dir + "/")).toSeq

  /** Paths of the data files that a plain reader sees. */
  def visible: Seq[String] = below("/t").filter(k => !k.contains("/_"))
  def rows(keys: Seq[String]): Seq[Int] = keys.flatMap(k => objects(k).rows).sorted
}

/** One process's access to the store. */
class MemoryClient(
    val shared: MemoryStore,
    at: Int = 0,
    fault: Fault = Fault.DieBefore,
    other: PartialFunction[Int, Unit] = PartialFunction.empty
) extends Calls(at, fault, other)
    with ObjectStore {

  private def request[A](effect: => A): A = counted("request")(effect)
  private def key(path: Path): String = path.toUri.getPath
  private def objectOf(path: Path): Option[StoredObject] = shared.objects.get(key(path))
  private def objectOf(path: Path, etag: String): Option[StoredObject] = objectOf(path).filter(_.etag == etag)

  private def meta(k: String, o: StoredObject): FileMeta =
    FileMeta(new Path(s"mem:$k"), o.length, o.time, isDirectory = false, Some(o.etag))

  override def list(dir: Path): Seq[FileMeta] = request {
    val prefix = key(dir) + "/"
    val (deep, here) = shared.below(key(dir)).partition(_.indexOf('/', prefix.length) >= 0)
    val folders = deep.map(k => k.substring(0, k.indexOf('/', prefix.length))).distinct
    here.map(k => meta(k, shared.objects(k))) ++
      folders.map(f => FileMeta(new Path(s"mem:$f"), 0, 0, isDirectory = true))
  }

  override def below(dir: Path): Seq[Path] = request(shared.below(key(dir)).map(k => new Path(s"mem:$k")))
  override def objectAt(path: Path): Option[FileMeta] = request(objectOf(path).map(meta(key(path), _)))
  override def isFolder(path: Path): Boolean = request(shared.below(key(path)).nonEmpty)

  override def get(path: Path, limit: Long): Option[StoredBytes] =
    request(objectOf(path).map(o => StoredBytes(o.bytes, o.etag)))

  override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] =
    request(if (happens(Fault.Refuses) || objectOf(path).isDefined) None else Some(shared.put(key(path), bytes)))

  override def putIfMatch(path: Path, bytes: Array[Byte], etag: String): Option[String] =
    request(objectOf(path, etag).filter(_ => !happens(Fault.Refuses)).map(_ => shared.put(key(path), bytes)))

  override def complete(path: Path, upload: OpenUpload): Boolean = request(shared.complete(upload.id))

  override def abort(path: Path, uploadId: String): Unit = request {
    shared.uploads.remove(uploadId)
    ()
  }

  override def openUploads(dir: Path): Seq[(Path, String)] =
    request(shared.uploads.toSeq.map { case (id, (k, _, _)) => new Path(s"mem:$k") -> id }.sortBy(_._2))

  override def copy(from: Path, etag: String, length: Long, to: Path): Boolean =
    request(objectOf(from, etag).map(_ => shared.copy(key(from), key(to))).isDefined)

  override def startCopy(from: Path, etag: String, length: Long, to: Path): Option[OpenUpload] =
    request(objectOf(from, etag).map(o => shared.start(key(to), o.rows, o.length)))

  override def delete(path: Path, etag: String): Removal = request {
    if (objectOf(path).isEmpty) Removal.Gone
    else if (objectOf(path, etag).isEmpty) Removal.Changed
    else {
      shared.remove(Seq(key(path)))
      Removal.Removed
    }
  }

  override def deleteAll(paths: Seq[Path]): Unit = request(shared.remove(paths.map(key)))

  /** A task writes a file and leaves its upload open. */
  def start(path: Path, rows: Set[Int], length: Long): OpenUpload = request(shared.start(key(path), rows, length))
}
