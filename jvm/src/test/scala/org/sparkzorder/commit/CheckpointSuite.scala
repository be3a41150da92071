package org.sparkzorder.commit

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.GZIPOutputStream

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

/**
 * Published records are gathered in one file: no part of the history is lost, and little is read.
 */
class CheckpointSuite extends AnyFunSuite {
  private val small = HistorySettings(kept = 1, most = 2, batch = 2)

  private def ops(t: SmallTable) = new MemoryOps(t.fs)

  private def folder(t: SmallTable) = TableFolder(t.root, ops(t))

  private def names(t: SmallTable): Seq[String] = t.fs.children("/t/_zorder").map(FileNames.name)

  private def checkpoints(t: SmallTable): Seq[String] = names(t).filter(_.endsWith(".checkpoint"))

  private def optimized(operations: Int, settings: HistorySettings = HistorySettings()): SmallTable = {
    val t = new SmallTable(Seq("p=1"), 1)
    t.historySettings = settings
    for (i <- 1 to operations) t.optimize(ops(t), s"op-$i")
    t
  }

  test("with many operations the side folder has few files, and the history all of them") {
    val t = optimized(60)
    assert(names(t).count(_.endsWith(".json")) <= 48 && checkpoints(t).size == 1)
    assert(t.history.map(_.record.version) == (60L to 1L by -1L))
    assert(t.history.map(_.record.operationId) == (60 to 1 by -1).map(i => s"op-$i"))
    assert(t.history.forall(e => e.state == "committed" && e.publishMillis.isDefined && e.time > 0))
    t.restore(ops(t), 0, "op-99")
    assert(t.files == Seq("p=1/part-1.parquet") && t.fs.visibleRows == t.allRows)
    assert(t.history.tail.forall(_.state == "restored"))
  }

  test("at no moment does the history lack an operation, or name one twice") {
    val t = optimized(5)
    t.historySettings = small
    t.fs.changed = () => {
      val versions = t.history.map(_.record.version)
      assert(versions == (versions.size.toLong to 1L by -1L) && versions.size >= 5)
    }
    t.optimize(ops(t), "op-6")
    t.optimize(ops(t), "op-7")
    assert(t.history.size == 7 && checkpoints(t).size == 1)
  }

  test("a reader that lists the folder before records are gathered, and reads them afterwards, sees each once") {
    val t = optimized(5)
    t.historySettings = small
    // At each call of the reader, another process makes checkpoints.
    for (at <- 1 to 7) {
      val copy = new SmallTable(Seq("p=1"), 1)
      copy.fs.copyOf(t.fs)
      copy.historySettings = small
      val reader = new MemoryOps(copy.fs, other = { case `at` => copy.optimize(ops(copy), "op-6") })
      val read = History.newestFirst(TableFolder(copy.root, reader)).map(_.record.version).toList
      assert(read == List(5L, 4L, 3L, 2L, 1L) || read == List(6L, 5L, 4L, 3L, 2L, 1L), s"at call $at")
    }
  }

  test("the newest operations are read without the checkpoint, and the version is known without it") {
    val t = optimized(60)
    val reading = ops(t)
    val newest = History.newestFirst(TableFolder(t.root, reading))
    assert(newest.take(3).map(_.record.version).toList == List(60L, 59L, 58L))
    assert(reading.trace.count(_.startsWith("read")) <= 4 && !reading.trace.exists(_.contains(".checkpoint")))
  }

  test(
    "a damaged checkpoint costs the history before it, but no version is given again and nothing is restored over it"
  ) {
    val t = optimized(4, small)
    val path = s"/t/_zorder/${checkpoints(t).head}"
    val file = t.fs.file(path).get
    val bytes = file.bytes.clone()
    for (i <- bytes.indices) {
      t.fs.nodes(path) = file.copy(bytes = bytes.updated(i, (bytes(i) ^ 1).toByte))
      assert(t.history.map(_.record.version).startsWith(Seq(4L)) && t.history.size < 4, s"byte $i")
    }
    val e = intercept[NotRestorableException](t.restore(ops(t), 0, "op-9"))
    assert(e.obstacle == RestoreObstacle.Forgotten && e.paths.contains("version 1"))
    names(t).filter(_.endsWith(".json")).foreach(n => t.fs.nodes.remove(s"/t/_zorder/$n"))
    t.optimize(ops(t), "op-5")
    assert(t.history.head.record.version == 3L)
    t.fs.nodes(path) = file
    assert(t.history.map(_.record.version).distinct == t.history.map(_.record.version))
  }

