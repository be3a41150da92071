package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.util.concurrent.ThreadLocalRandom

import scala.collection.{immutable, mutable}

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.lock.{Liveness, LockSettings, ProcessState}

/** The process died. None of our handlers may catch this. */
final class Died extends Error("the process died")

/** A file or folder in [[MemoryFs]]. */
sealed trait Node
case object Dir extends Node
final case class File(length: Long, time: Long, rows: Set[Int], bytes: Array[Byte]) extends Node

/** A file system in memory, with the strict rename of HDFS. Data files hold ids of rows. */
final class MemoryFs {
  val nodes: mutable.TreeMap[String, Node] = mutable.TreeMap("/t" -> Dir)
  var clock = 100001L

  /** Called after every change. */
  var changed: () => Unit = () => ()

  /** Whether it keeps earlier states, for listings that are late. */
  var remembers = false

  /** How many threads move files. Any may overtake another before a call. The calls themselves run one at a time. */
  var threads = 1

  /** The state before each call. */
  private val past = mutable.Buffer.empty[immutable.TreeMap[String, Node]]
  def remember(): Unit = if (remembers) past += immutable.TreeMap.from(nodes)

  /** The state so many calls ago. */
  def ago(calls: Int): immutable.TreeMap[String, Node] = past(math.max(0, past.size - 1 - calls))

  /** Takes over the state of another one. */
  def copyOf(other: MemoryFs): Unit = {
    nodes.clear()
    nodes ++= other.nodes
    clock = other.clock
    remembers = other.remembers
    threads = other.threads
    past ++= other.past
  }

  def tick(): Unit = { clock += 1; if (clock % 1000 == 0) clock += 1 }
  def below(dir: String): Seq[String] = nodes.rangeFrom(dir + "/").keysIterator.takeWhile(_.startsWith(dir + "/")).toSeq
  def children(dir: String): Seq[String] = below(dir).filter(_.indexOf('/', dir.length + 1) < 0)
  def parent(path: String): String = path.substring(0, path.lastIndexOf('/'))

  def mkdirs(path: String): Unit =
    if (path.nonEmpty && !nodes.contains(path)) {
      mkdirs(parent(path))
      nodes(path) = Dir
    }

  def deleteAll(dir: String): Unit = (dir +: below(dir)).foreach(nodes.remove)

  def move(from: String, to: String): Unit = (from +: below(from)).foreach { path =>
    nodes.remove(path).foreach(nodes(to + path.stripPrefix(from)) = _)
  }

  def copy(from: String, to: String, keepsTimes: Boolean): Unit = (from +: below(from)).foreach { path =>
    tick()
    nodes(to + path.stripPrefix(from)) = nodes(path) match {
      case f: File if !keepsTimes => f.copy(time = clock)
      case node                   => node
    }
  }

  /** Copies the data files of a folder with their times. */
  def copyFiles(from: String, to: String): Unit = {
    mkdirs(to)
    children(from).foreach(path => file(path).foreach(nodes(to + path.stripPrefix(from)) = _))
  }

  def removeEmpty(): Unit = {
    val empty = below("/t").filter(p => nodes.get(p).contains(Dir) && below(p).isEmpty)
    if (empty.nonEmpty) {
      empty.foreach(nodes.remove)
      removeEmpty()
    }
  }

  /** Writes a data file, as any other process might. */
  def put(path: String, rows: Set[Int], length: Long): Unit = {
    tick()
    mkdirs(parent(path))
    nodes(path) = File(length, clock, rows, Array.emptyByteArray)
  }

  def file(path: String): Option[File] = nodes.get(path).collect { case f: File => f }

  /** Paths of the data files that a plain reader sees. */
  def visible: Seq[String] =
    nodes.rangeFrom("/t/").iterator.takeWhile(_._1.startsWith("/t/")).collect {
      case (path, _: File) if !path.contains("/_") && !path.contains("/.") => path
    }.toSeq

  def rows(paths: Seq[String]): Seq[Int] = paths.flatMap(p => file(p).get.rows).sorted
  def visibleRows: Seq[Int] = rows(visible)
}

