package org.sparkzorder.commit

import java.io.IOException
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

import org.apache.hadoop.fs.Path

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.storage.HadoopFileOps

/** The exchange of files on a local disk, in several folders side by side, and of files that are symbolic links. */
class PublishingSuite extends LocalTables {

  /** Something happens while files move. */
  private final class Watched extends HadoopFileOps(fs) {
    val caller: Thread = Thread.currentThread()

    /** Run once, right before the commit point, and whenever a file was retired. */
    @volatile var beforeCommit: () => Unit = () => ()
    @volatile var onRetired: Path => Unit = _ => ()

    override def status(path: Path): Option[FileMeta] = {
      // The markers are looked at, while the caller waits.
      if (path.getName.startsWith("_exchange-") && Thread.currentThread() != caller) {
        beforeCommit()
        beforeCommit = () => ()
      }
      super.status(path)
    }

    override def rename(src: Path, dst: Path): Unit = {
      super.rename(src, dst)
      if (dst.getName.endsWith(".retired")) onRetired(dst)
    }
  }

  /** Puts one file in place of all files of each folder. */
  private def optimize(dir: LocalPath, inputs: Seq[InputFile], ops: FileOps): Unit = {
    val made = inputs.groupBy(_.folder).toSeq.sortBy(_._1).map { case (p, in) => s"$p/new-1.parquet" -> in.map(_.path) }
    optimize(TableFolder(path(dir), ops), inputs, made)
  }

  onDisk("an interrupt after the commit point waits until all is published, and is reported afterwards") { dir =>
    val first = inputs(dir, folders = 20)
    val watched = new Watched
    val interrupted = new AtomicBoolean
    watched.onRetired = _ => if (interrupted.compareAndSet(false, true)) watched.caller.interrupt()
    optimize(dir, first, watched)
    assert(interrupted.get && Thread.interrupted())
    assert(History.read(TableFolder(path(dir), ops)).size == 1)
    val side = all(dir.resolve("_zorder")).map(_.toString)
    assert(!side.exists(f => f.contains("lock-") || f.endsWith(".publishing")))
    assert(data(dir).size == 20 && data(dir).forall(_.getFileName.toString.startsWith("new-")))
  }

  onDisk("an interrupt before the commit point ends the operation, which leaves nothing") { dir =>
    val first = inputs(dir, folders = 3)
    val before = data(dir)
    val watched = new Watched
    // Gives the caller time to tell.
    watched.beforeCommit = () => { watched.caller.interrupt(); Thread.sleep(300) }
    assertThrows[InterruptedException](optimize(dir, first, watched))
    assert(data(dir) == before && !Files.exists(dir.resolve("p=1/_zorder/staging")))
  }

  test("no row is invisible at any moment, however many folders there are", InRest)(withRoot { dir =>
    val (watched, missed) = (new Watched, new AtomicBoolean)
    // The new file of its folder has its row.
    def newOf(old: Path) = s"${dir.relativize(LocalPath.of(old.toUri.getPath)).getName(0)}/new-1.parquet"
    watched.onRetired = old => if (!Files.exists(dir.resolve(newOf(old)))) missed.set(true)
    optimize(dir, inputs(dir, folders = 100, files = 10), watched)
    assert(!missed.get && data(dir).size == 100)
  })

  private val words = (1 to 10).map(i => s"1$i").sorted

  /** Moves files one after the other, and stands still after each old one. */
  private def publishSlowly(dir: LocalPath): Unit = {
    val slow = new Watched
    slow.onRetired = _ => Thread.sleep(200)
    optimize(TableFolder(path(dir), slow, threads = 1), inputs(dir, 1, files = 10), Seq("p=1/new-1.parquet" -> words))
  }

  test("a query reads around a process that a signal stopped, and waits for one that goes on", InRest)(withRoot { dir =>
    val java = s"${System.getProperty("java.home")}/bin/java"
    val command = Seq(java, "-cp", System.getProperty("java.class.path"), classOf[PublishingSuite].getName, s"$dir")
    val quiet = ProcessBuilder.Redirect.DISCARD
    val process = new ProcessBuilder(command: _*).redirectErrorStream(true).redirectOutput(quiet).start()
    def signal(name: String): Unit =
      assert(new ProcessBuilder("kill", s"-$name", s"${process.pid}").start().waitFor() == 0)
    def retired = Option(dir.resolve("p=1/_zorder/trash/_v0000000001-op-1").toFile.list()).fold(0)(_.length)
    def seen(around: Option[ReadAround]): Seq[String] = {
      val kept = data(dir).filterNot(f => around.exists(_.leaveOut(dir.relativize(f).toString)))
      rows(kept ++ around.toSeq.flatMap(_.add).map(a => LocalPath.of(a.meta.path.toUri)))
    }
    val folder = TableFolder(path(dir), ops)
    try {
      for (_ <- 1 to 12000 if retired < 2) Thread.sleep(5)
      signal("STOP")
      assert(retired >= 2 && retired < words.size, "the test came too late")
      val start = System.nanoTime()
      val beside = Recovery.settled(folder, 500L)
      val waited = (System.nanoTime() - start) / 1000000L
      assert(waited >= 500L && waited < 10000L && beside.exchanging)
      assert(beside.around.isDefined && seen(beside.around) == words)
      signal("CONT")
      val after = Recovery.settled(folder, 60000L)
      assert(after.exchanging && after.around.isEmpty && seen(None) == words)
      assert(process.waitFor(60, TimeUnit.SECONDS) && process.exitValue == 0)
      // Files that were planned meanwhile are gone, or all rows are in them.
      val isGone = beside.around.exists(_.add.exists(a => !Files.exists(LocalPath.of(a.meta.path.toUri))))
      assert((isGone || seen(beside.around) == words) && History.read(folder).size == 1)
    } finally process.destroyForcibly().waitFor()
  })

