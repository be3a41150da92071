package org.sparkzorder.commit

import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.storage.HadoopFileOps

/** The exchange of files on a local disk, in several folders side by side. */
class PublishingSuite extends AnyFunSuite with LocalTables {

  /** Counts the rows that are visible while files move. An input has one row, an output all rows of its folder. */
  private final class Moves(rows: Long, onFirst: () => Unit) {
    val caller: Thread = Thread.currentThread()
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

  private final class Watched(moves: Moves, rowsOfOutput: Long) extends HadoopFileOps(fs) {
    override def status(path: Path): Option[FileMeta] = {
      // The markers are looked at, while the caller waits.
      if (path.getName.startsWith("_exchange-") && Thread.currentThread() != moves.caller) {
        moves.beforeCommit()
        moves.beforeCommit = () => ()
      }
      super.status(path)
    }

    override def rename(src: Path, dst: Path): Unit = {
      super.rename(src, dst)
      moves.moved(src, dst, rowsOfOutput)
    }
  }

  /** Puts one file in place of all files of each folder. */
  private def optimize(dir: LocalPath, inputs: Seq[InputFile], moves: Moves): Unit = {
    val made = inputs.groupBy(_.folder).toSeq.sortBy(_._1).map { case (p, in) => s"$p/new-1.parquet" -> in.map(_.path) }
    optimize(TableFolder(path(dir), new Watched(moves, made.head._2.size.toLong)), inputs, made)
  }

  test("an interrupt after the commit point waits until all is published, and is reported afterwards") {
    withRoot { dir =>
      val first = inputs(dir, folders = 20)
      val caller = Thread.currentThread()
      val interrupted = new AtomicBoolean
      val moves = new Moves(first.size.toLong, () => if (interrupted.compareAndSet(false, true)) caller.interrupt())
      optimize(dir, first, moves)
      assert(interrupted.get && Thread.interrupted())
      assert(History.read(TableFolder(path(dir), ops)).size == 1)
      assert(!all(dir.resolve("_zorder")).exists(f =>
        f.toString.contains("lock-") || f.toString.endsWith(".publishing")
      ))
      assert(data(dir).size == 20 && data(dir).forall(_.getFileName.toString.startsWith("new-")))
    }
  }

  test("an interrupt before the commit point ends the operation, which leaves nothing") {
    withRoot { dir =>
      val first = inputs(dir, folders = 3)
      val before = data(dir)
      val moves = new Moves(first.size.toLong, () => ())
      // Gives the caller time to tell.
      moves.beforeCommit = () => { moves.caller.interrupt(); Thread.sleep(300) }
      assertThrows[InterruptedException](optimize(dir, first, moves))
      assert(data(dir) == before && !Files.exists(dir.resolve("p=1/_zorder/staging")))
    }
  }

  test("no row is invisible at any moment, however many folders there are", InRest) {
    withRoot { dir =>
      val first = inputs(dir, folders = 100, files = 10)
      val moves = new Moves(first.size.toLong, () => ())
      optimize(dir, first, moves)
      assert(moves.fewest.get == 1000)
      assert(data(dir).size == 100)
    }
  }
}
