package org.sparkzorder.commit

import java.io.{IOException, InterruptedIOException}
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.log._
import org.sparkzorder.commit.upkeep.Trash

/** VACUUM deletes old records. No part of the history is lost before its time, and little is read. */
class HistorySuite extends AnyFunSuite with Explorer {
  private val small = HistorySettings(maxOperations = 1, whole = 1)
  private val day = 24L * 3600 * 1000
  private def names(t: SmallTable): Seq[String] = t.fs.children("/t/_zorder").map(FileNames.name)
  private def versions(t: SmallTable): Seq[Long] = t.history.map(_.record.version)
  private def retired(t: SmallTable): Seq[String] = t.fs.below("/t").filter(_.endsWith(".retired"))

  private def optimized(operations: Int, settings: HistorySettings = small): SmallTable = {
    val t = new SmallTable(Seq("p=1"), 1)
    t.historySettings = settings
    optimize(t, 1 to operations)
    t
  }

  private def optimize(t: SmallTable, ids: Seq[Int]): Unit = ids.foreach(i => t.optimize(id = s"op-$i"))

  private def testOf(operations: Int, settings: HistorySettings = small)(name: String)(body: SmallTable => Any): Unit =
    test(name)(body(optimized(operations, settings)))

  test("VACUUM forgets operations that are too many or too old, but not the newest") {
    val (month, long) = (HistorySettings(whole = 1), HistorySettings(retentionMillis = 40 * day, whole = 1))
    val oldest = Seq(month -> 5L, month.copy(whole = 6) -> 3L, HistorySettings() -> 1L, long -> 1L, small -> 8L)
    for ((settings, last) <- oldest :+ (long.copy(maxOperations = 6) -> 3L)) {
      val t = optimized(4)
      t.fs.clock += 31 * day
      optimize(t, 5 to 8)
      t.historySettings = settings
      t.vacuum(id = "op-91")
      assert(t.litter.isEmpty)
      assert(t.history.forall(e => e.publishMillis.isDefined && e.time > 0 && e.state == "vacuumed"))
      assert(versions(t) == (8L to last by -1L), settings)
    }
  }

  testOf(6)("a record stays as long as its trash is there, however old it is") { t =>
    t.vacuum(t.ops, "op-90", _.version != 3)
    assert(versions(t) == Seq(6L, 3L) && t.history.map(_.state) == Seq("vacuumed", "committed"))
    t.fs.clock += 400 * day
    t.optimize(id = "op-7")
    t.vacuum(t.ops, "op-91", _.version > 3)
    assert(versions(t) == Seq(7L, 3L))
    t.vacuum(id = "op-92")
    val records = SideListing.records(t.ops.list(t.folder.side)).filter(_.state.isPublished)
    assert(versions(t) == Seq(7L) && records.map(_.version) == Seq(7L))
  }

  /** The files of the third record cannot be deleted, if they have this end. */
  private def stuck(t: SmallTable, end: String)(why: => IOException): MemoryOps = new MemoryOps(t.fs) {
    override def delete(path: Path): Unit =
      if (path.getName.startsWith("_v0000000003") && path.getName.endsWith(end)) throw why else super.delete(path)
  }

  testOf(6)("a VACUUM that is interrupted while it deletes records fails, and the next one goes on") { t =>
    val interrupted = stuck(t, "")(new InterruptedIOException("interrupted"))
    intercept[InterruptedIOException](t.vacuum(interrupted, "op-90"))
    assert(versions(t) == (6L to 3L by -1L))
    t.vacuum(id = "op-91")
    assert(versions(t) == Seq(6L))
  }

