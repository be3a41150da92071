package org.sparkzorder.commit

import java.nio.file.{Files, Path => LocalPath, StandardOpenOption}
import java.util.Comparator
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.machine.FolderCommitter
import org.sparkzorder.commit.storage.HadoopFileOps

/** The exchange of files on a local disk, in several folders side by side. */
class PublishingSuite extends AnyFunSuite {
  import PublishingSuite._

  private def withTable(folders: Int, files: Int)(test: (LocalPath, Seq[InputFile]) => Unit): Unit = {
    val dir = Files.createTempDirectory("publishing")
    try test(dir, write(dir, folders, files))
    finally delete(dir)
  }

  test("an interrupt after the commit point waits until all is published, and is reported afterwards") {
    withTable(20, 3) { (dir, inputs) =>
      val caller = Thread.currentThread()
      val interrupted = new AtomicBoolean
      val moves = new Moves(inputs.size.toLong, () => if (interrupted.compareAndSet(false, true)) caller.interrupt())
      optimize(dir, inputs, moves)
      assert(interrupted.get && Thread.interrupted())
      val folder = TableFolder(new Path(dir.toUri), ops)
      assert(History.read(folder).size == 1 && !Files.list(dir.resolve("_zorder")).iterator.asScala.exists { f =>
        f.toString.contains("lock-") || f.toString.endsWith(".publishing")
      })
      assert(data(dir).size == 20 && data(dir).forall(_.getFileName.toString.startsWith("new-")))
    }
  }

  test("an interrupt before the commit point ends the operation, which leaves nothing") {
    withTable(3, 3) { (dir, inputs) =>
      val before = data(dir)
      val caller = Thread.currentThread()
      val moves = new Moves(inputs.size.toLong, () => ())
      // Gives the caller time to tell.
      moves.beforeCommit = () => { caller.interrupt(); Thread.sleep(300) }
      assertThrows[InterruptedException](optimize(dir, inputs, moves))
      assert(data(dir) == before && !Files.exists(dir.resolve("p=1/_zorder/staging")))
    }
  }

  test("no row is invisible at any moment, however many folders there are", InRest) {
    withTable(100, 10) { (dir, inputs) =>
      val moves = new Moves(inputs.size.toLong, () => ())
      optimize(dir, inputs, moves)
      assert(moves.fewest.get == 1000)
      assert(data(dir).size == 100)
    }
  }
}

/**
 * `runMain org.sparkzorder.commit.PublishingSuite 300 10` measures the exchange of 300 folders with
 * 10 files each.
 */
object PublishingSuite {
  private val fs = FileSystem.getLocal(new Configuration())
  private val ops = new HadoopFileOps(fs)

  /**
   * Counts the rows that are visible while files move. An input has one row, an output all rows of
   * its folder.
   */
  private final class Moves(rows: Long, onFirst: () => Unit) {
    val visible = new AtomicLong(rows)
    val fewest = new AtomicLong(rows)

    /** Runs once, right before the commit point. */
    @volatile var beforeCommit: () => Unit = () => ()

    def moved(from: Path, to: Path, rowsOfOutput: Long): Unit = {
      if (to.getName.endsWith(".retired")) {
        val now = visible.decrementAndGet()
        fewest.getAndUpdate(math.min(_, now))
        onFirst()
      }
      if (from.getName.endsWith(".staged") && to.getName.endsWith(".parquet")) visible.addAndGet(rowsOfOutput)
      ()
    }
  }

  private final class Watched(moves: Moves, rowsOfOutput: Long) extends FileOps {
    override def list(dir: Path): Seq[FileMeta] = ops.list(dir)
    override def status(path: Path): Option[FileMeta] = {
      // The markers are looked at.
      if (path.getName.startsWith("_exchange-")) {
        moves.beforeCommit()
        moves.beforeCommit = () => ()
      }
      ops.status(path)
    }
    override def rename(src: Path, dst: Path): Unit = { ops.rename(src, dst); moves.moved(src, dst, rowsOfOutput) }
    override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit =
      ops.copy(from, temporary, to)(check)
    override def delete(path: Path): Unit = ops.delete(path)
    override def deleteEmpty(dir: Path): Boolean = ops.deleteEmpty(dir)
    override def deleteRecursive(dir: Path): Unit = ops.deleteRecursive(dir)
    override def mkdirs(dir: Path): Unit = ops.mkdirs(dir)
    override def writeNew(path: Path, bytes: Array[Byte]): Unit = ops.writeNew(path, bytes)
    override def read(path: Path, limit: Long): Array[Byte] = ops.read(path, limit)
    override def touch(path: Path): Unit = ops.touch(path)
  }

  private def write(dir: LocalPath, folders: Int, files: Int): Seq[InputFile] =
    for (p <- 1 to folders; i <- 1 to files) yield {
      val name = s"p=$p/part-$i.parquet"
      put(dir.resolve(name))
      val meta = ops.status(new Path(dir.resolve(name).toUri)).get
      InputFile(name, meta.length, meta.modificationTime, 1L)
    }

  private def put(file: LocalPath): Unit = {
    Files.createDirectories(file.getParent)
    Files.write(file, Array[Byte](1), StandardOpenOption.CREATE_NEW)
    ()
  }

  private def optimize(dir: LocalPath, inputs: Seq[InputFile], moves: Moves): Unit = {
    val groups = inputs.groupBy(_.folder).toSeq.sortBy(_._1)
    val folder = TableFolder(new Path(dir.toUri), new Watched(moves, groups.head._2.size.toLong))
    val lock = Locking.acquire(folder, "op-1")
    try {
      val committer = new FolderCommitter(folder, lock)
      committer.claim(groups.map(_._1))
      val outputs = groups.map { case (p, in) =>
        val staged = folder.staged(s"$p/new-1.parquet", "op-1")
        put(java.nio.file.Paths.get(staged.toUri.getPath))
        val meta = ops.status(staged).get
        OutputFile(s"$p/new-1.parquet", meta.length, meta.modificationTime, in.size.toLong)
      }
      val record = Record(0L, "op-1", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, inputs, outputs)
      committer.prepare(record)
      committer.commit()
      ()
    } finally lock.release()
  }

  private def data(dir: LocalPath): Seq[LocalPath] =
    Using.resource(Files.walk(dir))(_.iterator.asScala.toList).filter { f =>
      f.toString.endsWith(".parquet") && !f.toString.contains("_zorder")
    }.sorted

  private def delete(dir: LocalPath): Unit =
    Using.resource(Files.walk(dir))(_.sorted(Comparator.reverseOrder[LocalPath]()).forEach(f => Files.delete(f)))

  def main(args: Array[String]): Unit = {
    val (folders, files) = (args(0).toInt, args(1).toInt)
    for (_ <- 1 to 3) {
      val dir = Files.createTempDirectory("window")
      try {
        val inputs = write(dir, folders, files)
        val moves = new Moves(inputs.size.toLong, () => ())
        optimize(dir, inputs, moves)
        val window = History.read(TableFolder(new Path(dir.toUri), ops)).head.publishMillis.get
        println(s"$folders folders of $files files: $window ms, fewest rows visible ${moves.fewest} of ${inputs.size}")
      } finally delete(dir)
    }
  }
}
