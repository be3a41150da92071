package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.log.{
  History,
  HistoryLine,
  HistoryLines,
  HistorySettings,
  Reappeared,
  RecordCache,
  RecordJson,
  TableState
}
import org.sparkzorder.commit.side.SideFolders
import org.sparkzorder.commit.upkeep.{RestorePlan, Trash}

/**
 * VACUUM makes lines of records. No part of the history is lost before its time, and little is read.
 */
class HistorySuite extends AnyFunSuite {
  private val small = HistorySettings(whole = 1)
  private val day = 24L * 3600 * 1000

  private def ops(t: SmallTable) = new MemoryOps(t.fs)

  private def folder(t: SmallTable) = TableFolder(t.root, ops(t), threads = 1)

  private def names(t: SmallTable): Seq[String] = t.fs.children("/t/_zorder").map(FileNames.name)

  private def records(t: SmallTable): Seq[Long] =
    SideListing.records(ops(t).list(folder(t).side)).filter(_.state.isPublished).map(_.version)

  private def histories(t: SmallTable): Seq[String] = names(t).filter(_.startsWith("_history-"))

  private def versions(t: SmallTable): Seq[Long] = t.history.map(_.record.version)

  private def optimized(operations: Int, settings: HistorySettings = small): SmallTable = {
    val t = new SmallTable(Seq("p=1"), 1)
    t.historySettings = settings
    for (i <- 1 to operations) t.optimize(ops(t), s"op-$i")
    t
  }

  private def refused(t: SmallTable, to: Long): NotRestorableException =
    intercept[NotRestorableException](t.restore(ops(t), to, "op-99"))

  test("after VACUUM the side folder has few files, and the history all operations in order") {
    val t = optimized(60, HistorySettings())
    assert(records(t).size == 60 && histories(t).isEmpty)
    t.vacuum(ops(t), "op-90", _.version <= 50)
    assert(records(t) == (60L to 45L by -1L) && histories(t) == Seq("_history-0000000001.jsonl"))
    assert(versions(t) == (60L to 1L by -1L))
    assert(t.history.map(_.record.operationId) == (60 to 1 by -1).map(i => s"op-$i"))
    assert(t.history.forall(e => e.publishMillis.isDefined && e.time > 0))
    assert(t.history.map(_.state) == Seq.fill(10)("committed") ++ Seq.fill(50)("vacuumed"))
    val lines = t.fs.file("/t/_zorder/_history-0000000001.jsonl").get.bytes
    assert(new String(lines, UTF_8).linesIterator.size == 44 && !new String(lines, UTF_8).contains("parquet"))
    assert(t.litter.isEmpty)
  }

  test("the next VACUUM writes all lines to a file with the next number") {
    val t = optimized(3)
    for (i <- 4 to 8) {
      t.vacuum(ops(t), s"op-9$i")
      assert(records(t) == Seq(i - 1L) && histories(t) == Seq(f"_history-${i - 3}%010d.jsonl"))
      t.optimize(ops(t), s"op-$i")
      assert(versions(t) == (i.toLong to 1L by -1L))
    }
    // Without anything to do it writes nothing.
    t.vacuum(ops(t), "op-98", _ => false)
    val before = histories(t)
    t.vacuum(ops(t), "op-99", _ => false)
    assert(histories(t) == before)
  }

  test("a record stays a file as long as its trash is there, however old it is") {
    val t = optimized(6)
    t.vacuum(ops(t), "op-90", _.version != 3)
    assert(records(t) == Seq(6L, 3L) && versions(t) == (6L to 1L by -1L))
    assert(t.history.map(_.state) == Seq.fill(3)("vacuumed") ++ Seq("committed") ++ Seq.fill(2)("vacuumed"))
    t.fs.clock += 400 * day
    t.optimize(ops(t), "op-7")
    t.historySettings = small.copy(maxOperations = 1)
    t.vacuum(ops(t), "op-91", _.version > 3)
    assert(records(t) == Seq(7L, 3L))
    t.vacuum(ops(t), "op-92")
    assert(records(t) == Seq(7L))
  }

