package org.sparkzorder.commit

import java.io.{IOException, InterruptedIOException}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.log.{History, HistorySettings, Reappeared, RecordCache, RecordJson, TableState}
import org.sparkzorder.commit.upkeep.{RestorePlan, Trash}

/** VACUUM deletes old records. No part of the history is lost before its time, and little is read. */
class HistorySuite extends AnyFunSuite {
  private val small = HistorySettings(maxOperations = 1, whole = 1)
  private val day = 24L * 3600 * 1000

  private def ops(t: SmallTable) = new MemoryOps(t.fs)

  private def folder(t: SmallTable) = TableFolder(t.root, ops(t), threads = 1)

  private def names(t: SmallTable): Seq[String] = t.fs.children("/t/_zorder").map(FileNames.name)

  private def records(t: SmallTable): Seq[Long] =
    SideListing.records(ops(t).list(folder(t).side)).filter(_.state.isPublished).map(_.version)

  private def versions(t: SmallTable): Seq[Long] = t.history.map(_.record.version)

  private def optimized(operations: Int, settings: HistorySettings = small): SmallTable = {
    val t = new SmallTable(Seq("p=1"), 1)
    t.historySettings = settings
    for (i <- 1 to operations) t.optimize(ops(t), s"op-$i")
    t
  }

  private def refused(t: SmallTable, to: Long): NotRestorableException =
    intercept[NotRestorableException](t.restore(ops(t), to, "op-99"))

  test("VACUUM forgets operations that are too many or too old, but not the newest") {
    def left(settings: HistorySettings): Seq[Long] = {
      val t = optimized(4)
      t.fs.clock += 31 * day
      for (i <- 5 to 8) t.optimize(ops(t), s"op-$i")
      t.historySettings = settings
      t.vacuum(ops(t), "op-91")
      assert(t.litter.isEmpty)
      assert(t.history.forall(e => e.publishMillis.isDefined && e.time > 0 && e.state == "vacuumed"))
      versions(t)
    }
    val (month, long) = (HistorySettings(whole = 1), HistorySettings(retentionMillis = 40 * day, whole = 1))
    assert(left(month) == Seq(8L, 7L, 6L, 5L))
    assert(left(month.copy(whole = 6)) == (8L to 3L by -1L) && left(HistorySettings()) == (8L to 1L by -1L))
    assert(left(long) == (8L to 1L by -1L))
    assert(left(long.copy(maxOperations = 6)) == (8L to 3L by -1L))
    assert(left(small) == Seq(8L))
  }

  test("a record stays as long as its trash is there, however old it is") {
    val t = optimized(6)
    t.vacuum(ops(t), "op-90", _.version != 3)
    assert(versions(t) == Seq(6L, 3L) && t.history.map(_.state) == Seq("vacuumed", "committed"))
    t.fs.clock += 400 * day
    t.optimize(ops(t), "op-7")
    t.vacuum(ops(t), "op-91", _.version > 3)
    assert(versions(t) == Seq(7L, 3L))
    t.vacuum(ops(t), "op-92")
    assert(versions(t) == Seq(7L) && records(t) == Seq(7L))
  }

  test("a VACUUM that is interrupted while it deletes records fails, and the next one goes on") {
    val t = optimized(6)
    val interrupted = new MemoryOps(t.fs) {
      override def delete(path: Path): Unit =
        if (path.getName.startsWith("_v0000000003")) throw new InterruptedIOException("interrupted")
        else super.delete(path)
    }
    intercept[InterruptedIOException](t.vacuum(interrupted, "op-90"))
    assert(versions(t) == (6L to 3L by -1L))
    t.vacuum(ops(t), "op-91")
    assert(versions(t) == Seq(6L))
  }

  test("a record that cannot be deleted stays with its mark and with those after it, and VACUUM does not fail") {
    val t = optimized(6)
    def stuck(end: String) = new MemoryOps(t.fs) {
      override def delete(path: Path): Unit =
        if (path.getName.startsWith("_v0000000003") && path.getName.endsWith(end)) throw new IOException("stuck")
        else super.delete(path)
    }
    def areLeft = versions(t) == (6L to 3L by -1L) && t.history.forall(_.state == "vacuumed")
    t.vacuum(stuck("vacuumed"), "op-90")
    assert(areLeft)
    // As on an object store, where a record may have both names.
    val marked = new Path(folder(t).side, names(t).find(_.startsWith("_v0000000003")).get)
    val unmarked = new Path(folder(t).side, marked.getName.replace("vacuumed", "json"))
    ops(t).writeNew(unmarked, ops(t).read(marked, 1L << 20))
    t.vacuum(stuck("json"), "op-91")
    assert(areLeft && ops(t).exists(marked))
    t.vacuum(ops(t), "op-92")
    assert(versions(t) == Seq(6L) && t.litter.isEmpty)
  }

