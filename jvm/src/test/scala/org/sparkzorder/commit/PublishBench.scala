package org.sparkzorder.commit

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.Comparator
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.locks.LockSupport

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.sun.management.OperatingSystemMXBean
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, FilterFileSystem, Path, RawLocalFileSystem}

import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.machine.FolderCommitter
import org.sparkzorder.commit.storage.HadoopFileOps

/**
 * Measures the exchange of an operation's files: the milliseconds from the commit point to the end,
 * and the calls to the file system in that time, by kind. Ten inputs become one output. Prints one
 * line of JSON.
 *
 * `PublishBench <empty folder> <inputs> <folders> <rounds> <microseconds>`: with 0 microseconds the
 * files are on a local disk, with Hadoop's checksum files beside the inputs. Otherwise each call to
 * Hadoop's `FileSystem` takes so much longer, as if a server answered it, and these calls are
 * counted as well.
 */
object PublishBench {
  private val InputsOfOutput = 10

  private val cpu = ManagementFactory.getOperatingSystemMXBean.asInstanceOf[OperatingSystemMXBean]

  def main(args: Array[String]): Unit = {
    val (at, inputs, folders, rounds, micros) =
      (Paths.get(args(0)), args(1).toInt, args(2).toInt, args(3).toInt, args(4).toLong)
    // The first rounds warm up the JVM.
    val runs = (-2 until rounds).map { n =>
      val dir = at.resolve(s"round-$n")
      try run(dir, inputs / folders, folders, micros)
      finally delete(dir)
    }.drop(2)
    def ofAll(what: Exchanged => Double): String = {
      val sorted = runs.map(what).sorted
      f"[${sorted.head}%.1f, ${sorted(rounds / 2)}%.1f, ${sorted.last}%.1f]"
    }
    val calls = runs.last.calls.toSeq.sortBy(_._1).map { case (kind, n) => f""""$kind": ${n.toDouble / inputs}%.3f""" }
    println(
      s"""RESULT {"inputs": $inputs, "folders": $folders, "micros": $micros, "millis": ${ofAll(_.millis)}, """ +
        s""""processor millis": ${ofAll(_.cpuMillis)}, "calls per input": {${calls.mkString(", ")}}}"""
    )
  }

  /** Counts calls while files are exchanged. */
  private final class Counter(micros: Long) {
    val kinds = new ConcurrentHashMap[String, LongAdder]
    @volatile var counts = false
    @volatile var began = 0L
    @volatile var ended = 0L
    @volatile var cpuBegan = 0L
    @volatile var cpuEnded = 0L

    def begin(): Unit = {
      cpuBegan = cpu.getProcessCpuTime
      began = System.nanoTime()
      counts = true
    }

    def end(): Unit = {
      counts = false
      ended = System.nanoTime()
      cpuEnded = cpu.getProcessCpuTime
    }

    def ops(kind: String): Unit = if (counts) kinds.computeIfAbsent(kind, _ => new LongAdder).increment()

    def server(kind: String): Unit = if (counts) {
      ops(s"server: $kind")
      LockSupport.parkNanos(micros * 1000L)
    }
  }

  /** A local file system that we do not take for one, because its class is another. */
  private final class Server(counter: Counter) extends FilterFileSystem(new RawLocalFileSystem) {
    override def rename(src: Path, dst: Path): Boolean = { counter.server("rename"); super.rename(src, dst) }
    override def getFileStatus(path: Path): FileStatus = { counter.server("status"); super.getFileStatus(path) }
    override def listStatus(path: Path): Array[FileStatus] = { counter.server("list"); super.listStatus(path) }
    override def delete(path: Path, recursive: Boolean): Boolean = {
      counter.server("delete")
      super.delete(path, recursive)
    }
  }

  private final class Counted(ops: FileOps, counter: Counter) extends FileOps {
    private def call[A](kind: String)(effect: => A): A = { counter.ops(kind); effect }

    override def list(dir: Path): Seq[FileMeta] = call("list")(ops.list(dir))
    override def status(path: Path): Option[FileMeta] = call("status")(ops.status(path))
    override def rename(src: Path, dst: Path): Unit =
      if (dst.getName.endsWith(".publishing")) {
        ops.rename(src, dst)
        counter.begin()
      } else {
        if (src.getName.endsWith(".publishing")) counter.end()
        call("rename")(ops.rename(src, dst))
      }
    override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit =
      call("copy")(ops.copy(from, temporary, to)(check))
    override def delete(path: Path): Unit = call("delete")(ops.delete(path))
    override def deleteEmpty(dir: Path): Boolean = call("deleteEmpty")(ops.deleteEmpty(dir))
    override def deleteRecursive(dir: Path): Unit = call("deleteRecursive")(ops.deleteRecursive(dir))
    override def mkdirs(dir: Path): Unit = ops.mkdirs(dir)
    override def writeNew(path: Path, bytes: Array[Byte]): Unit = call("writeNew")(ops.writeNew(path, bytes))
    override def read(path: Path, limit: Long): Array[Byte] = call("read")(ops.read(path, limit))
    override def touch(path: Path): Unit = call("touch")(ops.touch(path))
  }

  private final case class Exchanged(millis: Double, cpuMillis: Double, calls: Map[String, Long])

  private def run(dir: LocalPath, each: Int, folders: Int, micros: Long): Exchanged = {
    val counter = new Counter(micros)
    val fs =
      if (micros == 0) FileSystem.getLocal(new Configuration())
      else {
        val server = new Server(counter)
        server.initialize(dir.toUri, new Configuration())
        server
      }
    val ops = new HadoopFileOps(fs)
    val names = if (folders == 1) Seq("") else (1 to folders).map(p => s"p=$p/")
    val inputs = for (p <- names; i <- 1 to each) yield {
      val name = f"${p}part-$i%05d-1d2c3b4a-c000.snappy.parquet"
      put(dir.resolve(name), checksum = micros == 0)
      val meta = ops.status(new Path(dir.resolve(name).toUri)).get
      InputFile(name, meta.length, meta.modificationTime, 1L)
    }
    val folder = TableFolder(new Path(dir.toUri), new Counted(ops, counter))
    val lock = Locking.acquire(folder, "op-1")
    try {
      val committer = new FolderCommitter(folder, lock)
      committer.claim(names.map(_.stripSuffix("/")))
      val made = math.max(1, each / InputsOfOutput)
      val outputs = for (p <- names; i <- 1 to made) yield {
        val name = f"${p}part-$i%05d-5e6f7a8b-c000.snappy.parquet"
        val staged = folder.staged(name, "op-1")
        put(Paths.get(staged.toUri.getPath), checksum = false)
        val meta = ops.status(staged).get
        OutputFile(name, meta.length, meta.modificationTime, each.toLong / made)
      }
      val record = Record(0L, "op-1", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, inputs, outputs)
      committer.prepare(record)
      committer.commit()
    } finally lock.release()
    val calls = counter.kinds.asScala.map { case (kind, n) => kind -> n.sum }.toMap
    Exchanged((counter.ended - counter.began) / 1e6, (counter.cpuEnded - counter.cpuBegan) / 1e6, calls)
  }

  private def put(file: LocalPath, checksum: Boolean): Unit = {
    Files.createDirectories(file.getParent)
    Files.write(file, Array[Byte](1))
    if (checksum) Files.write(file.resolveSibling(s".${file.getFileName}.crc"), Array[Byte](1))
    ()
  }

  private def delete(dir: LocalPath): Unit =
    Using.resource(Files.walk(dir))(_.sorted(Comparator.reverseOrder[LocalPath]()).forEach(f => Files.delete(f)))
}