/** A table in memory, and calls to its file system by processes to which something happens. */
trait MemoryTable {
  def fs: MemoryFs
  val liveness: FakeLiveness = new FakeLiveness
  lazy val settings: LockSettings =
    LockSettings(beatMillis = 3600000L, liveness = liveness, sleep = (_: Long) => (), lookMillis = 0L)

  def ops: MemoryOps = new MemoryOps(fs)

  /** Something goes wrong at one call. */
  def faulty(at: Int, fault: Fault): MemoryOps = new MemoryOps(fs, at, fault)

  /** Somebody else acts right before call `k`, and something may go wrong at another one. */
  def beside(k: Int, at: Int = 0, fault: Fault = Fault.DieAfter)(act: => Any): MemoryOps =
    new MemoryOps(fs, at, fault, { case `k` => act; () })

  /** Runs a statement that may die, fail, or be refused. Returns the exception with which it ended. */
  def attempt(id: String)(statement: => Any): Option[Throwable] = ended(liveness.running -= id)(statement)

  protected def ended(died: => Any)(work: => Any): Option[Throwable] =
    try {
      work
      None
    } catch {
      case e: Died =>
        died
        Some(e)
      case e @ (_: IOException | _: CommitException | _: InterruptedException | _: MemoryCatalogTable.Refused) =>
        Some(e)
    }
}

/** What goes wrong at one call. */
sealed trait Fault
object Fault {
  case object DieBefore extends Fault
  case object DieAfter extends Fault
  case object ThrowBefore extends Fault
  case object ThrowAfter extends Fault

  /** Some of the bytes are written, some of the folders made, some of the files deleted. */
  case object DieHalf extends Fault
  case object ThrowHalf extends Fault

  /** The process dies, and the call takes effect later. */
  case object DieSending extends Fault

  /** A conditional write is answered as if its condition did not hold, and has no effect. */
  case object Refuses extends Fault

  /** From this call on the disk is full: written files are cut off, and no folder can be made. */
  case object DiskFull extends Fault

  /** From this call on nothing can be reached. */
  case object Away extends Fault

  /** What may go wrong at a request to a store. */
  val ofStores: Seq[Fault] = Seq(DieBefore, DieAfter, DieSending, ThrowBefore, ThrowAfter, Refuses, Away)
}

/**
 * One process's calls to a file system or a store.
 *
 * @param at the call, counted from 1, at which `fault` happens
 * @param other what a second actor does right before the call of that number
 */
abstract class Calls(at: Int, fault: Fault, other: PartialFunction[Int, Unit]) {
  var calls = 0
  val trace: mutable.Buffer[String] = mutable.Buffer.empty
  private var dead = false

  /** A call that is still on its way after the process has died. */
  var onItsWay: Option[() => Unit] = None
  protected def begins(): Unit = ()
  protected def happens(is: Fault): Boolean = calls == at && fault == is

  /** @param half what is done when the call is half done */
  protected def counted[A](what: String, half: => Any = ())(effect: => A): A = {
    if (dead) throw new Died
    calls += 1
    trace += what
    other.applyOrElse(calls, (_: Int) => ())
    begins()
    def die(): Nothing = {
      dead = true
      throw new Died
    }
    def fail(how: String): Nothing = throw new IOException(s"$how: $what")
    val isFull = calls >= at && (what.startsWith("writeNew") || what.startsWith("mkdirs"))
    fault match {
      case Fault.Away if at > 0 && calls >= at         => fail("all is away")
      case Fault.DiskFull if isFull                    => half; fail("No space left on device")
      case _ if calls != at                            => effect
      case Fault.DieBefore                             => die()
      case Fault.DieHalf                               => half; die()
      case Fault.DieAfter                              => effect; die()
      case Fault.DieSending                            => onItsWay = Some(() => { effect; () }); die()
      case Fault.ThrowBefore                           => fail(s"call $at fails")
      case Fault.ThrowHalf                             => half; fail(s"call $at fails half done")
      case Fault.ThrowAfter                            => effect; fail(s"call $at fails after it was done")
      case Fault.Refuses | Fault.DiskFull | Fault.Away => effect
    }
  }
}

