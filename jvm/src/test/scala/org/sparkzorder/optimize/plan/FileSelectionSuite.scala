package org.sparkzorder.optimize.plan

import scala.annotation.tailrec
import scala.util.Random

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.{OutputFile, Record}
import org.sparkzorder.commit.log.HistoryEntry
import org.sparkzorder.indexing.IndexedBounds
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.table.{DataFolder, RelativePath}

class FileSelectionSuite extends AnyFunSuite {

  private val Minute = 60000L
  private val root = new Path("file:/t")
  private val names = new RelativePath(root)
  private val layout = LayoutSpec(LayoutSpec.ZOrder, LayoutSpec.RangeMapping, LayoutSpec.EqualCuts, Seq(Seq("a") -> 1d))
  private val other = layout.copy(columns = Seq(Seq("b") -> 1d))
  private val bare = OptimizeOptions.parse(Nil, "parquet", folderBytes = Nil)

  /** Files of one folder. Each is a minute younger than the one before. */
  private def folder(sizes: Long*): DataFolder = DataFolder(
    root,
    InternalRow.empty,
    sizes.zipWithIndex.map { case (size, i) =>
      new FileStatus(size, false, 1, 1, (i + 1) * Minute, new Path(root, s"f$i"))
    }
  )

  private def record(files: Seq[FileStatus], layout: Option[LayoutSpec], parameters: (String, String)*): Record = {
    val outputs = files.map(f => OutputFile(names.of(f.getPath), f.getLen, f.getModificationTime, rows = 1))
    Record(1, "id", "OPTIMIZE", 0, "u", parameters.toMap, Map.empty, Nil, outputs, layout.map(_.json))
  }

  private def entry(record: Record, time: Long = 5 * Minute): HistoryEntry =
    HistoryEntry(record, "committed", None, time, None)

  private def selection(
      of: DataFolder,
      options: Seq[(String, String)] = Nil,
      history: Seq[HistoryEntry] = Nil,
      full: Boolean = false,
      maxRecords: Long = 0,
      where: Option[String] = None,
      namesLayout: Boolean = false
  ): FileSelection = new FileSelection(
    Seq(of),
    OptimizeOptions.parse(options, "parquet", folderBytes = Seq(16L << 30)),
    full,
    maxRecords,
    new FileWriters(names, None, history.iterator),
    where,
    namesLayout
  )

  private def clustered(of: DataFolder, selection: FileSelection): Seq[Rewrite] = {
    val bounds = new IndexedBounds(None, IndexedSeq.empty)
    val withoutIndex =
      new IncrementalSelection(IndexedSeq.empty, names, None, bounds, bare, limited = false, read = _ => Nil)
    val rewrites = selection.clustered(layout, withoutIndex)
    rewrites.foreach(r => assert(r.folder == of && r.files == of.files))
    rewrites
  }

  private def reasons(rewrites: Seq[Rewrite]): Seq[String] = rewrites.map(_.reason)

  private val target = "target-file-size-bytes" -> "100"

  test("packing merges small files that follow each other in time, and splits large ones") {
    val rewrites = selection(folder(10, 90, 20, 100, 30, 500), Seq(target)).packed
    assert(rewrites.map(_.files.map(_.getLen)) == Seq(Seq(10L, 20L, 30L), Seq(500L)))
    assert(rewrites.map(_.outputFiles) == Seq(1, 5))
    assert(reasons(rewrites) ==
      Seq("there are files that are too small or too large", "there are files that are too large"))
  }

  test("packing leaves a group of too few files as it is, and small files become files of the target size at once") {
    assert(selection(folder(10, 100, 20), Seq(target, "min-input-files" -> "3")).packed.isEmpty)
    assert(selection(folder(10, 100, 20), Seq(target, "min-input-files" -> "2")).packed.size == 1)
    assert(selection(folder(Seq.fill(12)(35L): _*), Seq(target)).packed.map(_.outputFiles) == Seq(4))
    assert(selection(folder(Seq.fill(12)(70L): _*), Seq(target)).packed.map(_.outputFiles) == Seq(8))
  }

