package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.lock.{Locking, ProcessState, SystemLiveness}

/** Independent operations of one process. */
class OneJvmSuite extends AnyFunSuite {
  test("a file system that hangs stops the heartbeat of its own locks only") {
    val hung = new java.util.concurrent.CountDownLatch(1)
    final class Hanging(fs: MemoryFs) extends FileOps {
      private val ops = new MemoryOps(fs)
      def list(dir: Path): Seq[FileMeta] = ops.list(dir)
      def status(path: Path): Option[FileMeta] = ops.status(path)
      def rename(src: Path, dst: Path): Unit = ops.rename(src, dst)
      def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit = ops.copy(from, temporary, to)(check)
      def delete(path: Path): Unit = ops.delete(path)
      def deleteEmpty(dir: Path): Boolean = ops.deleteEmpty(dir)
      def deleteRecursive(dir: Path): Unit = ops.deleteRecursive(dir)
      def mkdirs(dir: Path): Unit = ops.mkdirs(dir)
      def writeNew(path: Path, bytes: Array[Byte]): Unit = ops.writeNew(path, bytes)
      def read(path: Path, limit: Long): Array[Byte] = ops.read(path, limit)
      def touch(path: Path): Unit = hung.await()
    }
    val (away, there) = (new SmallTable(Seq("p=1")), new SmallTable(Seq("p=1")))
    val settings = there.settings.copy(beatMillis = 10L)
    val blocked = Locking.acquire(TableFolder(away.root, new Hanging(away.fs)), "op-1", settings)
    Thread.sleep(50)
    val lock = Locking.acquire(TableFolder(there.root, new SynchronizedOps(new MemoryOps(there.fs))), "op-2", settings)
    val key = lock.path.toUri.getPath
    val first = there.fs.file(key).get.time
    val end = System.nanoTime() + 10L * 1000 * 1000 * 1000
    while (there.fs.file(key).get.time == first && System.nanoTime() < end) Thread.sleep(5)
    assert(there.fs.file(key).get.time > first)
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
