package org.sparkzorder.optimize.check

import java.net.URI
import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

class FreeSpaceSuite extends AnyFunSuite {

  /** Has three replicas of each block, quotas on some folders, and a root folder that we may not ask about. */
  private final class FakeHdfs(remaining: Long, quotas: Map[String, (Long, Long)], capacity: Long = 1000L)
      extends FilterFileSystem {
    override def getConf: Configuration = new Configuration()
    override def getUri: URI = URI.create("hdfs://x")
    override def getDefaultReplication(path: Path): Short = 3
    override def getStatus(path: Path): FsStatus = new FsStatus(capacity, capacity - remaining, remaining)
    override def getQuotaUsage(path: Path): QuotaUsage = {
      if (path.isRoot) throw new AccessControlException("not yours")
      val (quota, used) = quotas.getOrElse(path.getName, (-1L, 0L))
      new QuotaUsage.Builder().spaceQuota(quota).spaceConsumed(used).build()
    }
  }

  private val root = new Path("hdfs://x/a/t")

  private def short(fs: FileSystem, bytes: Long): Seq[(String, Long)] =
    FreeSpace.of(fs, root, Seq(root -> bytes)).filterNot(_.isEnough).map(r => (r.where, r.available))

  test("every byte takes as much space as there are replicas; a file system without a known size refuses nothing") {
    assert(short(new FakeHdfs(300, Map.empty), 100).isEmpty)
    assert(short(new FakeHdfs(300, Map.empty), 101) == Seq("the file system of hdfs://x/a/t" -> 100L))
    assert(short(new FakeHdfs(0, Map.empty, capacity = 0), 1000000L).isEmpty)
  }

  test("quotas count, also those of folders above") {
    assert(short(new FakeHdfs(900, Map("t" -> (600L, 300L))), 100).isEmpty)
    assert(short(new FakeHdfs(900, Map("t" -> (600L, 301L))), 100) == Seq("the quota of hdfs://x/a/t" -> 99L))
    assert(short(new FakeHdfs(900, Map("a" -> (600L, 700L))), 1) == Seq("the quota of hdfs://x/a" -> 0L))
  }

  test("a local disk tells how much space is left") {
    val dir = new Path(Files.createTempDirectory("space").toUri)
    val local = FileSystem.getLocal(new Configuration())
    assert(FreeSpace.of(local, dir, Seq(dir -> 1L)).forall(_.isEnough))
    val rooms = FreeSpace.of(local, dir, Seq(dir -> (Long.MaxValue - 1), dir -> 1L))
    val room = rooms.head
    assert(rooms.size == 1 && !room.isEnough && room.needed == Long.MaxValue && room.available > 0)
  }
}