  testOf(6)("a record that cannot be deleted stays with its mark and those after it, and VACUUM does not fail") { t =>
    def areLeft = versions(t) == (6L to 3L by -1L) && t.history.forall(_.state == "vacuumed")
    t.vacuum(stuck(t, "vacuumed")(new IOException("stuck")), "op-90")
    assert(areLeft)
    // As on an object store, where a record may have both names.
    val marked = new Path(t.folder.side, names(t).find(_.startsWith("_v0000000003")).get)
    val unmarked = new Path(t.folder.side, marked.getName.replace("vacuumed", "json"))
    t.ops.writeNew(unmarked, t.ops.read(marked, 1L << 20))
    t.vacuum(stuck(t, "json")(new IOException("stuck")), "op-91")
    assert(areLeft && t.ops.exists(marked))
    t.vacuum(id = "op-92")
    assert(versions(t) == Seq(6L) && t.litter.isEmpty)
  }

  testOf(1)("the newest OPTIMIZE of the whole table, and the newest of a partition's place, are not forgotten") { t =>
    def move(to: String, day: String) =
      LocationChange(CatalogPartition(Vector("day" -> day)), "mem:/t/old", to, Seq(InputFile("x", 1, 1, 1)), Nil)
    def put(version: Long, layout: Option[String], moves: LocationChange*): Unit = {
      val parameters = if (layout.forall(_ == "part")) Map("predicate" -> "day = 1") else Map.empty[String, String]
      val record = t.history.last.record
        .copy(version = version, operationId = s"op-$version", layout = layout, parameters = parameters)
      val moved = if (moves.isEmpty) record else record.copy(locationChanges = moves, way = CommitProtocol.Catalog)
      val bytes = RecordJson.write(moved)
      t.fs.nodes(s"/t/_zorder/_v000000000$version-1ms.json") = File(bytes.length.toLong, t.fs.clock, Set.empty, bytes)
    }
    put(2, Some("old"), move("mem:/t/a", "1"), move("mem:/t/b", "2"))
    put(3, Some("new"))
    put(4, None, move("mem:/t/c", "2"))
    put(5, Some("part"))
    put(6, None)
    put(7, None)
    t.vacuum(id = "op-90")
    assert(versions(t) == Seq(7L, 4L, 3L, 2L))
  }

  testOf(6)("at no moment does the history lack what is not forgotten") { t =>
    t.fs.changed = () => assert((3 to 6).map(n => (6L to 7L - n by -1L)).contains(versions(t)))
    t.vacuum(t.ops, "op-91", _.version <= 3)
    assert(t.history.map(_.state) == Seq.fill(3)("committed"))
  }

  test("a reader that lists the folder before VACUUM deletes records, and reads afterwards, sees the others") {
    // At each call of the reader, another process deletes records.
    for (at <- 1 to 9) {
      val t = optimized(6, small.copy(maxOperations = 3))
      val reader = t.beside(at)(t.vacuum(id = "op-91"))
      val read = History.newestFirst(TableFolder(t.root, reader)).map(_.record.version).toList
      assert(read == (6L to 7L - read.size by -1L) && read.size >= 3, s"at call $at")
    }
  }

  testOf(60)("the newest operations are known without older ones") { t =>
    val reading = t.ops
    assert(History.newestFirst(TableFolder(t.root, reading)).take(16).map(_.record.version).toList.last == 45L)
    assert(reading.trace.count(_.startsWith("read")) == 16)
  }

  testOf(6, HistorySettings())("RESTORE does not go to the version before a vacuumed one") { t =>
    t.vacuum(t.ops, "op-90", _.version == 3)
    assert(t.refused(2)._1 == RestoreObstacle.Gone)
    val before = t.files
    t.restore(to = 3, id = "op-7")
    assert(t.files.forall(_.contains("new-op-3")))
    t.restore(to = 6, id = "op-8")
    assert(t.files == before && t.fs.visibleRows == t.allRows)
  }

  testOf(6, small.copy(maxOperations = 2))("RESTORE does not go back over an operation that is forgotten") { t =>
    t.vacuum(t.ops, "op-90", _.version <= 5)
    assert(versions(t) == Seq(6L, 5L))
    assert(t.refused(2) == (RestoreObstacle.Forgotten -> Seq("version 4", "version 3")))
    t.restore(to = 5, id = "op-7")
    assert(t.fs.visibleRows == t.allRows)
  }