  /** The root of a table beside a folder for what links lead to. A relative link leads nowhere once it is moved. */
  private def withCache(test: LocalPath => Unit): Unit = withRoot { dir =>
    put(dir.resolve("cache/x"), "rows")
    test(Files.createDirectories(dir.resolve("t")))
  }

  private def linked(name: String)(body: LocalPath => Unit): Unit = test(name)(withCache(body))
  private def cached(dir: LocalPath, name: String): LocalPath = dir.resolveSibling("cache").resolve(name)
  private def trash(dir: LocalPath): LocalPath = Files.createDirectories(dir.resolve("_zorder/trash/_v0000000001-op"))

  /** Replaces every input, in its place or in the trash, by a link to a file of the same content and time. */
  private def link(dir: LocalPath, inputs: Seq[InputFile]): Unit = inputs.foreach { input =>
    val place = dir.resolve(input.path)
    val kept = cached(dir, input.path.replace('/', '-'))
    val retired = all(place.getParent).filter(_.getFileName.toString == s"${place.getFileName}.retired")
    (place +: retired).filter(Files.exists(_)).foreach { file =>
      Files.move(file, kept)
      Files.createSymbolicLink(file, place.getParent.relativize(kept))
    }
  }

  test("a half published table of links is finished or undone, wherever its owner and its recovery died", InRest) {
    def dies(k: Int): Boolean = Seq(Int.MaxValue, 15, 30).map { recoveryDies =>
      var died = false
      withCache { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        val files = inputs(dir)
        def dying(at: Int) = TableFolder(path(dir), new Dying(ops, at))
        try optimize(dying(k), files, settings = settings)
        catch { case _: Died => died = true }
        liveness.running.clear()
        link(dir, files)
        withClue(s"death at call $k, recovery dies at call $recoveryDies: ") {
          try Recovery.recover(dying(recoveryDies), settings)
          catch { case _: Died => liveness.running.clear() }
          assert(Recovery.settled(TableFolder(path(dir), ops), 1000L, settings).around.isEmpty)
          assert(rows(data(dir)) == expected)
          assert(!all(dir).exists(f => f.toString.contains("lock-") || f.toString.contains("staging")))
        }
      }
      died
    }.last
    assert(Iterator.from(1, 7).takeWhile(dies).size > 7)
  }

  linked("inputs that became links before the commit point are a conflict, and stay as they are") { dir =>
    val files = inputs(dir)
    link(dir, files)
    assertThrows[CommitConflictException](optimize(TableFolder(path(dir), ops), files))
    assert(rows(data(dir)) == expected)
    assert(files.forall(f => Files.isSymbolicLink(dir.resolve(f.path))))
  }

  linked("a link is seen as a link: to a file, to nothing, in the trash, but not to a folder of data") { dir =>
    val links = Seq("file" -> "../cache/x", "nothing" -> "../gone", "folder" -> "../cache").map { case (name, to) =>
      Files.createSymbolicLink(dir.resolve(name), LocalPath.of(to))
    } :+ Files.createSymbolicLink(trash(dir).resolve("y.retired"), LocalPath.of("../cache/x"))
    val found = links.map(l => ops.status(new Path(l.toUri.toString.stripSuffix("/"))).get)
    assert(found.map(_.isLink) == Seq(true, true, false, true))
    assert(found.map(_.isDirectory) == Seq(false, false, true, false))
    assert(ops.list(found(3).path.getParent).map(m => (m.name, m.isLink)) == Seq("y.retired" -> true))
    val back = dir.resolve("y")
    ops.rename(found(3).path, path(back))
    assert(Files.readString(back) == "rows")
    ops.delete(path(back))
    assert(!Files.isSymbolicLink(back) && Files.exists(cached(dir, "x")))
  }

  linked("a link in the trash is neither read nor written, and one above it is not followed") { dir =>
    val link = path(Files.createSymbolicLink(trash(dir).resolve("x.retired"), cached(dir, "x")))
    assertThrows[IOException](ops.read(link, 100))
    assertThrows[IOException](ops.touch(link))
    assertThrows[IOException](ops.writeNew(link, Array[Byte](1)))
    val other = Files.createSymbolicLink(trash(dir).resolveSibling("_v0000000002-op"), dir.resolveSibling("cache"))
    assertThrows[IOException](ops.status(path(other.resolve("x"))))
    assertThrows[IOException](ops.deleteRecursive(path(other)))
    ops.deleteRecursive(path(trash(dir)))
    assert(Files.readString(cached(dir, "x")) == "rows")
  }
}

/** The process that a test stops. */
object PublishingSuite {
  def main(args: Array[String]): Unit = new PublishingSuite().publishSlowly(LocalPath.of(args(0)))
}
