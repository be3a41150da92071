package org.sparkzorder.optimize.options

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
    assert(
      parse("partial-progress.enabled" -> "true", "partial-progress.max-commits" -> "4").fileGroups.maxCommits == 4
    )
  }

  test("sizes are shown with the largest unit in which they are whole") {
    assert(Seq(0L, 1L, 1023L, 1024L, 1536L, 256L << 20, 100L << 30, Long.MaxValue).map(ByteSizes.show) == Seq(
      "0 bytes", "1 byte", "1023 bytes", "1 KiB", "1536 bytes", "256 MiB", "100 GiB", "9223372036854775807 bytes"
    ))
    Seq("256 MiB", "1536 bytes").foreach(text => assert(ByteSizes.parse(text).map(ByteSizes.show).contains(text)))
  }
}