  testOf(3)("operations whose trash RESTORE has emptied are forgotten with it") { t =>
    t.restore(to = 1, id = "op-4")
    assert(t.history.map(_.state) == Seq("committed", "restored", "restored", "committed"))
    t.optimize(id = "op-5")
    // Together they tell where rows went.
    t.vacuum(t.ops, "op-91", _.version <= 3)
    assert(versions(t) == (5L to 2L by -1L))
    t.vacuum(t.ops, "op-92", _.version <= 4)
    assert(versions(t) == Seq(5L))
    t.restore(to = 4, id = "op-6")
    assert(t.fs.visibleRows == t.allRows)
  }

  testOf(4)("a damaged record stays, and is part of the history again once it is repaired") { t =>
    val broken = s"/t/_zorder/${names(t).find(_.startsWith("_v0000000002")).get}"
    val file = t.fs.file(broken).get
    t.fs.nodes(broken) = file.copy(bytes = "{".getBytes(UTF_8))
    t.vacuum(id = "op-90")
    assert(t.fs.nodes.contains(broken) && versions(t) == Seq(4L))
    t.fs.nodes(broken) = file
    assert(versions(t) == Seq(4L, 2L))
  }

  test("VACUUM frees a full disk, too") {
    for (k <- 1 to 40) {
      val t = optimized(6)
      t.attempt("op-7")(t.vacuum(t.faulty(k, Fault.DiskFull), "op-7"))
      if (k > 4) assert(retired(t).isEmpty, s"full from call $k on")
      assert(t.litter.isEmpty)
      t.vacuum(id = "op-8")
      assert(versions(t) == Seq(6L))
    }
  }

  private def back(t: SmallTable, reading: MemoryOps): Seq[Reappeared] = TableState.look(t.root, reading) match {
    case s: TableState.SideFolder => Reappeared.find(s, t.files)
    case TableState.NoSideFolder  => Nil
  }

  testOf(4)("files under names that were retired lately are noticed, but not those that RESTORE brought back") { t =>
    def isNoneBack = back(t, t.ops).isEmpty
    assert(isNoneBack)
    t.fs.put("/t/p=1/other.parquet", Set(900), 5L)
    assert(isNoneBack)
    t.fs.put("/t/p=1/part-1.parquet", Set(901), 5L)
    t.fs.put("/t/p=1/new-op-2-1.parquet", Set(902), 5L)
    assert(back(t, t.ops) == Seq(Reappeared("p=1/part-1.parquet", 1), Reappeared("p=1/new-op-2-1.parquet", 3)))
    // All files that we wrote there were replaced, so no row is there twice.
    val mine = t.files.filter(_.contains("new-op-4")).map(n => s"/t/$n" -> t.fs.nodes(s"/t/$n"))
    mine.foreach(m => t.fs.nodes.remove(m._1))
    assert(isNoneBack)
    t.fs.nodes ++= mine
    t.optimize(id = "op-5")
    assert(isNoneBack)
    t.restore(to = 4, id = "op-6")
    t.restore(to = 5, id = "op-7")
    assert(isNoneBack)
  }

  testOf(40)("the search for retired names reads no more than the newest 16 records") { t =>
    t.fs.put("/t/p=1/new-op-20-1.parquet", Set(900), 5L)
    t.fs.put("/t/p=1/new-op-30-1.parquet", Set(901), 5L)
    val reading = t.ops
    assert(back(t, reading).map(_.version) == Seq(31L))
    val read = reading.trace.filter(_.startsWith("read"))
    assert(read.size <= 16 && read.forall(_.contains("/_v00000000")))
    // A file whose writer is the newest operation needs one record.
    Seq("20", "30").foreach(i => t.fs.nodes.remove(s"/t/p=1/new-op-$i-1.parquet"))
    val again = t.ops
    assert(back(t, again).isEmpty && again.trace.count(_.startsWith("read")) <= 1)
  }

