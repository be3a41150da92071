package org.sparkzorder.index

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.types.LongType
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats._

class IndexStoreSuite extends AnyFunSuite with BeforeAndAfterEach {
  private val fs = FileSystem.getLocal(new Configuration())
  private var root: Path = _
  private val key = ColumnKey(Seq("a"), LongType)
  private val big = memory(1L << 30)
  private val store = new IndexStore(fs, big)
  private def memory(bytes: Long) = IndexMemory(bytes, bytes)

  override def beforeEach(): Unit = {
    IndexCache.clear()
    root = new Path(Files.createTempDirectory("index").toUri)
    fs.mkdirs(new Path(root, "_zorder"))
  }

  override def afterEach(): Unit = fs.delete(root, true)

  private def contents(max: Long, files: Int = 1): IndexContents = {
    val stats = FileStats(1, Map(key -> ColumnStats(0L, max, 0, 0)))
    IndexContents(Seq.tabulate(files)(i => FileId(s"f$i", 1, 1) -> stats))
  }

  private def write(contents: IndexContents, number: Long) = Indexes.write(fs, root, contents, number)
  private def listing = Indexes.listed(fs, root)
  private def newest() = store.newest(listing).get
  private def maxOf(s: IndexSnapshot): Any = s.fileStats(0).columns(key).max

  private def spoil(path: Path): Unit = {
    val out = fs.create(path, true)
    out.write("nonsense, and not short either".getBytes)
    out.close()
  }

  test("on an object store a small index is read by one request, and one that was cut off is not used") {
    write(contents(1L), 1L)
    var requests = 0
    def reader(cut: Int)(path: Path, limit: Long): Array[Byte] = {
      requests += 1
      val in = fs.open(path)
      try in.readAllBytes().take(limit.toInt - cut)
      finally in.close()
    }
    assert(new IndexStore(fs, big, Some(reader(cut = 1) _)).newest(listing).isEmpty && requests == 1)
    requests = 0
    val found = new IndexStore(fs, big, Some(reader(cut = 0) _)).newest(listing)
    assert(maxOf(found.get) == 1L && requests == 1)
  }

  test("the index with the highest number counts, and other files are ignored") {
    assert(store.newest(listing).isEmpty)
    Seq(9L, 10L, 2L).foreach(n => write(contents(n), n))
    Seq("_index-0000000099.zidx.tmp", "_index-99.zidx", "index-0000000099.zidx", "_v0000000003.json")
      .foreach(name => spoil(new Path(root, s"_zorder/$name")))
    fs.mkdirs(new Path(root, "_zorder/_index-0000000098.zidx"))
    assert(maxOf(newest()) == 10L)
  }

  test("if an index cannot be read, the one before is used") {
    write(contents(1), 1)
    spoil(write(contents(2), 2).getPath)
    fs.delete(write(contents(3), 3).getPath, false)
    val before = listing
    assert(maxOf(store.newest(before).get) == 1L)
    val third = write(contents(3), 3)
    fs.delete(third.getPath, false)
    assert(maxOf(store.newest((3L -> third) +: listing).get) == 1L)
  }

  test("an index is read once, until it must make room for others") {
    write(contents(1, 1000), 1)
    val first = newest()
    assert(newest() eq first)
    first.column(Seq("a"), LongType)
    assert(first.memoryBytes > 1000 * 24)
    val tight = new IndexStore(fs, memory(first.memoryBytes + 100))
    write(contents(2, 1000), 2)
    val second = tight.newest(listing).get
    assert((second ne first) && IndexCache.size == 1)
    assert(tight.newest(listing).get eq second)
    second.column(Seq("a"), LongType)
    new IndexStore(fs, memory(100)).newest(listing)
    assert(IndexCache.size == 0)
  }

  test("only the newest index of each table stays in memory, however much room there is", InRest) {
    val elsewhere = new Path(Files.createTempDirectory("index").toUri)
    fs.mkdirs(new Path(elsewhere, "_zorder"))
    Indexes.write(fs, elsewhere, contents(7, 1000), 1)
    val other = store.newest(Indexes.listed(fs, elsewhere)).get
    var held = Seq.empty[IndexSnapshot]
    for (n <- 1 to 100) {
      write(contents(n.toLong, 1000), n.toLong)
      held :+= newest()
      assert(IndexCache.size == 2)
    }
    assert(held.distinct.size == 100 && (newest() eq held.last))
    assert(store.newest(Indexes.listed(fs, elsewhere)).get eq other)
    // Older plans still use their indexes, and read the columns that they lack.
    assert(held.zipWithIndex.forall { case (s, i) => maxOf(s) == i + 1L })
    fs.delete(elsewhere, true)
  }

  test("an older index that is still used does not replace the newest, and is dropped when the newest is used") {
    write(contents(1), 1)
    val stale = listing
    write(contents(2), 2)
    val second = newest()
    assert(maxOf(store.newest(stale).get) == 1L)
    assert((newest() eq second) && IndexCache.size == 1)
  }

  test("an index that was dropped and made again with the same number replaces the old one") {
    fs.delete(write(contents(1, 3), 1).getPath, false)
    write(contents(2, 3), 1)
    assert(maxOf(newest()) == 2L)
    fs.delete(new Path(root, "_zorder/_index-0000000001.zidx"), false)
    write(contents(3, 5), 1)
    assert(maxOf(newest()) == 3L && IndexCache.size == 1)
  }

  test("when the file of a snapshot is gone, the snapshot still has the columns that it has loaded, and no others") {
    val other = ColumnKey(Seq("b"), LongType)
    val both = ColumnStats(0L, 5L, 0, 0)
    val first = write(IndexContents(Seq(FileId("f0", 1, 1) -> FileStats(1, Map(key -> both, other -> both)))), 1)
    val held = newest()
    assert(held.column(Seq("a"), LongType).isDefined)
    write(contents(2), 2)
    store.newest(listing)
    fs.delete(first.getPath, false)
    assert(held.column(Seq("a"), LongType).isDefined && held.column(Seq("b"), LongType).isEmpty)
    assert(held.fileStats(0) == FileStats(1, Map(key -> both)) && held.ordinalOf("f0", 1, 1) == 0)
  }

  test("without a setting indexes get a tenth of the heap, but at most 256 MiB; a setting is used as it is") {
    def mib(n: Long) = n << 20
    assert(IndexMemory.of(None, mib(1000)) == IndexMemory(mib(100), mib(256)))
    assert(IndexMemory.of(None, mib(100000)) == IndexMemory(mib(256), mib(256)))
    Seq(0L, 100L).foreach(n => assert(IndexMemory.of(Some(n), mib(1000)) == IndexMemory(n, mib(256))))
    assert(IndexMemory.of(Some(mib(4096)), mib(1000)) == IndexMemory(mib(4096), mib(4096)))
    // An index that is larger than the cache is read, but not kept.
    val small = new IndexStore(fs, IndexMemory(100, mib(256)))
    write(contents(1, 1000), 1)
    assert(maxOf(small.newest(listing).get) == 1L && IndexCache.size == 0)
  }
}