  test("files whose rows do not fit into fewer are not merged, and none is split into more files than it has rows") {
    val small = selection(folder(10, 20), Seq(target), maxRecords = 5)
    assert(small.withOtherNumber(small.packed, _ => 2L).size == 1)
    assert(small.withOtherNumber(small.packed, _ => 3L).isEmpty)
    val large = selection(folder(500, 500), Seq(target))
    assert(large.withOtherNumber(large.packed, _ => 1L).isEmpty)
    assert(large.withOtherNumber(large.packed, _ => 3L).map(_.outputFiles) == Seq(3, 3))
  }

  test("what a packing wrote is not packed again with the same size while nothing comes beside it") {
    // Rows are not alike, so some parts of a file are larger than others.
    val files = folder(20, 30, 300)
    def rewrites(packed: Seq[FileStatus], size: String) = {
      selection(files, Seq(target), Seq(entry(record(packed, None, "target-file-size-bytes" -> size)))).packed
    }
    assert(rewrites(files.files, "100").isEmpty)
    assert(rewrites(files.files, "50").map(_.outputFiles) == Seq(1, 3))
    assert(rewrites(files.files.tail, "100").map(_.files.size) == Seq(2))
    assert(rewrites(files.files.take(2), "100").map(_.files.size) == Seq(1))
  }

  test("packing any files a second time finds nothing to do") {
    val random = new Random(63)
    def any(most: Int) = 1 + random.nextInt(most)
    (1 to 3000).foreach { _ =>
      val least = Option.when(random.nextBoolean())(any(99))
      val most = Option.when(random.nextBoolean())(101 + random.nextInt(200))
      val options = target +: (least.map("min-file-size-bytes" -> _.toString) ++
        most.map("max-file-size-bytes" -> _.toString)).toSeq :+ ("min-input-files" -> any(4).toString)
      val maxRecords = if (random.nextBoolean()) 0L else any(30).toLong
      val widest = if (random.nextBoolean()) 400 else 120
      val before = folder(Seq.fill(1 + random.nextInt(15))(any(widest).toLong): _*)
      val rows = before.files.map(_.getPath -> any(40).toLong).toMap
      // If a file may have only so many rows, the parts of a large one may be small.
      val (runs, sizes) = runsUntilDone(before, rows, options, maxRecords)
      assert(runs <= (if (maxRecords == 0) 1 else 2), s"${before.files.map(_.getLen)}, $options")
      assert(sizes.sum == before.files.map(_.getLen).sum)
    }
  }

  /** How many packings find something to do, one after the other, and the sizes of the files then. */
  private def runsUntilDone(
      of: DataFolder,
      rowsOf: Map[Path, Long],
      options: Seq[(String, String)],
      maxRecords: Long
  ): (Int, Seq[Long]) = {
    @tailrec
    def run(done: Int, folder: DataFolder, rows: Map[Path, Long], packed: Seq[FileStatus]): (Int, Seq[Long]) = {
      val history = Seq(entry(record(packed, None, target), 100 * Minute))
      val chosen = selection(folder, options, history, maxRecords = maxRecords)
      val rewrites = chosen.withOtherNumber(chosen.packed, rows)
      rewrites.foreach { r =>
        val (all, bytes) = (r.files.map(f => rows(f.getPath)).sum, r.files.map(_.getLen).sum / 100d)
        assert(r.outputFiles <= all && math.abs(r.outputFiles - bytes) <= math.max(1d, bytes - all))
        assert(r.outputFiles != r.files.size)
      }
      val written = rewrites.zipWithIndex.flatMap { case (r, i) => outputsOf(r, rows, maxRecords, s"$done-$i") }
      val kept = folder.files.diff(rewrites.flatMap(_.files))
      val made = written.map(_._1)
      if (rewrites.isEmpty || done > 3) (done, folder.files.map(_.getLen))
      else
        run(done + 1, folder.copy(files = kept ++ made), rows ++ written.map(w => w._1.getPath -> w._2), packed ++ made)
    }
    run(0, of, rowsOf, Nil)
  }