/** In which way a listing is late. */
sealed trait Lateness
object Lateness {

  /** The folder as it was at an earlier moment. */
  case object Past extends Lateness

  /** The files that were there then and still are: new ones are missing. */
  case object Missing extends Lateness

  /** The files that were there then or are there now: deleted ones are shown. */
  case object Ghosts extends Lateness

  /** Some names as they were then, others as they are now. */
  final case class Torn(seed: Int) extends Lateness
}

/**
 * @param by the age of the listing in calls
 * @param at whether the call of this number is late
 */
final case class Late(kind: Lateness, by: Int, at: Int => Boolean = _ => true)

/** One process's access to the file system. Listings may be late. */
class MemoryOps(
    fs: MemoryFs,
    at: Int = 0,
    fault: Fault = Fault.DieBefore,
    other: PartialFunction[Int, Unit] = PartialFunction.empty,
    late: Option[Late] = None
) extends Calls(at, fault, other)
    with FileOps {
  override protected def begins(): Unit = {
    fs.tick()
    fs.remember()
  }

  private def call[A](what: String, changes: Boolean = true, half: => Any = ())(effect: => A): A = {
    def done[B](work: B): B = {
      if (changes) fs.changed()
      work
    }
    if (fs.threads > 1 && ThreadLocalRandom.current().nextInt(4) == 0) Thread.`yield`()
    synchronized(counted(what, done(half))(done(effect)))
  }

  private def key(path: Path): String = path.toUri.getPath
  private def meta(path: String): FileMeta = meta(path, fs.nodes(path))

  private def meta(path: String, node: Node): FileMeta = node match {
    case File(length, time, _, _) => FileMeta(MemoryOps.pathOf(path), length, time, isDirectory = false)
    case _                        => FileMeta(MemoryOps.pathOf(path), 0L, 0L, isDirectory = true)
  }

  private def file(path: Path): File = fs.file(key(path)).getOrElse(throw new FileNotFoundException(path.toString))

  private def requireFolderOf(path: Path): Unit = {
    val folder = fs.parent(key(path))
    if (!fs.nodes.get(folder).contains(Dir)) throw new FileNotFoundException(folder)
  }

  private def requireFree(path: Path): Unit = {
    if (fs.nodes.contains(key(path))) throw new IOException(s"$path exists")
    requireFolderOf(path)
  }

  override def list(dir: Path): Seq[FileMeta] = call(s"list $dir", changes = false) {
    val now = fs.children(key(dir)).map(meta)
    late.filter(_.at(calls)).fold(now) { how =>
      val prefix = key(dir) + "/"
      val before = fs.ago(how.by).rangeFrom(prefix).takeWhile(_._1.startsWith(prefix)).toSeq.collect {
        case (path, node) if path.indexOf('/', prefix.length) < 0 => meta(path, node)
      }
      how.kind match {
        case Lateness.Past    => before
        case Lateness.Missing => now.filter(m => before.exists(_.path == m.path))
        case Lateness.Ghosts  => now ++ before.filterNot(m => now.exists(_.path == m.path))
        case Lateness.Torn(s) =>
          def isLate(m: FileMeta) = (m.name.hashCode + s + calls) % 2 == 0
          before.filter(isLate) ++ now.filterNot(isLate)
      }
    }
  }

  override def status(path: Path): Option[FileMeta] =
    call(s"status $path", changes = false)(fs.nodes.get(key(path)).map(meta(key(path), _)))

  override def rename(src: Path, dst: Path): Unit = call(s"rename $src $dst") {
    val moved = file(src)
    requireFree(dst)
    fs.nodes.remove(key(src))
    fs.nodes(key(dst)) = moved
  }

  override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit = call(s"copy ${from.path} $to") {
    val found = file(from.path)
    if (found.length != from.length || found.time != from.modificationTime) throw new IOException(s"$from was changed")
    check
    requireFree(to)
    fs.nodes(key(to)) = found.copy(time = fs.clock)
  }

  /** A call to something else than the file system, which goes wrong as calls to that do. */
  def elsewhere[A](what: String, changes: Boolean)(effect: => A): A = call(what, changes)(effect)

  override def delete(path: Path): Unit = call(s"delete $path") {
    if (fs.nodes.get(key(path)).contains(Dir)) throw new IOException(s"not a file: $path")
    fs.nodes.remove(key(path))
    ()
  }

  override def deleteEmpty(dir: Path): Boolean = call(s"deleteEmpty $dir") {
    val empty = fs.nodes.get(key(dir)).contains(Dir) && fs.children(key(dir)).isEmpty
    if (empty) fs.nodes.remove(key(dir))
    empty
  }

  /** As a local file system, file after file, so that it may stop at any of them and leave empty folders. */
  override def deleteRecursive(dir: Path): Unit = synchronized {
    FileOps.requireBelowSideFolder(dir)
    fs.below(key(dir)).reverse.foreach(p => call(s"deleteRecursive $dir, at $p")(fs.nodes.remove(p)))
    call(s"deleteRecursive $dir")(fs.deleteAll(key(dir)))
  }

  override def mkdirs(dir: Path): Unit =
    call(s"mkdirs $dir", half = fs.mkdirs(fs.parent(key(dir))))(fs.mkdirs(key(dir)))

  override def mkdir(dir: Path): Unit = call(s"mkdirs $dir") {
    requireFolderOf(dir)
    fs.mkdirs(key(dir))
  }

  override def writeNew(path: Path, bytes: Array[Byte]): Unit =
    call(s"writeNew $path", half = write(path, bytes.take(bytes.length / 2)))(write(path, bytes))

  private def write(path: Path, bytes: Array[Byte]): Unit = {
    requireFree(path)
    fs.nodes(key(path)) = File(bytes.length.toLong, fs.clock, Set.empty, bytes)
  }

  override def read(path: Path, limit: Long): Array[Byte] = call(s"read $path", changes = false) {
    val found = file(path)
    if (found.length > limit) throw new IOException(s"$path is too long")
    found.bytes
  }

  override def touch(path: Path): Unit = call(s"touch $path")(fs.nodes(key(path)) = file(path).copy(time = fs.clock))
}

