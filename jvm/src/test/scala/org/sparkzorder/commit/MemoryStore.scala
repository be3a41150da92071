package org.sparkzorder.commit

import java.io.IOException

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/** An object in [[MemoryStore]]; data files hold ids of rows. */
final case class StoredObject(length: Long, time: Long, etag: String, rows: Set[Int], bytes: Array[Byte])

/** An object store with the rules of S3, in memory. */
final class MemoryStore {
  val objects: mutable.TreeMap[String, StoredObject] = mutable.TreeMap.empty

  /** After how many days a rule aborts uploads. */
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

  def start(key: String, rows: Set[Int], length: Long): String = {
    uploadCount += 1
    val id = s"u$uploadCount"
    uploads(id) = (key, rows, length)
    id
  }

  def complete(id: String): Boolean = uploads.remove(id) match {
    case Some((key, rows, length)) =>
      put(key, rows, length)
      true
    case None => false
  }

  def below(dir: String): Seq[String] =
    objects.rangeFrom(dir + "/").keysIterator.takeWhile(_.startsWith(dir + "/")).toSeq

  /** Paths of the data files that a plain reader sees. */
  def visible: Seq[String] = below("/t").filter(k => !k.contains("/_"))

  def rows(keys: Seq[String]): Seq[Int] = keys.flatMap(k => objects(k).rows).sorted
}

/**
 * One process's access to the store.
 *
 * @param at the request, counted from 1, at which `fault` happens
 * @param other what a second process does right before the request of that number
 */
class MemoryClient(
    val shared: MemoryStore,
    at: Int = 0,
    fault: StoreFault = StoreFault.DieBefore,
    other: PartialFunction[Int, Unit] = PartialFunction.empty
) extends ObjectStore {
  var calls = 0

  /** A request that is still on its way after its sender has died. */
  var onItsWay: Option[() => Unit] = None

  private var isDead = false

  private def request[A](effect: => A): A = {
    if (isDead) throw new Died
    calls += 1
    if (other.isDefinedAt(calls)) other(calls)
    def die(): Nothing = {
      isDead = true
      throw new Died
    }
    if (calls != at && !(fault == StoreFault.Away && at > 0 && calls > at)) effect
    else fault match {
      case StoreFault.DieBefore   => die()
      case StoreFault.DieAfter    => effect; die()
      case StoreFault.DieSending  => onItsWay = Some(() => { effect; () }); die()
      case StoreFault.ThrowBefore => throw new IOException(s"503 at request $calls")
      case StoreFault.ThrowAfter  => effect; throw new IOException(s"time-out at request $calls")
      case StoreFault.Refuses     => effect
      case StoreFault.Away        => throw new IOException(s"no network at request $calls")
    }
  }

  private def key(path: Path): String = path.toUri.getPath

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

  override def objectAt(path: Path): Option[FileMeta] = request(shared.objects.get(key(path)).map(meta(key(path), _)))

  override def isFolder(path: Path): Boolean = request(shared.below(key(path)).nonEmpty)

  override def get(path: Path, limit: Long): Option[StoredBytes] =
    request(shared.objects.get(key(path)).map(o => StoredBytes(o.bytes, o.etag)))

  /** Whether the store refuses this conditional write although its condition holds. */
  private def refuses: Boolean = calls == at && fault == StoreFault.Refuses

  override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] =
    request(if (refuses || shared.objects.contains(key(path))) None else Some(shared.put(key(path), bytes)))

  override def putIfMatch(path: Path, bytes: Array[Byte], etag: String): Option[String] =
    request(shared.objects.get(key(path)).filter(_.etag == etag && !refuses).map(_ => shared.put(key(path), bytes)))

  override def complete(path: Path, upload: OpenUpload): Boolean = request(shared.complete(upload.id))

  override def abort(path: Path, uploadId: String): Unit = request {
    shared.uploads.remove(uploadId)
    ()
  }

  override def openUploads(dir: Path): Seq[(Path, String)] =
    request(shared.uploads.toSeq.map { case (id, (k, _, _)) => new Path(s"mem:$k") -> id }.sortBy(_._2))

  override def copy(from: Path, etag: String, length: Long, to: Path): Boolean = request {
    val is = shared.objects.get(key(from)).exists(_.etag == etag)
    if (is) shared.copy(key(from), key(to))
    is
  }

  override def startCopy(from: Path, etag: String, length: Long, to: Path): Option[OpenUpload] = request {
    shared.objects.get(key(from)).filter(_.etag == etag)
      .map(o => OpenUpload(shared.start(key(to), o.rows, o.length), Seq("e1")))
  }

  override def delete(path: Path, etag: String): Removal = request(shared.objects.get(key(path)) match {
    case None                      => Removal.Gone
    case Some(o) if o.etag != etag => Removal.Changed
    case Some(_)                   =>
      shared.remove(Seq(key(path)))
      Removal.Removed
  })

  override def deleteAll(paths: Seq[Path]): Unit = request(shared.remove(paths.map(key)))

  /** A task writes a file and leaves its upload open. */
  def start(path: Path, rows: Set[Int], length: Long): OpenUpload =
    request(OpenUpload(shared.start(key(path), rows, length), Seq("e1")))
}

/** What goes wrong at one request. */
sealed trait StoreFault
object StoreFault {
  case object DieBefore extends StoreFault
  case object DieAfter extends StoreFault

  /** The process dies, and the request takes effect later. */
  case object DieSending extends StoreFault
  case object ThrowBefore extends StoreFault
  case object ThrowAfter extends StoreFault

  /** A conditional write is answered as if its condition did not hold, and has no effect. */
  case object Refuses extends StoreFault

  /** From this request on nothing can be reached. */
  case object Away extends StoreFault

  val all: Seq[StoreFault] = Seq(DieBefore, DieAfter, DieSending, ThrowBefore, ThrowAfter, Refuses, Away)
}
