package org.sparkzorder.optimize.options

import scala.util.Random

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.conf.ByteSizes

class OptimizeOptionsSuite extends AnyFunSuite {

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
}