  test("an operation that was undone is in the history with its reason") {
    val t = new SmallTable(Seq(""))
    def isReady = t.fs.file("/t/part-3.parquet").exists(_.length == 100L) && t.isPublishing
    val rival = new MemoryOps(t.fs, other = { case _ if isReady => t.fs.put("/t/part-3.parquet", Set(900), 5L) })
    assert(t.attempt(rival).exists(_.isInstanceOf[CommitConflictException]))
    t.optimize(id = "op-2")
    val Seq(undone) = History.undone(t.folder): @unchecked
    assert(undone.record.operationId == "op-1" && undone.record.version == 1 && undone.state == "undone")
    assert(undone.outcome.exists(o => o.reason.contains("part-3.parquet") && o.by.isEmpty))
    assert(t.history.map(_.record.operationId) == Seq("op-2") && t.litter.isEmpty)
    // Its record is removed after seven days.
    t.fs.clock += 8 * day
    t.optimize(id = "op-3")
    assert(History.undone(t.folder).isEmpty && !names(t).exists(_.endsWith(".outcome")))
  }

  test("the history says that another process finished an operation, and how long files were being exchanged") {
    var finished = 0
    for (k <- 1 to 200) {
      val t = new SmallTable(Seq("p=1"), 2)
      t.attempt(t.faulty(k, Fault.DieAfter))
      if (t.isPublishing) {
        t.fs.clock += 5000
        assert(t.recover().isEmpty)
        val entry = t.history.head
        assert(entry.outcome.exists(o => o.reason.contains("died") && o.by.exists(_.contains("RECOVER"))))
        // The clock in memory goes on by a millisecond with each call.
        assert(entry.publishMillis.exists(m => m >= 5000 && m < 5000 + 150))
        finished += 1
        if (finished == 1) {
          t.historySettings = small
          optimize(t, 2 to 4)
          t.vacuum(id = "op-90")
          t.fs.clock += 8 * day
          t.optimize(id = "op-5")
          assert(!names(t).exists(_.endsWith(".outcome")))
        }
      }
    }
    assert(finished > 10)
  }

  test("VACUUM finds the trash of a moved partition, and leaves trash that no record names") {
    val t = new SmallTable(Scene.Two)
    t.optimize()
    t.fs.copy("/t/p=1", "/aside", keepsTimes = true)
    t.vacuum(id = "op-3")
    t.fs.move("/aside", "/t/p=9")
    val foreign = "/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired"
    t.fs.put(foreign, Set(1), 5L)
    assert(retired(t).count(_.startsWith("/t/p=9/")) == 4)
    val lock = Locking.acquire(t.folder, "op-4", t.settings)
    Trash.vacuum(t.folder, lock, Trash.expired(t.folder, _ => true, Seq("p=2", "p=9")))
    lock.release()
    assert(retired(t) == Seq(foreign))
  }

  test("a version that is forgotten was published, unless it was undone, or records are missing for another reason") {
    val t = optimized(20, HistorySettings(maxOperations = 1))
    t.vacuum(id = "op-90")
    assert(versions(t) == (20L to 5L by -1L))
    def isPublished(version: Long) = SideListing.isPublished(t.ops.list(t.folder.side), version)
    assert((1L to 20L).forall(isPublished) && !isPublished(21))
    t.fs.put("/t/_zorder/_v0000000003-op-3.undone", Set.empty, 1L)
    assert(!isPublished(3))
    t.fs.nodes.remove(t.fs.below("/t/_zorder").find(_.contains("_v0000000019")).get)
    assert(!isPublished(19))
  }

  test("cached records are counted by their files") {
    val cache = new RecordCache(100)
    def put(n: Int, files: Int): Unit = {
      val inputs = (1 to files).map(i => InputFile(s"a-$i", 1L, 1L, 1L))
      cache.put(meta(n), Record(1L, "op", "OPTIMIZE", 5L, "user", Map.empty, Map.empty, inputs, Nil))
    }
    def meta(n: Int) = FileMeta(new Path(s"/t/$n"), 1, 1, isDirectory = false)
    for (n <- 1 to 20) put(n, 10)
    assert(cache.size == 5 && cache.get(meta(20)).isDefined && cache.get(meta(15)).isEmpty)
    for ((n, files) <- Seq(21 -> 1000, 22 -> 1)) {
      put(n, files)
      assert(cache.size == 1 && cache.get(meta(n)).isDefined)
    }
  }

