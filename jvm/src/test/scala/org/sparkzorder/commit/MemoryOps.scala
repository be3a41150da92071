package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/** The process is gone: no handler of ours may catch this. */
final class Died extends Error("the process died")

/** What lies in [[MemoryFs]]. */
sealed trait Node
case object Dir extends Node
final case class File(length: Long, time: Long, rows: Set[Int], bytes: Array[Byte]) extends Node

/** A file system in memory, with the strict rename of HDFS. Data files hold ids of rows. */
final class MemoryFs {
  val nodes: mutable.TreeMap[String, Node] = mutable.TreeMap("/t" -> Dir)
  var clock = 100001L

  /** Told of every change. */
  var changed: () => Unit = () => ()

  /** What lies in another one. */
  def copyOf(other: MemoryFs): Unit = {
    nodes.clear()
    nodes ++= other.nodes
    clock = other.clock
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

  /** A data file written by anybody. */
  def put(path: String, rows: Set[Int], length: Long): Unit = {
    tick()
    mkdirs(parent(path))
    nodes(path) = File(length, clock, rows, Array.emptyByteArray)
  }

  def file(path: String): Option[File] = nodes.get(path).collect { case f: File => f }

  /** Paths of the data files that a reader without us sees. */
  def visible: Seq[String] = below("/t").filter { p =>
    nodes(p).isInstanceOf[File] && !p.substring(3).split('/').exists(part =>
      part.startsWith("_") || part.startsWith(".")
    )
  }

  def rows(paths: Seq[String]): Seq[Int] = paths.flatMap(p => file(p).get.rows).sorted

  def visibleRows: Seq[Int] = rows(visible)
}

/** What goes wrong at one call. */
sealed trait Fault
object Fault {
  case object DieBefore extends Fault
  case object DieAfter extends Fault
  case object ThrowBefore extends Fault
  case object ThrowAfter extends Fault
}

/**
 * One process' way to the file system.
 *
 * @param at the call, counted from 1, at which `fault` happens
 * @param other what a second actor does right before the call of that number
 */
final class MemoryOps(
    fs: MemoryFs,
    at: Int = 0,
    fault: Fault = Fault.DieBefore,
    other: PartialFunction[Int, Unit] = PartialFunction.empty
) extends FileOps {
  var calls = 0
  var trace: mutable.Buffer[String] = mutable.Buffer.empty
  private var dead = false

  private def call[A](what: => String, changes: Boolean = true)(effect: => A): A = {
    if (dead) throw new Died
    calls += 1
    trace += what
    other.applyOrElse(calls, (_: Int) => ())
    fs.tick()
    if (calls == at) fault match {
      case Fault.DieBefore   => dead = true; throw new Died
      case Fault.ThrowBefore => throw new IOException(s"call $at fails: $what")
      case _                 => ()
    }
    val result = effect
    if (changes) fs.changed()
    if (calls == at) fault match {
      case Fault.DieAfter   => dead = true; throw new Died
      case Fault.ThrowAfter => throw new IOException(s"call $at fails after it was done: $what")
      case _                => ()
    }
    result
  }

  private def key(path: Path): String = path.toUri.getPath

  private def meta(path: String): FileMeta = fs.nodes(path) match {
    case File(length, time, _, _) => FileMeta(new Path("mem:" + path), length, time, isDirectory = false)
    case _                        => FileMeta(new Path("mem:" + path), 0L, 0L, isDirectory = true)
  }

  override def list(dir: Path): Seq[FileMeta] = call(s"list $dir", changes = false)(fs.children(key(dir)).map(meta))

  override def status(path: Path): Option[FileMeta] =
    call(s"status $path", changes = false)(if (fs.nodes.contains(key(path))) Some(meta(key(path))) else None)

  override def rename(src: Path, dst: Path): Unit = call(s"rename $src $dst") {
    val (from, to) = (key(src), key(dst))
    if (fs.file(from).isEmpty) throw new FileNotFoundException(from)
    if (fs.nodes.contains(to)) throw new IOException(s"$to exists")
    if (!fs.nodes.get(fs.parent(to)).contains(Dir)) throw new FileNotFoundException(fs.parent(to))
    fs.nodes(to) = fs.nodes.remove(from).get
  }

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

  override def deleteRecursive(dir: Path): Unit = call(s"deleteRecursive $dir") {
    FileOps.requireBelowSideFolder(dir)
    fs.deleteAll(key(dir))
  }

  override def mkdirs(dir: Path): Unit = call(s"mkdirs $dir")(fs.mkdirs(key(dir)))

  override def writeNew(path: Path, bytes: Array[Byte]): Unit = call(s"writeNew $path") {
    if (fs.nodes.contains(key(path))) throw new IOException(s"$path exists")
    if (!fs.nodes.get(fs.parent(key(path))).contains(Dir)) throw new FileNotFoundException(fs.parent(key(path)))
    fs.nodes(key(path)) = File(bytes.length.toLong, fs.clock, Set.empty, bytes)
  }

  override def read(path: Path, limit: Long): Array[Byte] = call(s"read $path", changes = false) {
    val found = fs.file(key(path)).getOrElse(throw new FileNotFoundException(path.toString))
    if (found.length > limit) throw new IOException(s"$path is too long")
    found.bytes
  }

  override def touch(path: Path): Unit = call(s"touch $path") {
    val found = fs.file(key(path)).getOrElse(throw new FileNotFoundException(path.toString))
    fs.nodes(key(path)) = found.copy(time = fs.clock)
  }
}

/** Knows of every operation whether it lives. */
final class FakeLiveness(var hosts: Set[String] = Set("here")) extends Liveness {
  val running: mutable.Set[String] = mutable.Set.empty
  override val self: ProcessId = ProcessId("here", "boot", "ns", 1L, "start")
  override def verdict(owner: Owner): Verdict =
    if (!hosts.contains(owner.process.host)) Verdict.Unknown
    else if (running.contains(owner.operationId)) Verdict.Alive
    else Verdict.Gone
  override def register(operationId: String): Unit = running += operationId
  override def deregister(operationId: String): Unit = running -= operationId
}
