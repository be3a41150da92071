package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

/**
 * With a long history, statements read only the part that they need, and find the same as if they
 * read all of it.
 */
class LongHistorySuite extends AnyFunSuite {
  private val small = HistorySettings(kept = 1, most = 2, batch = 2)

  private def ops(t: SmallTable) = new MemoryOps(t.fs)

  private def folder(t: SmallTable) = TableFolder(t.root, ops(t), threads = 1)

  private def optimized(operations: Int, settings: HistorySettings = small): SmallTable = {
    val t = new SmallTable(Seq("p=1", "p=2"), 2)
    t.historySettings = settings
    for (i <- 1 to operations) t.optimize(ops(t), s"op-$i")
    t
  }

  private def checkpoint(t: SmallTable): Checkpoint =
    Checkpoints.newest(folder(t), ops(t).list(folder(t).side)).get

  private type Key = (String, Long, Long)

  /** The operation that wrote each file of the table, by the name that it had then. */
  private def writers(t: SmallTable, newestFirst: Iterator[Record]): Map[Key, String] = {
    val names = scala.collection.mutable.HashMap.from(t.snapshot.map { case (n, (length, time)) =>
      (n, length, time) -> n
    })
    newestFirst.flatMap { record =>
      record.outputs.flatMap { o =>
        val key = (o.path, o.length, o.modificationTime)
        if (o.source.isEmpty) names.remove(key).map(name => (name, o.length, o.modificationTime) -> record.operationId)
        else {
          if (o.pathBefore != o.path) names.remove(key).foreach(names((o.pathBefore, o.length, o.modificationTime)) = _)
          None
        }
      }
    }.toMap
  }

  private def sameWriters(t: SmallTable): Unit = {
    val all = writers(t, History.newestFirst(folder(t)).map(_.record))
    assert(writers(t, History.writing(folder(t)).map(_.record)) == all)
  }

  test("the checkpoint tells how each file was written, without the records of files that are gone") {
    val t = optimized(12)
    sameWriters(t)
    // The twelfth operation wrote all files. Only its record and those that are files are read.
    assert(History.writing(folder(t)).map(_.record.version).toList.headOption.contains(12L))
    assert(checkpoint(t).written(folder(t)).flatMap(_.thinned.outputs).size <= t.files.size)
    assert(checkpoint(t).written(folder(t)).forall(_.thinned.inputs.isEmpty))
    assert(History.read(folder(t)).size == 12)
  }

  test("it also tells so after an OPTIMIZE of one partition, a RESTORE, and a RESTORE under other names") {
    val t = optimized(4)
    t.optimize(ops(t), "op-5", Seq("p=1"))
    t.restore(ops(t), 2, "op-6")
    sameWriters(t)
    t.optimize(ops(t), "op-7", Seq("p=2"))
    // Somebody takes the names of the files that are to come back.
    val taken = t.history.find(_.record.version == 7).get.record.inputs.map(_.path)
    taken.foreach(n => t.fs.put(s"/t/$n", Set(9000 + n.hashCode), 5L))
    t.restore(ops(t), 6, "op-8")
    assert(t.history.head.record.outputs.exists(o => o.pathBefore != o.path))
    sameWriters(t)
    for (i <- 9 to 12) {
      t.optimize(ops(t), s"op-$i", Seq("p=1"))
      sameWriters(t)
    }
    assert(checkpoint(t).file.version > 8)
  }

  test("the newest record with a layout stays, though its files are gone") {
    def line(version: Long, layout: Option[String], in: Seq[String], out: Seq[String]) = {
      val record = Record(
        version,
        s"op-$version",
        "OPTIMIZE",
        5L,
        "user",
        Map("a" -> "b"),
        Map("m" -> "1"),
        in.map(InputFile(_, 1L, 1L, 1L)),
        out.map(OutputFile(_, 1L, 1L, 1L)),
        layout
      )
      val file = RecordFile(version, None, RecordState.Done, FileMeta(new Path(s"/t/_zorder/v$version"), 1, 1, false))
      CheckpointLine(file, None, new String(RecordJson.write(record), UTF_8))
    }
    val lines = Seq(
      line(4, None, Seq("c"), Seq("d")),
      line(3, Some("new"), Seq("b"), Seq("c")),
      line(2, Some("old"), Seq("a"), Seq("b")),
      line(1, None, Seq("x"), Seq("y"))
    )
    def told(found: Seq[CheckpointLine]) = found.map(_.thinned).map(r => (r.version, r.layout, r.outputs.map(_.path)))
    val all = WrittenFiles.of(lines.iterator, Iterator.empty, Set.empty)
    assert(told(all) == Seq((4L, None, Seq("d")), (3L, Some("new"), Nil), (1L, None, Seq("y"))))
    assert(all.forall(_.thinned.parameters == Map("a" -> "b")))
    val older = WrittenFiles.of(lines.drop(2).iterator, Iterator.empty, Set.empty)
    assert(told(WrittenFiles.of(lines.take(2).iterator, older.iterator, Set.empty)) == told(all))
    assert(told(WrittenFiles.of(lines.iterator, Iterator.empty, Set(3L, 1L))) ==
      Seq((4L, None, Seq("d")), (2L, Some("old"), Nil)))
  }