  /** The files of a rewrite with their rows, all of about the same size. */
  private def outputsOf(r: Rewrite, rows: Path => Long, maxRecords: Long, name: String): Seq[(FileStatus, Long)] = {
    val (all, bytes) = (r.files.map(f => rows(f.getPath)).sum, r.files.map(_.getLen).sum)
    val files =
      if (maxRecords == 0) r.outputFiles.toLong else math.max(r.outputFiles.toLong, (all - 1) / maxRecords + 1)
    def part(of: Long, i: Long) = of * (i + 1) / files - of * i / files
    (0L until files).map { i =>
      new FileStatus(part(bytes, i), false, 1, 1, 50 * Minute, new Path(root, s"w$name-$i")) -> part(all, i)
    }
  }

  test("a folder that is in the layout is rewritten only if another number of files is asked for") {
    val files = folder(10, 20, 30)
    val history = Seq(entry(record(files.files, Some(layout))))
    assert(clustered(files, selection(files, history = history)).isEmpty)
    assert(clustered(files, selection(files, Seq("num-files" -> "3"), history)).isEmpty)
    assert(clustered(files, selection(files, Seq("num-files" -> "2"), history)).map(_.outputFiles) == Seq(2))
    // With so few rows to a file there have to be more files.
    assert(clustered(files, selection(files, Seq("num-files" -> "2"), history, maxRecords = 1)).isEmpty)
    assert(reasons(clustered(files, selection(files, history = history, full = true))) ==
      Seq("a full rewrite was asked for"))
  }

  test("what was asked for is compared with what was asked for, not with what came out, by packing too") {
    val files = folder(10, 20, 30)
    def rewrites(where: Option[String], parameters: (String, String)*): Seq[Seq[Rewrite]] =
      Seq(None, Some(layout)).map { of =>
        val history = Seq(entry(record(files.files, of, parameters: _*)))
        val chosen = selection(files, Seq("num-files" -> "2"), history, where = where)
        of.fold(chosen.packed)(_ => clustered(files, chosen))
      }
    assert(rewrites(None, "num-files" -> "2").forall(_.isEmpty))
    assert(rewrites(Some("p = 1"), "num-files" -> "2", "predicate" -> "p = 1").forall(_.isEmpty))
    // The same number was asked for of other partitions, or another number.
    for (found <- rewrites(None, "num-files" -> "2", "predicate" -> "p = 1") ++ rewrites(None, "num-files" -> "4"))
      assert(found.map(_.outputFiles) == Seq(2) && reasons(found) == Seq("another number of files was asked for"))
  }

  test("a partition keeps the layout of a statement with a predicate until one without names another or says FULL") {
    val files = folder(10, 20, 30)
    def chosen(of: LayoutSpec, predicate: String, full: Boolean = false, namesLayout: Boolean = false) = {
      val history = Seq(entry(record(files.files.take(2), Some(of), "predicate" -> predicate)))
      selection(files, Seq(target), history, full = full, namesLayout = namesLayout)
    }
    assert(clustered(files, chosen(other, "p = 1")).isEmpty && chosen(other, "p = 1").packed.isEmpty)
    assert(clustered(files, chosen(other, "")).size == 1 && chosen(other, "").packed.size == 1)
    assert(clustered(files, chosen(layout, "p = 1")).size == 1 && chosen(layout, "p = 1").packed.isEmpty)
    assert(clustered(files, chosen(other, "p = 1", namesLayout = true)).size == 1)
    assert(clustered(files, chosen(other, "p = 1", full = true)).size == 1)
    assert(chosen(other, "p = 1", full = true).packed.size == 1)
    val first = Iterator(entry(record(files.files.take(1), Some(other), "predicate" -> "p = 1")))
    assert(new FileWriters(names, None, first).layoutOf(Seq(files, folder())).contains(other))
  }

  test("an origin is read as it was written") {
    val options = OptimizeOptions.parse(Seq("num-files" -> "7"), "parquet", folderBytes = Nil)
    for {
      chosen <- Seq(None, Some(layout))
      where <- Seq(None, Some("p = 'a\nb'\nAND q"))
      of <- Seq(options, options.copy(asGiven = Map.empty))
    } {
      val origin = FileOrigin.of(chosen, where, of, maxRecords = 3)
      assert(FileOrigin.parse(origin.text).contains(origin), origin.text)
    }
  }

