package org.sparkzorder.commit

import java.net.URI
import java.nio.file.Files
import java.util.{List => JList}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.{AclEntry, AclStatus, FsPermission}
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy
import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.storage.{HadoopFileOps, ObjectFileOps, StoreProbe}

/** Traits of files in HDFS, with a file system that has them too, and the conditions of writes to object stores. */
class StorageTraitsSuite extends AnyFunSuite {

  /** Files by name, with a folder whose storage policy is HOT. */
  private final class FakeHdfs(files: mutable.Map[String, Traits], isAdministrator: Boolean = true)
      extends FilterFileSystem {
    val calls: mutable.ArrayBuffer[String] = mutable.ArrayBuffer.empty[String]
    initialize(URI.create("hdfs://x/"), new Configuration())

    override def initialize(name: URI, conf: Configuration): Unit = setConf(conf)
    override def getUri: URI = URI.create("hdfs://x")
    override def hasPathCapability(path: Path, capability: String): Boolean = true

    override def getFileStatus(path: Path): FileStatus = files.get(path.getName).fold(
      new FileStatus(0, true, 0, 0, 0, 0, new FsPermission(0x1ed.toShort), "alice", "staff", path)
    ) { t =>
      val flags = FileStatus.attributes(t.acl.nonEmpty, false, false, false)
      val mode = new FsPermission(t.mode.toShort)
      new FileStatus(9, false, t.copies.toInt, 1, 1, 1, mode, t.owner, "staff", null, path, flags)
    }
    override def listStatus(dir: Path): Array[FileStatus] =
      files.keys.toArray.sorted.map(name => getFileStatus(new Path(dir, name)))
    override def getAclStatus(path: Path): AclStatus =
      new AclStatus.Builder().owner("alice").group("staff")
        .addEntries(AclEntry.parseAclSpec(files(path.getName).acl.mkString(","), true)).build()
    override def getStoragePolicy(path: Path): BlockStoragePolicySpi =
      new BlockStoragePolicy(7, files.get(path.getName).fold("HOT")(_.policy), Array(), Array(), Array())

    override def setReplication(path: Path, copies: Short): Boolean = {
      calls += s"copies ${path.getName} $copies"
      true
    }
    override def setAcl(path: Path, list: JList[AclEntry]): Unit =
      calls += s"acl ${path.getName} ${list.asScala.map(_.toString).mkString(",")}"
    override def setStoragePolicy(path: Path, policy: String): Unit = calls += s"policy ${path.getName} $policy"
    override def setPermission(path: Path, mode: FsPermission): Unit = calls += s"mode ${path.getName} $mode"
    override def setOwner(path: Path, owner: String, group: String): Unit =
      if (!isAdministrator) throw new AccessControlException("only for administrators")
      else calls += s"owner ${path.getName} $owner $group"
  }

  private def told(inputs: Seq[Traits], output: Traits = Traits(owner = "root"), isAdministrator: Boolean = true) = {
    val named = inputs.zipWithIndex.map { case (t, i) => s"in-$i" -> t } :+ ("out" -> output)
    val fs = new FakeHdfs(mutable.Map(named: _*), isAdministrator)
    val dir = new Path("hdfs://x/t")
    new HadoopFileOps(fs).adoptRights(Seq(new Path(dir, "out")), inputs.indices.map(i => new Path(dir, s"in-$i")))
    fs.calls.toSeq
  }

  test("new files get the traits of the inputs: a trait that is already right, or comes from the folder, is not set") {
    val cold = Traits(policy = "COLD")
    val inputs = Seq(cold.copy(mode = 0x1a0, copies = 2), cold.copy(copies = 5))
    assert(told(inputs) == Seq("copies out 5", "policy out COLD", "mode out rw-r-----", "owner out alice null"))
    assert(told(Seq(Traits(), Traits()), Traits()).isEmpty)
    // If owners differ, new files stay their writer's. If policies differ, they get the folder's.
    assert(told(Seq(cold, Traits(owner = "bob"))).isEmpty)
    // A user who may not give files away keeps them.
    assert(told(Seq(Traits(mode = 0x180)), isAdministrator = false) == Seq("mode out rw-------"))
  }

  test("new files get an ACL that all inputs have, and otherwise the folder's") {
    val acl = Traits(acl = Seq("user:bob:r--", "group::r--"))
    val set = "acl out user::rw-,user:bob:r--,group::r--,mask::r--,other::r--"
    assert(told(Seq(acl, acl)) == Seq(set, "owner out alice null"))
    assert(told(Seq(acl, Traits())) == Seq("owner out alice null"))
  }

  test("nothing of this is asked of the local disk") {
    val dir = Files.createTempDirectory("traits")
    val files = Seq("in", "out").map(n => Files.writeString(dir.resolve(n), n)).map(f => new Path(f.toUri))
    new HadoopFileOps(FileSystem.getLocal(new Configuration())).adoptRights(files.drop(1), files.take(1))
    assert(Files.readString(dir.resolve("out")) == "out")
  }

  /** A client that got no answer sends the request of this number again. */
  private class Repeating(shared: MemoryStore, number: Int) extends MemoryClient(shared) {
    private var writes = 0

    private def twice(write: => Option[String]): Option[String] = {
      writes += 1
      if (writes == number) write
      write
    }
    override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] = twice(super.putIfAbsent(path, bytes))
    override def putIfMatch(path: Path, bytes: Array[Byte], etag: String): Option[String] =
      twice(super.putIfMatch(path, bytes, etag))
  }

  /** A store that can be switched to ignore a condition. */
  private class Deaf extends MemoryClient(new MemoryStore) {
    var ignores = true
    override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] =
      if (ignores) Some(shared.put(path.toUri.getPath, bytes)) else super.putIfAbsent(path, bytes)
  }

  private def lacks(client: MemoryClient): Option[String] =
    StoreProbe.lacks(TableFolder(new Path("mem:/t"), new ObjectFileOps(client), threads = 1))

  test("a write whose answer was lost is not taken for a store that lacks conditions") {
    for (number <- 0 to 4) {
      val shared = new MemoryStore
      assert(lacks(new Repeating(shared, number)).isEmpty, s"write $number is sent twice")
      assert(shared.objects.isEmpty)
    }
  }

  test("a store that ignores conditions is asked again, and one that keeps them is not") {
    val deaf = new Deaf
    assert(lacks(deaf).exists(_.contains("If-None-Match")))
    deaf.ignores = false
    assert(lacks(deaf).isEmpty)
    val before = deaf.calls
    assert(lacks(deaf).isEmpty)
    assert(deaf.calls == before)
  }
}

private final case class Traits(
    owner: String = "alice",
    mode: Int = 0x1a4,
    acl: Seq[String] = Nil,
    copies: Short = 3,
    policy: String = "HOT"
)
