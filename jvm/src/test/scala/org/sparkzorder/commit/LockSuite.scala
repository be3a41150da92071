package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.lock.{LockSettings, LockState, Locking, ProcessState, SystemLiveness}

class LockSuite extends AnyFunSuite {
  private val other = owner("here", "other")
  private val whole = new String(Owner.write(other), UTF_8)
  private def owner(host: String, id: String) = Owner(ProcessId(host, "boot", "ns", 7L, "start"), id, "OPTIMIZE")

  /** A table with a lock file that says this. */
  private def locked(text: String): SmallTable = {
    val t = new SmallTable(Seq("p=1"))
    val f = t.folder
    f.ops.mkdirs(f.side)
    f.ops.writeNew(f.newLock(), text.getBytes(UTF_8))
    t
  }

  private def side(t: SmallTable): Seq[String] = t.fs.children("/t/_zorder")

  private def state(t: SmallTable, settings: Option[LockSettings] = None): LockState = {
    val f = t.folder
    LockState.of(f, f.ops.list(f.side), settings.getOrElse(t.settings))
  }

  private def refused(t: SmallTable): Option[ConcurrentOperationException] =
    try {
      Locking.acquire(t.folder, "op", t.settings).release()
      None
    } catch { case e: ConcurrentOperationException => Some(e) }

  test("a living owner's lock is respected and the error names him, and a dead owner's is taken over at once") {
    val t = locked(whole)
    t.liveness.running += "other"
    assert(state(t) == LockState.Live(Some(other)))
    assert(refused(t).get.getMessage.contains("OPTIMIZE other of process 7 on here"))
    assert(side(t).size == 1)
    assert(t.liveness.running == Set("other"))
    t.liveness.running.clear()
    assert(state(t).isInstanceOf[LockState.Dead])
    assert(refused(t).isEmpty)
    assert(t.recover().isEmpty)
    assert(side(t).isEmpty)
  }

  test("an owner on another host, and a lock file that cannot be read, are respected until the heartbeat is old") {
    val there = owner("there", "other")
    val unreadable = Seq("{}", "{\"pid\": 1e99}", "{\"host\": 5}").map(_ -> Option.empty[Owner])
    for ((text, named) <- unreadable :+ (new String(Owner.write(there), UTF_8) -> Some(there))) {
      val t = locked(text)
      assert(state(t) == LockState.Live(named))
      // By the file system's clock.
      t.fs.clock += 59000
      assert(refused(t).exists(_.owner == named))
      t.fs.clock += 2001
      assert(state(t).isInstanceOf[LockState.Dead])
      assert(refused(t).isEmpty)
    }
  }

  test("a lock file that was not written to its end is respected for a second") {
    for (begun <- Seq("", "{", "\u0000\u0001", whole.take(whole.length / 2))) {
      val t = locked(begun)
      val (file, began) = (side(t).head, t.fs.clock)
      def write(text: String): Unit = t.fs.nodes(file) = File(9, began, Set.empty, text.getBytes(UTF_8))
      var slept = 0L
      def until(end: Long => Unit) =
        state(t, Some(t.settings.copy(sleep = (millis: Long) => { slept += millis; end(slept) })))
      // Its owner writes the rest.
      t.liveness.running += "other"
      assert(until(at => if (at >= 500) write(whole)) == LockState.Live(Some(other)))
      assert(slept == 500)
      // Its owner never writes the rest.
      write(begun)
      slept = 0
      assert(until(_ => ()) == LockState.Dead(None))
      assert(slept == 1000)
      assert(t.recover().isEmpty)
      assert(side(t).isEmpty)
    }
  }

  test("an owner whose lock was taken away while he wrote it has touched nothing") {
    val t = new SmallTable(Seq("p=1"))
    val before = t.fs.visible
    // The call after the one that writes the lock lists the side folder.
    val ops = new MemoryOps(t.fs, other = { case _ if side(t).nonEmpty => side(t).foreach(t.fs.nodes.remove) })
    assertThrows[LockLostException](Locking.acquire(TableFolder(t.root, ops), "op", t.settings))
    assert(t.fs.visible == before && side(t).isEmpty)
    assert(t.liveness.running.isEmpty)
  }

  test("of several owners at once at most one gets the lock, and in the end each gets it") {
    val t = new SmallTable(Seq("p=1"))
    val folder = TableFolder(t.root, t.ops)
    val settings =
      t.settings.copy(liveness = SystemLiveness, attempts = 1000, retryMillis = 1L, sleep = Thread.sleep(_))
    val (inside, most) = (new AtomicInteger, new AtomicInteger)
    WorkerThreads.each(1 to 4, threads = 4) { i =>
      for (n <- 1 to 5) {
        val lock = Locking.acquire(folder, s"op-$i-$n", settings)
        most.accumulateAndGet(inside.incrementAndGet(), (a, b) => math.max(a, b))
        Thread.sleep(1)
        inside.decrementAndGet()
        lock.release()
      }
    }
    assert(most.get == 1)
    assert(side(t).isEmpty)
  }