  // Others overwrite one of two folders while an operation runs. The statement fails if that folder was not exchanged,
  // and the history counts the files of the other one alone.
  private def count(entry: HistoryEntry): Map[String, String] =
    entry.record.metrics.filter { case (name, _) => Set("numRemovedFiles", "numAddedFiles", "rowHash")(name) }

  private def conflicts(end: Option[Throwable]): Option[Seq[String]] =
    end.collect { case e: CommitConflictException => e.paths }

  /** In how many folders the operation has exchanged files. */
  private def judge(end: Option[Throwable], history: Seq[HistoryEntry]): Int =
    history.find(_.record.operationId == "op-1").fold(0) { entry =>
      val isPart = entry.record.folders.size == 1
      val part = Counted.files(removed = 3, added = 2)
      assert(count(entry) == (if (isPart) part else Counted.metrics(entry.record.inputs, entry.record.outputs)))
      if (isPart) assert(conflicts(end).exists(_.exists(_.contains("p=1"))), s"ended with $end")
      entry.record.folders.size
    }

  private def checked(states: Iterable[Int]): Unit = assert(Seq(1, 2).forall(states.toSet), states)

  test("one of two folders is overwritten in place, where the note of the outcome names the folder") {
    for (isWhole <- Seq(true, false)) {
      val states = mutable.Buffer.empty[Int]
      val notes = mutable.Buffer.empty[Option[String]]
      meeting(new Scene(Statement.optimize, Scene.Two)) { table =>
        // With its hidden folder, or its visible files alone.
        val gone = if (isWhole) table.fs.below("/t/p=1") else table.fs.visible.filter(_.startsWith("/t/p=1/"))
        gone.foreach(table.fs.nodes.remove)
        table.fs.put("/t/p=1/other.parquet", Set(900), 10L)
      } { (table, end) =>
        states += judge(end, table.history)
        notes ++= table.history.filter(_.record.folders.size == 1).map(_.outcome.map(_.reason))
      }
      checked(states)
      val said = "the folder was overwritten or deleted while files were being exchanged: p=1"
      if (isWhole) assert(notes.contains(Some(said)) && notes.forall(_.exists(_.contains("p=1"))), notes)
    }
  }

  test("one of two folders is overwritten on an object store") {
    val whole = new StoreTable(Scene.Two)
    val client = whole.client
    assert(whole.optimize(client, "op-1"))
    checked((1 to client.calls).map { k =>
      val table = new StoreTable(Scene.Two)
      val beside = table.beside(k) {
        table.shared.remove(table.shared.below("/t/p=1"))
        table.shared.put("/t/p=1/other.parquet", Set(900), 10L)
      }
      val isDone = table.optimize(beside, "op-1")
      val end = Option.unless(isDone)(new CommitConflictException(Seq("p=1"), "not done"))
      withClue(s"before request $k: ")(judge(end, History.read(table.folder())))
    })
  }

  test("one of two folders of a catalog's table is overwritten, where a file of each folder is copied") {
    val partitions = Seq("1", "2").map(v => CatalogPartition(Seq("p" -> v)))
    val states = Iterator.from(1).map { k =>
      val table = new MemoryCatalogTable(partitions)
      val at = table.locations(partitions.head)
      val ops = table.beside(k)(table.overwrite(at, "other", Set(900)))
      val end = table.attempt("op-1")(table.optimize(ops, "op-1", keeps = true))
      val history = History.read(table.folder(table.ops))
      history.find(_.record.operationId == "op-1").foreach { entry =>
        if (entry.record.locationChanges.size == 1) {
          assert(count(entry) == Counted.files(removed = 2, added = 2), s"before call $k")
          assert(conflicts(end).isDefined, s"before call $k: $end")
        } else assert(count(entry).contains("rowHash"), s"before call $k")
      }
      (ops.calls >= k, history.headOption.fold(0)(_.record.locationChanges.size))
    }.takeWhile(_._1).map(_._2).toVector
    checked(states)
  }
}