private object MemoryOps {
  // Paths are kept because Hadoop is slow to make them.
  private val paths = mutable.HashMap.empty[String, Path]

  private def pathOf(path: String): Path =
    if (paths.size > 10000) new Path("mem:" + path) else paths.getOrElseUpdate(path, new Path("mem:" + path))
}

/** Knows for every operation whether it runs. */
final class FakeLiveness(var hosts: Set[String] = Set("here")) extends Liveness {
  val running: mutable.Set[String] = mutable.Set.empty
  override val self: ProcessId = ProcessId("here", "boot", "ns", 1L, "start")
  override def processState(owner: Owner): ProcessState =
    if (!hosts.contains(owner.process.host)) ProcessState.Unknown
    else if (running.contains(owner.operationId)) ProcessState.Alive
    else ProcessState.Gone
  override def register(operationId: String): Unit = running += operationId
  override def deregister(operationId: String): Unit = running -= operationId
}

/** Dies before a call, and makes none after it. */
final class Dying(ops: FileOps, at: Int) extends FileOps {
  private var calls = 0

  private def call[A](effect: => A): A = {
    calls += 1
    if (calls >= at) throw new Died
    effect
  }

  override def list(dir: Path): Seq[FileMeta] = call(ops.list(dir))
  override def status(path: Path): Option[FileMeta] = call(ops.status(path))
  override def rename(src: Path, dst: Path): Unit = call(ops.rename(src, dst))
  override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit =
    call(ops.copy(from, temporary, to)(check))
  override def delete(path: Path): Unit = call(ops.delete(path))
  override def deleteEmpty(dir: Path): Boolean = call(ops.deleteEmpty(dir))
  override def deleteRecursive(dir: Path): Unit = call(ops.deleteRecursive(dir))
  override def mkdirs(dir: Path): Unit = call(ops.mkdirs(dir))
  override def writeNew(path: Path, bytes: Array[Byte]): Unit = call(ops.writeNew(path, bytes))
  override def read(path: Path, limit: Long): Array[Byte] = call(ops.read(path, limit))
  override def touch(path: Path): Unit = call(ops.touch(path))
}
