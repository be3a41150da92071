package org.sparkzorder.optimize.options

import scala.util.Random

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.table.DataFolder

class OptimizeOptionsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def parse(options: (String, String)*): OptimizeOptions =
    OptimizeOptions.parse(options, "parquet", folderBytes = Seq(16L << 30))

  test("without options, each has the default that the reference page shows") {
    val options = parse()
    assert(options.targetFileSize == (256L << 20) && options.writtenSize.contains(options.target))
    assert(options.minFileSize == (192L << 20) && options.maxFileSize == (256L << 20) * 18 / 10)
    assert(options.minInputFiles == 2 && OptionTable.minInputFiles.default == "2")
    assert(options.retainHours == 168 && OptionTable.retainHours.default == "168")
    assert(!options.rewriteAll && OptionTable.rewriteAll.default == "`false`")
    assert(options.fileGroups == FileGroupOptions(5, None, 1))
    assert(options.mapping == MappingOptions(None, None, None))
    assert(options.numFiles.isEmpty && options.alignedCuts.isEmpty && options.asGiven.isEmpty && !options.saysSize)
  }

  test("keys and words may be in any case, and values may have blanks around them") {
    val options = parse("NUM-Files" -> " 8 ", "Cuts" -> " EQUAL ", "mapping" -> "Bytes", "compression" -> "ZSTD")
    assert(options.numFiles.contains(8) && options.alignedCuts.contains(false))
    assert(options.mapping.mapping.contains("bytes") && options.compression.contains("zstd"))
    assert(options.asGiven.keySet == Set("num-files", "cuts", "mapping", "compression"))
  }

  test("the sizes that packing looks at go with the target size") {
    val options = parse("target-file-size-bytes" -> "100MB")
    assert(options.minFileSize == (75L << 20) && options.maxFileSize == (180L << 20) && options.saysSize)
  }

  test("each format has codecs of its own") {
    assert(OptimizeOptions.parse(Seq("compression" -> "zlib"), "orc", folderBytes = Nil).compression.contains("zlib"))
    intercept[AnalysisException](parse("compression" -> "zlib"))
  }

  test("several commits need partial progress") {
    assert(parse("partial-progress.max-commits" -> "4").fileGroups.maxCommits == 1)
    assert(parse("partial-progress.enabled" -> "true").fileGroups.maxCommits == 10)
    val both = parse("partial-progress.enabled" -> "true", "partial-progress.max-commits" -> "4")
    assert(both.fileGroups.maxCommits == 4)
  }

  test("sizes are shown with the largest unit in which they are whole") {
    assert(Seq(0L, 1L, 1023L, 1024L, 1536L, 256L << 20, 100L << 30, Long.MaxValue).map(ByteSizes.show) == Seq(
      "0 bytes", "1 byte", "1023 bytes", "1 KiB", "1536 bytes", "256 MiB", "100 GiB", "9223372036854775807 bytes"
    ))
    Seq("256 MiB", "1536 bytes").foreach(text => assert(ByteSizes.parse(text).map(ByteSizes.show).contains(text)))
  }

  private def mib(n: Long): Long = n << 20

  private def size(folders: Long*): TargetFileSize = TargetFileSize.ofTable(folders)

  test("target sizes of tables of some sizes") {
    val sizes = Seq(0L -> 8L, mib(1) -> 8L, mib(100) -> 8L, mib(512) -> 8L, mib(1024) -> 16L, mib(10 * 1024) -> 128L) ++
      Seq(mib(16 * 1024) -> 256L, mib(1024 * 1024) -> 256L, Long.MaxValue -> 256L)
    sizes.foreach { case (table, file) => assert(size(table).bytes == mib(file), s"$table bytes") }
  }

  test("there are 45 to 91 files of any table between the limits, and the size grows with the table") {
    val random = new Random(1)
    val tables = Seq.fill(2000)((math.pow(2, 20 + 25 * random.nextDouble())).toLong).sorted
    val targets = tables.map(size(_).bytes)
    assert(targets == targets.sorted && targets.forall(t => t >= mib(8) && t <= mib(256)))
    tables.zip(targets).filter { case (_, t) => t > mib(8) && t < mib(256) }.foreach { case (table, t) =>
      assert((table / t) >= 45 && (table / t) <= 91, s"$table bytes in files of $t")
    }
  }

  test("the reason names the table's size, and a limit where it holds") {
    assert(size(mib(1024)).reason == "the table has 1.0 GiB, of which about 64 files should come")
    assert(size().reason.endsWith("and files are not made smaller"))
    assert(size(mib(1 << 20)).reason.endsWith("and files are not made larger"))
  }

  test("at least eight files come of a partition, if they are not too small") {
    assert(size(Seq.fill(30)(mib(1600)): _*).bytes == mib(128))
    assert(size(Seq.fill(30)(mib(57)): _*).bytes == mib(8))
    val even = size(Seq.fill(1024)(mib(1024)): _*)
    assert(even.bytes == mib(128) && even.reason == "a partition has 1.0 GiB, of which at least 8 files should come")
    // Small partitions beside large ones do not make all files small.
    assert(size(Seq.fill(20)(mib(20 * 1024)) ++ Seq.fill(500)(mib(1)): _*).bytes == mib(256))
    val random = new Random(2)
    (1 to 2000).foreach { _ =>
      val partition = (math.pow(2, 26 + 10 * random.nextDouble())).toLong
      val target = size(Seq.fill(1 + random.nextInt(500))(partition): _*).bytes
      assert(target >= mib(8) && target <= mib(256) && (target == mib(8) || partition / target >= 8))
    }
  }

  test("sizes that packing is told move the target, so that they never cross it") {
    assert(TargetFileSize.ofTable(Nil, least = Some(mib(75)), most = None).bytes == mib(100))
    assert(TargetFileSize.ofTable(Seq(mib(1 << 20)), least = None, most = Some(mib(180))).bytes == mib(100))
    assert(TargetFileSize.ofTable(Seq(mib(1024)), least = Some(mib(4)), most = Some(mib(90))).bytes == mib(16))
  }

  private def rewrite(folder: Int, sizes: Seq[Long], outputs: Int): Rewrite = {
    val path = new Path(s"file:/t/p=$folder")
    val files = sizes.zipWithIndex.map { case (size, i) =>
      new FileStatus(size, false, 1, 1, 0, new Path(path, s"f$i"))
    }
    Rewrite(DataFolder(path, InternalRow.empty, files), files, outputs, rest = files.take(1))
  }

  private val rewrites: Gen[Seq[Rewrite]] = for {
    sizes <- Gen.listOf(Gen.nonEmptyListOf(Gen.choose(0L, 100L)))
    outputs <- Gen.listOfN(sizes.size, Gen.choose(1, 20))
  } yield sizes.zip(outputs).zipWithIndex.map { case ((s, n), i) => rewrite(i, s, n) }

  private val twelve = (0 until 12).map(rewrite(_, Seq(10L, 10L), 1))

  private def bytes(r: Rewrite): Long = r.files.map(_.getLen).sum

  test("the parts of a folder have every file once, in order, and only single files exceed the bound") {
    forAll(rewrites, Gen.choose(1L, 400L)) { (all, limit) =>
      val parts = FileGroupSchedule.split(all, limit)
      assert(parts.flatMap(_.files) == all.flatMap(_.files))
      parts.foreach(p => assert(bytes(p) <= limit || p.files.size == 1))
      all.foreach { r =>
        val own = parts.filter(_.folder eq r.folder)
        assert(own.map(_.outputFiles).sum == math.max(r.outputFiles, own.size))
        assert(own.flatMap(_.rest) == r.rest, "what is left of a folder counts once")
      }
    }
    // A folder within the bound is not split.
    val whole = rewrite(0, Seq(40L, 60L), 3)
    assert(FileGroupSchedule.split(Seq(whole), 100) == Seq(whole))
    assert(FileGroupSchedule.split(Seq(whole), 99).map(_.files.size) == Seq(1, 1))
  }

  test("groups have every rewrite once, in order, and only single rewrites exceed the bound") {
    forAll(rewrites, Gen.choose(1L, 1000L), Gen.choose(1, 10)) { (all, limit, wanted) =>
      val groups = FileGroupSchedule.of(all, limit, wanted)
      assert(groups.flatten == all)
      groups.foreach(g => assert(g.map(bytes).sum <= limit || g.size == 1))
    }
  }

  test("folders of equal size make as many groups as are wanted") {
    def groups(of: Seq[Rewrite], limit: Long, wanted: Int) = FileGroupSchedule.of(of, limit, wanted).map(_.size)
    assert(groups(twelve, Long.MaxValue, 1) == Seq(12) && groups(twelve, Long.MaxValue, 4) == Seq(3, 3, 3, 3))
    assert(groups(twelve, 40, 4) == Seq.fill(4)(Seq(2, 1)).flatten)
    val alike = (0 until 12).map(i => rewrite(i, Seq(1000L + 7 * i % 5), 1))
    assert(groups(alike, Long.MaxValue, 4) == Seq(3, 3, 3, 3) && groups(alike, Long.MaxValue, 100) == Seq.fill(12)(1))
  }

  test("there are at most as many commits as allowed, with every group once and in order") {
    forAll(Gen.listOf(Gen.choose(0, 9)), Gen.choose(1, 12)) { (groups, most) =>
      val commits = FileGroupSchedule.commits(groups, most)
      assert(commits.flatten == groups)
      assert(commits.size <= most && commits.forall(_.nonEmpty))
    }
    assert(FileGroupSchedule.commits(1 to 6, 3) == Seq(Seq(1, 2), Seq(3, 4), Seq(5, 6)))
  }

  test("without partial progress there is one commit") {
    def commits(options: FileGroupOptions) = options.commits(twelve).map(_.map(_.size))
    assert(commits(FileGroupOptions(5, None, 1)) == Seq(Seq(12)))
    assert(commits(FileGroupOptions(5, Some(60), 1)) == Seq(Seq(3, 3, 3, 3)))
    assert(commits(FileGroupOptions(5, None, 3)) == Seq(Seq(4), Seq(4), Seq(4)))
    assert(commits(FileGroupOptions(5, Some(40), 3)) == Seq.fill(3)(Seq(2, 2)))
  }
}
