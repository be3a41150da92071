package org.sparkzorder.optimize.options

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.conf.ByteSizes

class OptimizeOptionsSuite extends AnyFunSuite {

  private def parse(options: (String, String)*): OptimizeOptions =
    OptimizeOptions.parse(options, "parquet", folderBytes = Seq(16L << 30))

  private def error(options: (String, String)*): String = intercept[AnalysisException](parse(options: _*)).getMessage

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
    val message = error("target-file-size-bytes" -> "256MB", "min-file-size-bytes" -> "2GB")
    assert(message.contains("The option 'min-file-size-bytes' cannot be used. Its value is '2147483648'"))
    assert(message.contains("less than max-file-size-bytes (483183820) is expected"))
    // The option that the statement sets is at fault.
    val tooSmall = error("target-file-size-bytes" -> "256MB", "max-file-size-bytes" -> "100MB")
    assert(tooSmall.contains("The option 'max-file-size-bytes' cannot be used. Its value is '104857600'"))
    assert(tooSmall.contains("more than min-file-size-bytes (201326592) is expected"))
  }

  test("an unknown option is an error that lists all options in order") {
    val message = error("num-file" -> "8")
    assert(message.contains("The option 'num-file' cannot be used. There is no option of this name."))
    assert(message.contains(OptionTable.keys.map(k => s"`$k`").mkString(", ")) && OptionTable.keys.size == 23)
  }

  test("an option that is given twice is an error, also in another case") {
    assert(error(
      "num-files" -> "8",
      "NUM-FILES" -> "8"
    ).contains("The option 'num-files' cannot be used. It is given twice."))
  }

  test("a value that is not allowed is an error that names the option, the value and the range") {
    Seq(
      "num-files" -> "0" -> "a whole number from 1 to 1000000",
      "retain-hours" -> "876001" -> "a whole number from 0 to 876000",
      "row-group-size-bytes" -> "1023" -> "a whole number of bytes from 1024 to 2147483647, or a size such as '128MB'",
      "rewrite-all" -> "yes" -> "true or false",
      "mapping" -> "Zones" -> "'range' or 'bytes'",
      "compression" -> "zlib" ->
        "one of none, uncompressed, snappy, gzip, lzo, brotli, lz4, lz4_raw, zstd"
    ).foreach { case ((key, value), expected) =>
      assert(
        error(
          key -> value
        ).contains(s"The option '$key' cannot be used. Its value is '$value', and $expected is expected.")
      )
    }
    assert(OptimizeOptions.parse(Seq("compression" -> "zlib"), "orc", folderBytes = Nil).compression.contains("zlib"))
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
      "0 bytes",
      "1 byte",
      "1023 bytes",
      "1 KiB",
      "1536 bytes",
      "256 MiB",
      "100 GiB",
      "9223372036854775807 bytes"
    ))
    Seq("256 MiB", "1536 bytes").foreach(text => assert(ByteSizes.parse(text).map(ByteSizes.show).contains(text)))
  }
}