  test("a new checkpoint takes over the records of the one before as they are") {
    val t = optimized(6)
    def section: Seq[Byte] = {
      val records = checkpoint(t).records
      records.array.slice(records.position(), records.limit()).toSeq
    }
    val before = section
    t.optimize(ops(t), "op-7")
    t.optimize(ops(t), "op-8")
    assert(section.length > before.length && section.endsWith(before))
    assert(t.history.map(_.record.operationId) == (8 to 1 by -1).map(i => s"op-$i"))
  }

  test("a record that was damaged, and was repaired when later ones were gathered, takes its place among them") {
    val t = optimized(3, HistorySettings())
    val broken = folder(t).published(t.history(1).record, t.history(1).publishMillis.get).toUri.getPath
    val file = t.fs.file(broken).get
    t.fs.nodes(broken) = file.copy(bytes = "{".getBytes(UTF_8))
    t.historySettings = small
    t.optimize(ops(t), "op-4")
    t.fs.nodes(broken) = file
    for (i <- 5 to 8) t.optimize(ops(t), s"op-$i")
    assert(!t.fs.nodes.contains(broken))
    assert(t.history.map(_.record.version) == (8L to 1L by -1L))
    sameWriters(t)
  }

  private def retired(t: SmallTable): Seq[RetiredFiles] = Trash.expired(folder(t), _ => true)

  test("VACUUM finds the trash of each version, and reads no record of a version that has none") {
    val t = optimized(9)
    t.vacuum(ops(t), "op-10", r => r.version <= 3 || r.version == 5)
    assert(retired(t).map(_.version) == Seq(4L, 6L, 7L, 8L, 9L))
    assert(retired(t) == Trash.all(folder(t), t.history))
    def gathered(asked: Set[Long]) = {
      val reading = new PublishedRecords(folder(t), () => ops(t).list(folder(t).side), () => Some(asked))
      val found = reading.map(_.record.version).filter(_ <= checkpoint(t).file.version).toList
      assert(reading.folders == Set("p=1", "p=2"))
      found
    }
    assert(gathered(Set(6L, 4L, 99L)) == List(6L, 4L) && gathered(Set.empty).isEmpty)
  }

  test("DESCRIBE HISTORY reads the records in the checkpoint without their files") {
    val t = optimized(9)
    t.vacuum(ops(t), "op-10", _.version <= 3)
    t.restore(ops(t), 6, "op-11")
    val all = t.history
    val (told, folders) = History.summaries(folder(t))
    assert(told.map(e => e.copy(record = e.record.copy(inputs = Nil, outputs = Nil))) ==
      all.map(e => e.copy(record = e.record.copy(inputs = Nil, outputs = Nil))))
    assert(told.last.record.inputs.isEmpty && all.last.record.inputs.nonEmpty)
    val sizes = Trash.all(folder(t), told, folders.toSeq).map(r => (r.version, r.files))
    assert(sizes.nonEmpty && sizes == Trash.all(folder(t), all).map(r => (r.version, r.files)))
  }

  test("names that an operation retired are forgotten with it") {
    val t = optimized(6)
    val names = t.history.filter(_.record.version <= 4).flatMap(_.record.inputs.map(_.path)).distinct
    assert(names.forall(RetiredNames.contains(checkpoint(t).retired, _)))
    t.vacuum(ops(t), "op-7", _.version <= 4)
    t.fs.clock += 31L * 24 * 3600 * 1000
    for (i <- 8 to 10) t.optimize(ops(t), s"op-$i")
    assert(t.history.map(_.record.version).min > 4L)
    assert(!names.exists(RetiredNames.contains(checkpoint(t).retired, _)))
    sameWriters(t)
  }

  test("long records are gathered sooner, except for the newest") {
    val bytes = optimized(1).history.map(e => RecordJson.write(e.record).length).max.toLong
    def left(keptBytes: Long, mostBytes: Long): Int = {
      val t = optimized(6, HistorySettings(keptBytes = keptBytes, mostBytes = mostBytes))
      assert(t.history.map(_.record.version) == (6L to 1L by -1L))
      SideListing.records(ops(t).list(folder(t).side)).count(_.state == RecordState.Done)
    }
    assert(left(HistorySettings().keptBytes, HistorySettings().mostBytes) == 6)
    assert(left(0L, 0L) == 1 && left(0L, 2 * bytes) <= 2)
    assert((2 to 4).contains(left(5 * bytes / 2, 4 * bytes)))
  }

  test("long records are gathered in smaller batches") {
    val bytes = optimized(1).history.map(e => RecordJson.write(e.record).length).max.toLong
    val t = optimized(8, HistorySettings())
    t.historySettings = HistorySettings(kept = 1, most = 2, batch = 100, batchBytes = 3 * bytes)
    t.optimize(ops(t), "op-9")
    assert(checkpoint(t).file.number >= 3)
    assert(t.history.map(_.record.version) == (9L to 1L by -1L))
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