  test("the heartbeat moves the file's time and never makes the file anew") {
    val t = new SmallTable(Seq("p=1"))
    val f = t.folder
    val lock = Locking.acquire(f, "op", t.settings.copy(beatMillis = 5L))
    val first = f.ops.status(lock.path).get.modificationTime
    Thread.sleep(200)
    assert(f.ops.status(lock.path).get.modificationTime > first)
    lock.check()
    f.ops.delete(lock.path)
    assertThrows[LockLostException](lock.check())
    Thread.sleep(50)
    assert(!f.ops.exists(lock.path))
    assertThrows[LockLostException](lock.check())
    lock.release()
  }

  test("a stalled owner whose operation another process has ended changes nothing more") {
    val t = new SmallTable(Seq("p=1"))
    var stolen = false
    // Right after the commit point somebody on another host believes that we are dead.
    val ops = new MemoryOps(
      t.fs,
      other = {
        case n if n > 40 && !stolen && t.isPublishing =>
          stolen = true
          t.liveness.running.clear()
          assert(t.recover().isEmpty)
          assert(t.fs.visibleRows == t.allRows)
      }
    )
    assert(t.attempt(ops).isEmpty)
    assert(stolen && t.history.map(_.record.operationId) == Seq("op-1"))
    assert(t.fs.visibleRows == t.allRows)
    assert(t.litter.isEmpty)
  }

  test("this host judges its own processes: a process is gone when it has ended or started at another time") {
    import ProcessState._
    val me = SystemLiveness.self
    assert(me.pid == ProcessHandle.current().pid())
    def judged(process: ProcessId, id: String = "op") = SystemLiveness.processState(Owner(process, id, ""))
    // An operation of this process is alive as long as the process runs it.
    def unknown(since: Long) = SystemLiveness.processState(Owner(me, "unknown", "", since = since))
    assert(unknown(System.currentTimeMillis()) == Gone)
    // A lock from before the registry was made: an earlier registry may have had its operation.
    assert(unknown(1L) == Unknown)
    SystemLiveness.register("known")
    assert(judged(me, "known") == Alive)
    SystemLiveness.deregister("known")
    val child = new ProcessBuilder("sleep", "100").start()
    val theirs = me.copy(pid = child.pid())
    try {
      assert(judged(theirs.copy(start = "another time")) == Gone)
      assert(judged(theirs.copy(start = "")) == Unknown)
    } finally child.destroyForcibly().waitFor()
    assert(judged(theirs) == Gone)
    assert(judged(me.copy(host = "elsewhere")) == Unknown)
    assert(judged(me.copy(bootId = "earlier")) == Unknown)
  }

  test("a file system that hangs stops the heartbeat of its own locks only") {
    val hung = new CountDownLatch(1)
    final class Hanging(fs: MemoryFs) extends MemoryOps(fs) {
      override def touch(path: Path): Unit = hung.await()
    }
    val (away, there) = (new SmallTable(Seq("p=1")), new SmallTable(Seq("p=1")))
    val settings = there.settings.copy(beatMillis = 10L)
    val blocked = Locking.acquire(TableFolder(away.root, new Hanging(away.fs)), "op-1", settings)
    Thread.sleep(50)
    val lock = Locking.acquire(there.folder, "op-2", settings)
    def time: Long = there.fs.file(lock.path.toUri.getPath).get.time
    val first = time
    val end = System.nanoTime() + 10L * 1000 * 1000 * 1000
    while (time == first && System.nanoTime() < end) Thread.sleep(5)
    assert(time > first)
    lock.abandon()
    blocked.abandon()
    hung.countDown()
  }

  test("two copies of our classes in one JVM know of each other's operations") {
    val urls = Seq(SystemLiveness.getClass, classOf[Option[_]]).map(_.getProtectionDomain.getCodeSource.getLocation)
    val loader = new java.net.URLClassLoader(urls.toArray, ClassLoader.getPlatformClassLoader)
    try {
      val copy = loader.loadClass(SystemLiveness.getClass.getName)
      assert(copy != SystemLiveness.getClass)
      val module = copy.getField("MODULE$").get(null)
      copy.getMethod("register", classOf[String]).invoke(module, "op-of-the-copy")
      val ours = Owner(SystemLiveness.self, "op-of-the-copy", "OPTIMIZE", since = System.currentTimeMillis())
      assert(SystemLiveness.processState(ours) == ProcessState.Alive)
      copy.getMethod("deregister", classOf[String]).invoke(module, ours.operationId)
      assert(SystemLiveness.processState(ours) == ProcessState.Gone)
    } finally loader.close()
  }
}
