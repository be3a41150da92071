package org.sparkzorder.commit

import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.storage.HadoopFileOps

/**
 * Queries meet another process that publishes slowly, or that a signal has stopped while it
 * published.
 */
class StandstillSuite extends AnyFunSuite with LocalTables {
  import StandstillSuite._

  private def withPublisher(pauseMillis: Long)(test: (TableFolder, Process, LocalPath) => Unit): Unit =
    withRoot { dir =>
      val java = LocalPath.of(System.getProperty("java.home"), "bin", "java").toString
      val main = classOf[StandstillSuite].getName
      val process = new ProcessBuilder(
        Seq(java, "-cp", System.getProperty("java.class.path"), main, dir.toString, pauseMillis.toString).asJava
      ).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
      try {
        val folder = TableFolder(path(dir), ops)
        val deadline = System.currentTimeMillis() + 60000L
        while (moved(dir) < 2 && System.currentTimeMillis() < deadline) Thread.sleep(5)
        assert(moved(dir) >= 2)
        test(folder, process, dir)
      } finally process.destroyForcibly().waitFor()
    }

  private def signal(process: Process, name: String): Unit =
    assert(new ProcessBuilder("kill", s"-$name", process.pid.toString).start().waitFor() == 0)

  /** The process ends, and a query finds each row once. */
  private def assertEnds(folder: TableFolder, process: Process): Unit = {
    assert(process.waitFor(60, TimeUnit.SECONDS) && process.exitValue == 0)
    assert(rows(folder, ReadAround(Set.empty, Nil)) == AllRows)
  }

  /** Of which of the ten inputs the files hold the rows. */
  private def rows(folder: TableFolder, around: ReadAround): Seq[Int] = {
    val visible = folder.ops.list(folder.root).filter(m => !m.isDirectory && !around.leaveOut(m.name)).map(_.path)
    rows((visible ++ around.add.map(_.meta.path)).map(p => LocalPath.of(p.toUri))).map(_.toInt).sorted
  }

  test("a query reads around a process that was stopped while it published", InRest) {
    withPublisher(pauseMillis = 100L) { (folder, process, dir) =>
      signal(process, "STOP")
      assert(moved(dir) < AllRows.size, "the test came too late")
      val start = System.nanoTime()
      val settled = Recovery.settled(folder, 500L)
      val waited = (System.nanoTime() - start) / 1000000L
      assert(waited >= 500L && waited < 10000L)
      val around = settled.around.get
      assert(settled.exchanging)
      assert(rows(folder, around) == AllRows)
      // The process goes on between planning and reading. Then planned files are gone, or all rows are there.
      signal(process, "CONT")
      assert(process.waitFor(60, TimeUnit.SECONDS))
      val isGone = around.add.exists(a => !Files.exists(LocalPath.of(a.meta.path.toUri)))
      assert(isGone || rows(folder, around) == AllRows)
      assert(Recovery.settled(folder, 0L).around.isEmpty && History.read(folder).size == 1)
      assertEnds(folder, process)
    }
  }

  test("a query waits for a process that moves files, however slowly, until it ends", InRest) {
    withPublisher(pauseMillis = 400L) { (folder, process, _) =>
      val settled = Recovery.settled(folder, 60000L)
      assert(settled.around.isEmpty && settled.exchanging)
      assertEnds(folder, process)
    }
  }
}

/**
 * `StandstillSuite <folder> <milliseconds>` makes a table and optimizes it, with a pause before
 * each file that moves.
 */
object StandstillSuite extends LocalTables {
  private val AllRows = 1 to 10

  private final class Slow(pauseMillis: Long) extends HadoopFileOps(fs) {
    override def rename(src: Path, dst: Path): Unit = {
      if (src.getName.endsWith(".staged") || dst.getName.endsWith(".retired")) Thread.sleep(pauseMillis)
      super.rename(src, dst)
    }
  }

  private def moved(dir: LocalPath): Int = {
    val trash = dir.resolve("_zorder/trash/_v0000000001-op-1")
    if (Files.exists(trash)) Using.resource(Files.list(trash))(_.count.toInt) else 0
  }

  def main(args: Array[String]): Unit = {
    val dir = LocalPath.of(args(0))
    val inputs = AllRows.map { i =>
      val file = dir.resolve(s"part-$i.parquet")
      put(file, s"$i")
      InputFile(s"part-$i.parquet", meta(file).length, meta(file).modificationTime, 1L)
    }
    val made =
      AllRows.grouped(5).zipWithIndex.map { case (rows, i) => s"new-$i.parquet" -> rows.map(_.toString) }.toSeq
    // With one thread, files move one after the other.
    optimize(TableFolder(path(dir), new Slow(args(1).toLong), threads = 1), inputs, made)
  }
}