  test("the newest OPTIMIZE of the whole table, and the newest with the place of a partition, are not forgotten") {
    val t = optimized(1)
    def move(to: String, day: String) =
      LocationChange(CatalogPartition(Vector("day" -> day)), "mem:/t/old", to, Seq(InputFile("x", 1, 1, 1)), Nil)
    def put(version: Long, layout: Option[String], moves: LocationChange*): Unit = {
      val isOfPart = layout.forall(_ == "part")
      val parameters = if (isOfPart) Map("predicate" -> "day = 1") else Map.empty[String, String]
      val record = t.history.last.record
        .copy(version = version, operationId = s"op-$version", layout = layout, parameters = parameters)
      val bytes =
        RecordJson.write(if (moves.isEmpty) record
        else record.copy(locationChanges = moves, way = CommitProtocol.Catalog))
      t.fs.nodes(s"/t/_zorder/_v000000000$version-1ms.json") = File(bytes.length.toLong, t.fs.clock, Set.empty, bytes)
    }
    put(2, Some("old"), move("mem:/t/a", "1"), move("mem:/t/b", "2"))
    put(3, Some("new"))
    put(4, None, move("mem:/t/c", "2"))
    put(5, Some("part"))
    put(6, None)
    put(7, None)
    t.vacuum(ops(t), "op-90")
    assert(versions(t) == Seq(7L, 4L, 3L, 2L))
  }

  test("at no moment does the history lack an operation that is not forgotten, or restore from half a trash") {
    val t = optimized(6)
    def trash(version: Long): Int =
      t.fs.below("/t").count(p => p.contains(f"/_v$version%010d-") && p.endsWith(".retired"))
    t.fs.changed = () => {
      assert((3 to 6).map(n => (6L to 7L - n by -1L)).contains(versions(t)))
      t.history.filter(_.state == "committed").foreach(e => assert(trash(e.record.version) > 0, e.record.version))
    }
    t.vacuum(ops(t), "op-91", _.version <= 3)
    assert(t.history.map(_.state) == Seq.fill(3)("committed"))
  }

  test("a reader that lists the folder before VACUUM deletes records, and reads afterwards, sees the others") {
    // At each call of the reader, another process deletes records.
    for (at <- 1 to 9) {
      val t = optimized(6)
      t.historySettings = small.copy(maxOperations = 3)
      val reader = new MemoryOps(t.fs, other = { case `at` => t.vacuum(ops(t), "op-91") })
      val read = History.newestFirst(TableFolder(t.root, reader)).map(_.record.version).toList
      assert(read == (6L to 7L - read.size by -1L) && read.size >= 3, s"at call $at")
    }
  }

  test("the newest operations are known without older ones") {
    val t = optimized(60)
    val reading = ops(t)
    assert(History.newestFirst(TableFolder(t.root, reading)).take(16).map(_.record.version).toList.last == 45L)
    assert(reading.trace.count(_.startsWith("read")) == 16)
  }

  test("RESTORE does not go to the version before a vacuumed one") {
    val t = optimized(6)
    t.historySettings = HistorySettings()
    t.vacuum(ops(t), "op-90", _.version == 3)
    assert(refused(t, 2).obstacle == RestoreObstacle.Gone)
    val before = t.files
    t.restore(ops(t), 3, "op-7")
    assert(t.files.forall(_.contains("new-op-3")))
    t.restore(ops(t), 6, "op-8")
    assert(t.files == before && t.fs.visibleRows == t.allRows)
  }

  test("RESTORE does not go back over an operation that is forgotten") {
    val t = optimized(6)
    t.historySettings = small.copy(maxOperations = 2)
    t.vacuum(ops(t), "op-90", _.version <= 5)
    assert(versions(t) == Seq(6L, 5L))
    val e = refused(t, 2)
    assert(e.obstacle == RestoreObstacle.Forgotten && e.paths == Seq("version 4", "version 3"))
    t.restore(ops(t), 5, "op-7")
    assert(t.fs.visibleRows == t.allRows)
  }