  test("a VACUUM forgets operations that are too many or too old") {
    def left(settings: HistorySettings): Seq[Long] = {
      val t = optimized(4)
      t.vacuum(ops(t), "op-90")
      t.fs.clock += 31 * day
      for (i <- 5 to 8) t.optimize(ops(t), s"op-$i")
      t.historySettings = settings
      t.vacuum(ops(t), "op-91")
      versions(t)
    }
    val long = 40 * day
    assert(left(small) == Seq(8L, 7L, 6L, 5L))
    assert(left(small.copy(retentionMillis = long)) == (8L to 1L by -1L))
    assert(left(small.copy(retentionMillis = long, maxOperations = 6)) == (8L to 3L by -1L))
    // The newest line stays, since no version before it can be restored.
    assert(left(small.copy(maxOperations = 1)) == Seq(8L, 7L))
  }

  test("the newest lines with a layout, and with the place of a partition, are not forgotten") {
    val t = optimized(1)
    def move(to: String, day: String) =
      LocationChange(CatalogPartition(Vector("day" -> day)), "mem:/t/old", to, Seq(InputFile("x", 1, 1, 1)), Nil)
    def put(version: Long, layout: Option[String], moves: LocationChange*): Unit = {
      val record = t.history.last.record.copy(version = version, operationId = s"op-$version", layout = layout)
      val bytes =
        RecordJson.write(if (moves.isEmpty) record else record.copy(locationChanges = moves, way = Way.Catalog))
      t.fs.nodes(s"/t/_zorder/_v000000000$version-1ms.json") = File(bytes.length.toLong, t.fs.clock, Set.empty, bytes)
    }
    put(2, Some("old"), move("mem:/t/a", "1"), move("mem:/t/b", "2"))
    put(3, Some("new"))
    put(4, None, move("mem:/t/c", "2"))
    put(5, None)
    put(6, None)
    put(7, None)
    t.historySettings = small.copy(maxOperations = 1)
    t.vacuum(ops(t), "op-90")
    assert(records(t) == Seq(7L) && versions(t) == Seq(7L, 6L, 4L, 3L, 2L))
    val lines = t.history.tail
    assert(lines.find(_.record.layout.isDefined).map(_.record.layout) == Some(Some("new")))
    assert(lines.flatMap(_.record.locationChanges).map(s => s.to -> s.inputs.size) ==
      Seq("mem:/t/c" -> 0, "mem:/t/a" -> 0, "mem:/t/b" -> 0))
  }

  test("at no moment does the history lack an operation, name one twice, or restore from half a trash") {
    val t = optimized(6)
    t.vacuum(ops(t), "op-90", _.version <= 2)
    def trash(version: Long): Int =
      t.fs.below("/t").count(p => p.contains(f"/_v$version%010d-") && p.endsWith(".retired"))
    t.fs.changed = () => {
      assert(versions(t) == (6L to 1L by -1L))
      t.history.filter(_.state == "committed").foreach(e => assert(trash(e.record.version) > 0, e.record.version))
    }
    t.vacuum(ops(t), "op-91", _.version != 3)
    assert(t.history.map(_.state) == Seq.fill(3)("vacuumed") ++ Seq("committed") ++ Seq.fill(2)("vacuumed"))
  }

  test("a reader that lists the folder before VACUUM makes lines, and reads afterwards, sees each operation once") {
    val t = optimized(5)
    t.vacuum(ops(t), "op-90", _.version <= 2)
    // At each call of the reader, another process makes lines.
    for (at <- 1 to 9) {
      val copy = t.copy
      copy.historySettings = small
      val reader = new MemoryOps(copy.fs, other = { case `at` => copy.vacuum(ops(copy), "op-91") })
      val read = History.newestFirst(TableFolder(copy.root, reader)).map(_.record.version).toList
      assert(read == List(5L, 4L, 3L, 2L, 1L), s"at call $at")
    }
  }

  test("a history of many lines takes hardly longer than the reading of its file", InRest) {
    val (t, lines) = (optimized(1), 60000)
    val record = t.history.head.record
    def put(name: String, bytes: Array[Byte]): Unit =
      t.fs.nodes(s"/t/_zorder/$name") = File(bytes.length.toLong, 1L, Set.empty, bytes)
    put(f"_v${lines + 1}%010d-1ms.json", RecordJson.write(record.copy(version = lines + 1L)))
    val texts = (lines to 1 by -1).map { i =>
      new String(RecordJson.writeLine(HistoryLine(record.copy(version = i.toLong), None, 1L, None)), UTF_8).trim
    }
    put("_history-0000000001.jsonl", texts.mkString("\n").getBytes(UTF_8))
    def millis(work: => Int): Long = {
      val started = System.nanoTime()
      assert(work >= lines)
      (System.nanoTime() - started) / 1000000
    }
    def read = HistoryLines.read(folder(t), () => ops(t).list(folder(t).side)).size
    millis(read)
    val alone = millis(read)
    val whole = millis(versions(t).size)
    assert(whole < 3 * alone + 500)
  }