  test("a folder with new files is rewritten as a whole if it is not known where its files are on the curve") {
    val files = folder(10, 20, 30)
    val written = Seq(entry(record(files.files.take(2), Some(layout))))
    Seq(
      selection(files) -> "no file is known to be in this layout",
      selection(files, history = written) -> "it is not known where files lie along the curve",
      selection(files, Seq("num-files" -> "2"), written) -> "a number of files was asked for"
    ).foreach { case (chosen, reason) => assert(reasons(clustered(files, chosen)) == Seq(reason)) }
  }

  test("the history is read only as far as records may have written the files") {
    val files = folder(10, 20)
    var read = 0
    def operation(time: Long, of: Seq[FileStatus]) = { read += 1; entry(record(of, Some(layout)), time) }
    // Clocks may differ by ten minutes.
    val history = Iterator(20, 15, -10, -20, -30).map(minute => operation(minute * Minute, Nil))
    assert(new FileWriters(names, None, history).originsOf(files.files).isEmpty && read == 3)
    read = 0
    val found = Iterator(20, 15, -10).map(minute => operation(minute * Minute, files.files))
    assert(new FileWriters(names, None, found).originsOf(files.files).size == 2 && read == 1)
    read = 0
    val many = Iterator.continually(operation(20 * Minute, Nil))
    assert(new FileWriters(names, None, many).originsOf(files.files).isEmpty && read == 16)
  }

  test("a file that RESTORE brought back under another name is found under the name that it was written with") {
    val back = new FileStatus(10, false, 1, 1, Minute, new Path(root, "f0-restored-1"))
    val restored = record(Nil, None).copy(
      operation = "RESTORE",
      outputs = Seq(OutputFile("f0-restored-1", 10, Minute, 1, source = Some("_zorder/trash/id/f0.retired")))
    )
    val history = Seq(restored, record(folder(10).files, Some(layout))).map(entry(_))
    val origins = new FileWriters(names, None, history.iterator).originsOf(Seq(back))
    assert(origins.values.map(_.layout).toSeq == Seq(layout.json))
  }

  /** The options of a statement that sets none, after records of the history. */
  private def remembered(predicate: String, history: Record*): OptimizeOptions =
    RememberedSize.of(bare, Some(layout), predicate, bytes = 1000, history.iterator)
  private def wrote(parameters: (String, String)*): Record = record(Nil, Some(layout), parameters: _*)
  private val tenFiles = wrote("num-files" -> "10")
  private val partition = wrote("predicate" -> "p = 1")
  private val sized = "target-file-size-bytes" -> "7"

  test("the newest operation of a layout with the same predicate decides, and a size is remembered for any predicate") {
    assert(remembered("", tenFiles).targetFileSize == 100)
    assert(remembered("", partition, record(Nil, None), tenFiles).targetFileSize == 100)
    assert(remembered("p = 1", tenFiles) == bare)
    assert(remembered("p = 1", tenFiles, wrote("predicate" -> "p = 1", "num-files" -> "4")).targetFileSize == 250)
    assert(remembered("", wrote(sized), tenFiles).targetFileSize == 7)
    assert(remembered("", wrote(), tenFiles) == bare)
    assert(remembered("p = 1", wrote(sized)).targetFileSize == 7)
  }

  test("another layout remembers nothing, and neither does an operation of long ago") {
    assert(remembered("", record(Nil, Some(other), "num-files" -> "10")) == bare)
    assert(remembered("", Seq.fill(100)(partition) :+ tenFiles: _*) == bare)
  }

  test("packing remembers a size of packing, with the sizes below and above which files are packed") {
    def packed(history: Record*) = RememberedSize.of(bare, None, "", bytes = 1000, history.iterator)
    val hundred = packed(partition, record(Nil, None, target))
    assert((hundred.targetFileSize, hundred.minFileSize, hundred.maxFileSize) == ((100, 75, 180)))
    assert(packed(record(Nil, None, "num-files" -> "10")).targetFileSize == 100)
    assert(packed(tenFiles) == bare)
    // A statement that sets a size has it.
    val said = OptimizeOptions.parse(Seq("target-file-size-bytes" -> "5"), "parquet", folderBytes = Nil)
    assert(RememberedSize.of(said, Some(layout), "", 1000, Iterator(tenFiles)) == said)
  }
}