  test("operations whose trash RESTORE has emptied are forgotten with it") {
    val t = optimized(3)
    t.restore(ops(t), 1, "op-4")
    assert(t.history.map(_.state) == Seq("committed", "restored", "restored", "committed"))
    t.optimize(ops(t), "op-5")
    // Together they tell where rows went.
    t.vacuum(ops(t), "op-91", _.version <= 3)
    assert(versions(t) == (5L to 2L by -1L))
    t.vacuum(ops(t), "op-92", _.version <= 4)
    assert(versions(t) == Seq(5L))
    t.restore(ops(t), 4, "op-6")
    assert(t.fs.visibleRows == t.allRows)
  }

  test("the names that RESTORE gives are known") {
    val t = optimized(1)
    t.fs.put("/t/p=1/part-1.parquet", Set(900), 5L)
    t.restore(ops(t), 0, "op-2")
    val (renamed, others) = t.files.partition(f => RestorePlan.isRenamed(FileNames.name(f)))
    assert(renamed.size == 1 && others == Seq("p=1/part-1.parquet"))
    assert(RestorePlan.isRenamed("part-0-restored-11111111-2222-4333-8444-555555555555-0.c000.parquet"))
    assert(!RestorePlan.isRenamed("part-0.parquet") && !RestorePlan.isRenamed("restored.parquet"))
  }

  test("a damaged record stays, and is part of the history again once it is repaired") {
    val t = optimized(4)
    val broken = s"/t/_zorder/${names(t).find(_.startsWith("_v0000000002")).get}"
    val file = t.fs.file(broken).get
    t.fs.nodes(broken) = file.copy(bytes = "{".getBytes(UTF_8))
    t.vacuum(ops(t), "op-90")
    assert(t.fs.nodes.contains(broken) && versions(t) == Seq(4L))
    t.fs.nodes(broken) = file
    assert(versions(t) == Seq(4L, 2L))
  }

  test("VACUUM frees a full disk, too") {
    for (k <- 1 to 40) {
      val t = optimized(6)
      t.attempt("op-7")(t.vacuum(new MemoryOps(t.fs, k, Fault.DiskFull), "op-7"))
      if (k > 4) assert(!t.fs.below("/t").exists(_.endsWith(".retired")), s"full from call $k on")
      assert(t.litter.isEmpty)
      t.vacuum(ops(t), "op-8")
      assert(versions(t) == Seq(6L))
    }
  }

  private def back(t: SmallTable, reading: MemoryOps): Seq[Reappeared] = TableState.look(t.root, reading) match {
    case s: TableState.SideFolder => Reappeared.find(s, t.files)
    case TableState.NoSideFolder  => Nil
  }

  test("files under names that were retired lately are noticed, but not those that RESTORE brought back") {
    val t = optimized(4)
    assert(back(t, ops(t)).isEmpty)
    t.fs.put("/t/p=1/other.parquet", Set(900), 5L)
    assert(back(t, ops(t)).isEmpty)
    t.fs.put("/t/p=1/part-1.parquet", Set(901), 5L)
    t.fs.put("/t/p=1/new-op-2-1.parquet", Set(902), 5L)
    assert(back(t, ops(t)) == Seq(Reappeared("p=1/part-1.parquet", 1), Reappeared("p=1/new-op-2-1.parquet", 3)))
    // All files that we wrote there were replaced, so no row is there twice.
    val mine = t.files.filter(_.contains("new-op-4")).map(n => s"/t/$n" -> t.fs.nodes(s"/t/$n"))
    mine.foreach(m => t.fs.nodes.remove(m._1))
    assert(back(t, ops(t)).isEmpty)
    t.fs.nodes ++= mine
    t.optimize(ops(t), "op-5")
    assert(back(t, ops(t)).isEmpty)
    t.restore(ops(t), 4, "op-6")
    t.restore(ops(t), 5, "op-7")
    assert(back(t, ops(t)).isEmpty)
  }

  test("the search for retired names reads no more than the newest 16 records") {
    val t = optimized(40)
    t.fs.put("/t/p=1/new-op-20-1.parquet", Set(900), 5L)
    t.fs.put("/t/p=1/new-op-30-1.parquet", Set(901), 5L)
    val reading = ops(t)
    assert(back(t, reading).map(_.version) == Seq(31L))
    val read = reading.trace.filter(_.startsWith("read"))
    assert(read.size <= 16 && read.forall(_.contains("/_v00000000")))
    // A file whose writer is the newest operation needs one record.
    Seq("20", "30").foreach(i => t.fs.nodes.remove(s"/t/p=1/new-op-$i-1.parquet"))
    val again = ops(t)
    assert(back(t, again).isEmpty && again.trace.count(_.startsWith("read")) <= 1)
  }