  test("an operation is forgotten when it is old, its trash is gone, and none of its files is left") {
    val t = optimized(6, small)
    val day = 24L * 3600 * 1000
    t.vacuum(ops(t), "op-7", _.version <= 4)
    t.fs.clock += 31 * day
    t.optimize(ops(t), "op-8")
    t.optimize(ops(t), "op-9")
    // The fifth and sixth operation have a trash. The files that the others wrote are gone.
    assert(t.history.map(_.record.version) == Seq(8L, 7L, 6L, 5L))
    val e = intercept[NotRestorableException](t.restore(ops(t), 2, "op-10"))
    assert(e.obstacle == RestoreObstacle.Forgotten && e.paths.map(_.toString) == Seq("version 4", "version 3"))
    t.restore(ops(t), 4, "op-11")
    assert(t.fs.visibleRows == t.allRows)
    // An operation whose files are in the table is not forgotten.
    t.vacuum(ops(t), "op-12")
    t.fs.clock += 31 * day
    for (i <- 20 to 24) t.index(ops(t), s"op-$i")
    t.optimize(ops(t), "op-25")
    assert(t.history.head.record.version == 10L)
  }

  test("VACUUM marks all versions in a checkpoint before it deletes the first retired file") {
    val t = optimized(6, small)
    def trash(version: Long): Int =
      t.fs.below("/t").count(p => p.contains(f"/_v$version%010d-") && p.endsWith(".retired"))
    assert((1L to 6L).forall(trash(_) > 0))
    t.fs.changed = () =>
      t.history.filter(_.state == "committed").foreach(e => assert(trash(e.record.version) > 0, e.record.version))
    t.vacuum(ops(t), "op-7", _.version != 3)
    assert(t.history.map(_.state) == Seq("vacuumed", "vacuumed", "vacuumed", "committed", "vacuumed", "vacuumed"))
  }

  test("VACUUM frees a full disk, too") {
    for (k <- 1 to 30) {
      val t = optimized(6, small)
      t.attempt("op-7")(t.vacuum(new MemoryOps(t.fs, k, Fault.DiskFull), "op-7"))
      if (k > 4) assert(!t.fs.below("/t").exists(_.endsWith(".retired")), s"full from call $k on")
      assert(t.litter.isEmpty)
      assert(t.history.size == 6)
    }
  }

  test("a RESTORE is not forgotten before the operations that it undid") {
    val t = optimized(2)
    t.restore(ops(t), 0, "op-3")
    t.historySettings = small
    t.vacuum(ops(t), "op-4", _.version == 3)
    t.fs.clock += 40L * 24 * 3600 * 1000
    for (i <- 5 to 8) t.optimize(ops(t), s"op-$i")
    // The first operation has no files left. The second has a trash.
    assert(t.history.filter(_.record.version <= 2).map(e => e.record.version -> e.state) == Seq(2L -> "restored"))
    assert(t.history.exists(_.record.version == 3))
  }

  test("a damaged record stays a file, and is part of the history again once it is repaired") {
    val t = optimized(4)
    val broken = names(t).find(_.startsWith("_v0000000002")).get
    val file = t.fs.file(s"/t/_zorder/$broken").get
    t.fs.nodes(s"/t/_zorder/$broken") = file.copy(bytes = "{".getBytes(UTF_8))
    t.historySettings = small
    t.optimize(ops(t), "op-5")
    assert(names(t).contains(broken) && t.history.map(_.record.version) == Seq(5L, 4L, 3L, 1L))
    t.fs.nodes(s"/t/_zorder/$broken") = file
    assert(t.history.map(_.record.version) == Seq(5L, 4L, 3L, 2L, 1L))
  }

  test("files under retired names are noticed, however old the operation, but not those that RESTORE brought back") {
    for (settings <- Seq(HistorySettings(), small)) {
      val t = optimized(4, settings)
      def back: Seq[Reappeared] = TableState.look(t.root, ops(t)) match {
        case s: TableState.SideFolder => Reappeared.find(s, t.files)
        case TableState.NoSideFolder  => Nil
      }
      assert(back.isEmpty)
      t.fs.put("/t/p=1/other.parquet", Set(900), 5L)
      assert(back.isEmpty)
      t.fs.put("/t/p=1/part-1.parquet", Set(901), 5L)
      t.fs.put("/t/p=1/new-op-2-1.parquet", Set(902), 5L)
      assert(back == Seq(Reappeared("p=1/part-1.parquet", 1), Reappeared("p=1/new-op-2-1.parquet", 3)))
      // All files that we wrote there were replaced, so no row is there twice.
      val mine = t.files.filter(_.contains("new-op-4")).map(n => s"/t/$n" -> t.fs.nodes(s"/t/$n"))
      mine.foreach(m => t.fs.nodes.remove(m._1))
      assert(back.isEmpty)
      t.fs.nodes ++= mine
      t.optimize(ops(t), "op-5")
      assert(back.isEmpty)
      t.restore(ops(t), 4, "op-6")
      t.restore(ops(t), 5, "op-7")
      assert(back.isEmpty)
    }
  }