  test("the newest operations, and the version, are known without the lines") {
    val t = optimized(60, HistorySettings())
    t.vacuum(ops(t), "op-90")
    val reading = ops(t)
    assert(History.newestFirst(TableFolder(t.root, reading)).take(16).map(_.record.version).toList.last == 45L)
    assert(
      reading.trace.count(_.startsWith("read")) == 16 && !reading.trace.exists(_.contains("read mem:/t/_zorder/_hi"))
    )
    assert(TableState.look(t.root, reading) match {
      case s: TableState.SideFolder => s.version == 60L && s.history.isDefined
      case TableState.NoSideFolder  => false
    })
  }

  test("RESTORE goes to no version that is a line, nor across one") {
    val t = optimized(6)
    t.vacuum(ops(t), "op-90", _.version == 3)
    assert(records(t) == Seq(6L, 5L, 4L, 2L, 1L))
    for (to <- 0L to 2L) {
      val e = refused(t, to)
      assert(e.obstacle == RestoreObstacle.Gone && e.paths == Seq("files of version 3"))
    }
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

  test("operations whose trash RESTORE has emptied become lines with it") {
    val t = optimized(3)
    t.restore(ops(t), 1, "op-4")
    assert(t.history.map(_.state) == Seq("committed", "restored", "restored", "committed"))
    t.optimize(ops(t), "op-5")
    t.vacuum(ops(t), "op-90", _ => false)
    assert(records(t) == (5L to 1L by -1L))
    // Together they tell where rows went.
    t.vacuum(ops(t), "op-91", _.version <= 3)
    assert(records(t) == (5L to 2L by -1L))
    t.vacuum(ops(t), "op-92", _.version <= 4)
    assert(records(t) == Seq(5L) && t.history.map(_.state) == "committed" +: Seq.fill(4)("vacuumed"))
    t.restore(ops(t), 4, "op-6")
    assert(t.fs.visibleRows == t.allRows)
  }

  test("the newest RESTORE is not forgotten") {
    val t = optimized(2)
    t.restore(ops(t), 1, "op-3")
    for (i <- 4 to 7) t.optimize(ops(t), s"op-$i")
    t.historySettings = small.copy(maxOperations = 1)
    t.vacuum(ops(t), "op-90")
    assert(versions(t) == Seq(7L, 6L, 3L))
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

  test("a damaged line costs its operation, and no version is given again or restored over it") {
    val t = optimized(4)
    t.vacuum(ops(t), "op-90")
    val path = s"/t/_zorder/${histories(t).head}"
    val file = t.fs.file(path).get
    for (i <- file.bytes.indices) {
      t.fs.nodes(path) = file.copy(bytes = file.bytes.updated(i, (file.bytes(i) ^ 1).toByte))
      assert(versions(t).startsWith(Seq(4L)) && versions(t).toSet.subsetOf((1L to 4L).toSet), s"byte $i")
      assert(t.history.size >= 2, s"byte $i")
    }
    t.fs.nodes(path) = file.copy(bytes = file.bytes.take(file.bytes.length / 2))
    val e = refused(t, 0)
    assert(Seq(RestoreObstacle.Forgotten, RestoreObstacle.Gone).contains(e.obstacle))
    for (bytes <- Seq(Array.emptyByteArray, "{}\n\n[1]\nnull\n".getBytes(UTF_8), Array.fill[Byte](99)(-1))) {
      t.fs.nodes(path) = file.copy(bytes = bytes)
      assert(versions(t) == Seq(4L) && refused(t, 0).obstacle == RestoreObstacle.Forgotten)
    }
    t.optimize(ops(t), "op-5")
    assert(versions(t) == Seq(5L, 4L))
    t.vacuum(ops(t), "op-91")
    // The damaged file stays: it may be possible to repair it.
    assert(versions(t) == Seq(5L, 4L))
    assert(histories(t).sorted == Seq("_history-0000000001.jsonl", "_history-0000000002.jsonl"))
  }

  test("the highest readable number counts") {
    val t = optimized(4)
    t.vacuum(ops(t), "op-90")
    val file = t.fs.file(s"/t/_zorder/${histories(t).head}").get
    t.fs.nodes("/t/_zorder/_history-0000000007.jsonl") = file.copy(bytes = "{".getBytes(UTF_8))
    t.fs.nodes("/t/_zorder/_history-0000000008.jsonl") = Dir
    assert(versions(t) == (4L to 1L by -1L))
    t.optimize(ops(t), "op-5")
    t.vacuum(ops(t), "op-91")
    assert(versions(t) == (5L to 1L by -1L) && histories(t).sorted.last == "_history-0000000008.jsonl")
  }

  test("a damaged record stays a file, and is part of the history again once it is repaired") {
    val t = optimized(4)
    val broken = s"/t/_zorder/${names(t).find(_.startsWith("_v0000000002")).get}"
    val file = t.fs.file(broken).get
    t.fs.nodes(broken) = file.copy(bytes = "{".getBytes(UTF_8))
    t.vacuum(ops(t), "op-90")
    assert(t.fs.nodes.contains(broken) && versions(t) == Seq(4L, 3L, 1L))
    t.fs.nodes(broken) = file
    assert(versions(t) == Seq(4L, 3L, 2L, 1L))
  }

  test("VACUUM frees a full disk, too") {
    for (k <- 1 to 40) {
      val t = optimized(6)
      t.attempt("op-7")(t.vacuum(new MemoryOps(t.fs, k, Fault.DiskFull), "op-7"))
      if (k > 4) assert(!t.fs.below("/t").exists(_.endsWith(".retired")), s"full from call $k on")
      assert(t.litter.isEmpty)
      assert(versions(t) == (6L to 1L by -1L))
      t.vacuum(ops(t), "op-8")
      assert(records(t) == Seq(6L) && versions(t) == (6L to 1L by -1L))
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

  test("the search for retired names reads no more than the newest 16 records, and no line") {
    val t = optimized(40, HistorySettings())
    t.vacuum(ops(t), "op-90", _.version <= 12)
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

  test("the history says that another process finished an operation, also in a line") {
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
          assert(!names(t).exists(_.endsWith(".outcome")) && t.history.last.outcome == outcome)
        }
      }
    }
    assert(finished > 5)
  }

  test("VACUUM finds the trash of a moved partition, also by a line, and leaves trash that no record names") {
    val t = new SmallTable(Seq("p=1", "p=2"))
    t.historySettings = small
    t.optimize(ops(t))
    val copied = t.fs.below("/t/p=1").map(p => p.replace("/t/p=1/", "/t/p=9/") -> t.fs.nodes(p))
    t.optimize(ops(t), "op-2")
    t.vacuum(ops(t), "op-3")
    assert(records(t) == Seq(2L))
    t.fs.nodes("/t/p=9") = Dir
    t.fs.nodes ++= copied
    t.fs.put("/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired", Set(1), 5L)
    def retired = t.fs.below("/t").filter(_.endsWith(".retired"))
    assert(retired.count(_.startsWith("/t/p=9/")) == 4)
    val lock = Locking.acquire(folder(t), "op-4", t.settings)
    Trash.vacuum(folder(t), lock, Trash.expired(folder(t), _ => true, Seq("p=2", "p=9"), small), small)
    lock.release()
    assert(retired == Seq("/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired"))
  }

  test("whether a version was published is known from its line, or from that of a later one") {
    val t = optimized(6)
    t.historySettings = small.copy(maxOperations = 3)
    t.vacuum(ops(t), "op-90")
    assert(versions(t) == Seq(6L, 5L, 4L))
    val reading = ops(t)
    val here = TableFolder(t.root, reading)
    def isPublished(version: Long) = HistoryLines.isPublished(here, reading.list(here.side), version)
    assert(isPublished(6) && !isPublished(7) && reading.trace.forall(!_.startsWith("read")))
    assert((1L to 5L).forall(isPublished))
  }

  test("a file of lines is not taken for a record, and begins a table") {
    val meta = FileMeta(folder(new SmallTable(Nil)).history(7), 1, 1, isDirectory = false)
    assert(SideListing.records(Seq(meta)).isEmpty)
    assert(SideListing.histories(Seq(meta)) == Seq(HistoryFile(7, meta)))
    assert(SideFolders.beginsTable(meta))
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