  test("an operation that was undone is in the history with its reason") {
    val t = new SmallTable(Seq(""))
    val rival = new MemoryOps(
      t.fs,
      other = {
        case _ if t.fs.file("/t/part-3.parquet").exists(_.length == 100L) && t.isPublishing =>
          t.fs.put("/t/part-3.parquet", Set(900), 5L)
      }
    )
    assert(t.attempt(rival).exists(_.isInstanceOf[CommitConflictException]))
    t.optimize(ops(t), "op-2")
    assert(History.undone(folder(t)).size == 1)
    val undone = History.undone(folder(t)).head
    assert(undone.record.operationId == "op-1" && undone.record.version == 1 && undone.state == "undone")
    assert(undone.outcome.exists(o => o.reason.contains("part-3.parquet") && o.by.isEmpty))
    assert(t.history.map(_.record.operationId) == Seq("op-2") && t.litter.isEmpty)
    // Its record is removed after seven days.
    t.fs.clock += 8 * day
    t.optimize(ops(t), "op-3")
    assert(History.undone(folder(t)).isEmpty && !names(t).exists(_.endsWith(".outcome")))
  }

  test("the history says that another process finished an operation") {
    var finished = 0
    for (k <- 1 to 200) {
      val t = new SmallTable(Seq("p=1"), 2)
      t.attempt(new MemoryOps(t.fs, k, Fault.DieAfter))
      if (t.isPublishing) {
        assert(t.recover(ops(t)).isEmpty)
        val outcome = (t.history ++ History.undone(folder(t))).head.outcome
        assert(outcome.exists(o => o.reason.contains("died") && o.by.exists(_.contains("RECOVER"))))
        finished += 1
        if (finished == 1) {
          t.historySettings = small
          for (i <- 2 to 4) t.optimize(ops(t), s"op-$i")
          t.vacuum(ops(t), "op-90")
          t.fs.clock += 8 * day
          t.optimize(ops(t), "op-5")
          assert(!names(t).exists(_.endsWith(".outcome")))
        }
      }
    }
    assert(finished > 5)
  }

  test("VACUUM finds the trash of a moved partition, and leaves trash that no record names") {
    val t = new SmallTable(Seq("p=1", "p=2"))
    t.optimize(ops(t))
    val copied = t.fs.below("/t/p=1").map(p => p.replace("/t/p=1/", "/t/p=9/") -> t.fs.nodes(p))
    t.vacuum(ops(t), "op-3")
    t.fs.nodes("/t/p=9") = Dir
    t.fs.nodes ++= copied
    t.fs.put("/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired", Set(1), 5L)
    def retired = t.fs.below("/t").filter(_.endsWith(".retired"))
    assert(retired.count(_.startsWith("/t/p=9/")) == 4)
    val lock = Locking.acquire(folder(t), "op-4", t.settings)
    Trash.vacuum(folder(t), lock, Trash.expired(folder(t), _ => true, Seq("p=2", "p=9")))
    lock.release()
    assert(retired == Seq("/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired"))
  }

  test("a version that is forgotten was published, unless it was undone, or records are missing for another reason") {
    val t = optimized(20)
    t.historySettings = HistorySettings(maxOperations = 1)
    t.vacuum(ops(t), "op-90")
    assert(versions(t) == (20L to 5L by -1L))
    def isPublished(version: Long) = SideListing.isPublished(ops(t).list(folder(t).side), version)
    assert((1L to 20L).forall(isPublished) && !isPublished(21))
    t.fs.put("/t/_zorder/_v0000000003-op-3.undone", Set.empty, 1L)
    assert(!isPublished(3))
    t.fs.nodes.remove(t.fs.below("/t/_zorder").find(_.contains("_v0000000019")).get)
    assert(!isPublished(19))
  }

  test("cached records are counted by their files") {
    val cache = new RecordCache(100)
    def record(files: Int) = Record(
      1L,
      "op",
      "OPTIMIZE",
      5L,
      "user",
      Map.empty,
      Map.empty,
      (1 to files).map(i => InputFile(s"a-$i", 1L, 1L, 1L)),
      Nil
    )
    def meta(n: Int) = FileMeta(new Path(s"/t/$n"), 1, 1, isDirectory = false)
    for (n <- 1 to 20) cache.put(meta(n), record(10))
    assert(cache.size == 5 && cache.get(meta(20)).isDefined && cache.get(meta(15)).isEmpty)
    cache.put(meta(21), record(1000))
    assert(cache.size == 1 && cache.get(meta(21)).isDefined)
    cache.put(meta(22), record(1))
    assert(cache.size == 1 && cache.get(meta(22)).isDefined)
  }
}