  test("the search for retired names reads no older record once newer ones have named all files") {
    val t = optimized(6)
    names(t).filter(n => (1 to 5).exists(v => n.startsWith(f"_v$v%010d"))).filter(_.endsWith(".json")).foreach { n =>
      val file = t.fs.file(s"/t/_zorder/$n").get
      t.fs.nodes(s"/t/_zorder/$n") = file.copy(bytes = "{".getBytes(UTF_8))
    }
    def back: Seq[Reappeared] = TableState.look(t.root, ops(t)) match {
      case s: TableState.SideFolder => Reappeared.find(s, t.files)
      case TableState.NoSideFolder  => Nil
    }
    assert(back.isEmpty)
    t.fs.put("/t/p=1/other.parquet", Set(900), 5L)
    intercept[UnreadableRecordException](back)
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
    t.fs.clock += 8L * 24 * 3600 * 1000
    t.optimize(ops(t), "op-3")
    assert(History.undone(folder(t)).isEmpty && !names(t).exists(_.endsWith(".outcome")))
  }

  test("the history says that another process finished an operation, also from the checkpoint") {
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
          assert(!names(t).exists(_.endsWith(".outcome")) && t.history.last.outcome == outcome)
        }
      }
    }
    assert(finished > 5)
  }

  test("VACUUM finds the trash of a moved partition, and leaves trash that no record names") {
    val t = new SmallTable(Seq("p=1", "p=2"))
    t.optimize(ops(t))
    val moved = t.fs.below("/t/p=1").map(p => p.replace("/t/p=1/", "/t/p=9/") -> t.fs.nodes(p))
    t.fs.deleteAll("/t/p=1")
    t.fs.nodes("/t/p=9") = Dir
    t.fs.nodes ++= moved
    t.fs.put("/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired", Set(1), 5L)
    def retired = t.fs.below("/t").filter(_.endsWith(".retired"))
    assert(retired.count(_.startsWith("/t/p=9/")) == 4)
    val lock = Locking.acquire(folder(t), "op-2", t.settings)
    Trash.vacuum(folder(t), lock, Trash.expired(folder(t), _ => true, Seq("p=2", "p=9")))
    lock.release()
    assert(retired == Seq("/t/p=9/_zorder/trash/_v0000000001-elsewhere/x.parquet.retired"))
  }

  /** A checkpoint whose checksum is right, whatever its first section has in it. */
  private def sealedCheckpoint(first: Array[Byte], firstLength: Long): Array[Byte] = {
    val body = first ++ ByteBuffer.allocate(8).putLong(firstLength).array ++ Checkpoint.Magic.getBytes(UTF_8)
    body ++ ByteBuffer.allocate(8).putLong(Checkpoint.crc(body, body.length)).array
  }

  private def zipped(lines: String*): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val zip = new GZIPOutputStream(out)
    lines.foreach(l => zip.write(s"$l\n".getBytes(UTF_8)))
    zip.close()
    out.toByteArray
  }

  private val parsedAs =
    CheckpointFile(7, 1, FileMeta(new Path("mem:/t/_zorder/_v0000000007-1.checkpoint"), 1, 1, isDirectory = false))

  private def parse(bytes: Array[Byte]): Checkpoint = Checkpoint.parse(parsedAs, bytes)

  test("a length of the first section that is not within the file is an unreadable checkpoint") {
    val first = zipped(s"${Checkpoint.Format}\t5", "", "[]")
    assert(parse(sealedCheckpoint(first, first.length.toLong)).folders.isEmpty)
    // The last one is 0 as a 32-bit number.
    val wrong = Seq(-1L, Long.MinValue, first.length + 1L, Long.MaxValue, Int.MaxValue.toLong, 0L, 3L, 1L << 32)
    wrong.foreach { length =>
      withClue(s"length $length: ")(intercept[UnreadableRecordException](parse(sealedCheckpoint(first, length))))
    }
  }

  test("a missing or garbled line of the first section is an unreadable checkpoint") {
    val head = s"${Checkpoint.Format}\t5"
    val garbled = Seq(
      Nil,
      Seq(head),
      Seq(head, ""),
      Seq(head, "?", "[]"),
      Seq(head, "AAA", "[]"),
      Seq(head, "", ""),
      Seq(head, "", "["),
      Seq(head, "", "{}"),
      Seq(head, "", "null"),
      Seq(head, "", "[1]"),
      Seq(head, "", "[[\"p=1\"]]"),
      Seq(head.replace('5', 'x'), "", "[]"),
      Seq("", "", "[]")
    )
    garbled.foreach { lines =>
      val first = zipped(lines: _*)
      withClue(s"$lines: ")(intercept[UnreadableRecordException](parse(sealedCheckpoint(first, first.length.toLong))))
    }
    val noZip = "no gzip".getBytes(UTF_8)
    intercept[UnreadableRecordException](parse(sealedCheckpoint(noZip, noZip.length.toLong)))
  }

  test("names have different hashes") {
    assert((1 to 100000).map(i => RetiredNames.hash(s"part-$i.parquet")).toSet.size == 100000)
  }

  test("a checkpoint is not taken for a record") {
    val root = new Path("mem:/t")
    val t = TableFolder(root, new MemoryOps(new MemoryFs))
    val meta = FileMeta(t.checkpoint(7, 3), 1, 1, isDirectory = false)
    assert(SideListing.records(Seq(meta)).isEmpty)
    assert(SideListing.checkpoints(Seq(meta)) == Seq(CheckpointFile(7, 3, meta)))
  }
}
