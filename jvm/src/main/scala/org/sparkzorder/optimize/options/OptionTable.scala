package org.sparkzorder.optimize.options

import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.layout.{BytesMapping, LayoutSpec}
import org.sparkzorder.write.rows.BytesKeyInputs

import OptionType._

/**
 * All options of OPTIMIZE and RESTORE. Nothing else knows their keys, defaults and ranges.
 *
 * `docs/reference/options.md` and Python's `spark_zorder/options.py` are written from this table.
 * ReferencePagesSuite fails when they differ.
 */
private[sparkzorder] object OptionTable {

  private val OfLastLayout = "or that of the last layout if the statement names no layout"
  private val Sizes = "Number and size of files"
  private val Layout = "Layout"
  private val Files = "Contents of the new files"
  private val Groups = "Large tables"
  private val Retention = "Way back"
  private val Publishing = "Publishing"
  val InPlace = "in-place"
  val NewLocation = "new-location"

  val targetFileSize = new OptionWithoutDefault("target-file-size-bytes", Sizes, ByteSize(1, Long.MaxValue))(
    default = "by the size of the table: about 64 files, and at least 8 of a partition, of 8 to 256 MiB",
    description = "The size that new files should have. Later statements with the same layout and any `WHERE` " +
      "keep it, until one sets another layout, size or number.",
    example = "128MB"
  )

  val numFiles = new OptionWithoutDefault("num-files", Sizes, int(1, LayoutSpec.MostFiles))(
    default = "by the target size",
    description = "The number of files that the statement should write in all, at least one for each partition. It " +
      "overrides the target size. With aligned cuts the number may differ by a quarter. Later statements with " +
      "the same layout and `WHERE` keep it.",
    example = "64"
  )

  val minFileSize = new OptionWithoutDefault("min-file-size-bytes", Sizes, ByteSize(0, Long.MaxValue))(
    default = "0.75 of the target size",
    description = "Only for packing, that is, without a layout: smaller files are packed together. It must be less " +
      "than `max-file-size-bytes`.",
    example = "64MB"
  )

  val maxFileSize = new OptionWithoutDefault("max-file-size-bytes", Sizes, ByteSize(1, Long.MaxValue))(
    default = "1.8 times the target size",
    description = "Only for packing: larger files are split.",
    example = "1GB"
  )

  val minInputFiles = new OptionWithDefault("min-input-files", Sizes, int(1, Int.MaxValue))(
    defaultValue = 2,
    description = "Only for packing: a group of fewer files is left as it is. A file that is too large is split " +
      "even if it is alone.",
    example = "5"
  )

  val rewriteAll = new OptionWithDefault("rewrite-all", Sizes, TrueOrFalse)(
    defaultValue = false,
    description = "Whether to rewrite all files, also those that have the layout and the size already. `FULL` in the " +
      "statement does the same.",
    example = "true"
  )

  val mapping = new OptionWithoutDefault("mapping", Layout, OneOf(LayoutSpec.RangeMapping, LayoutSpec.BytesMapping))(
    default = s"`range`, $OfLastLayout",
    description = "How values get their positions on the curve. `range` goes by how the values are distributed. " +
      "`bytes` takes the bits of the values in turns, which is the classic Z-order.",
    example = "bytes"
  )

  val varLengthContribution = new OptionWithoutDefault(
    "var-length-contribution",
    Layout,
    int(1, BytesKeyInputs.MostOfVarLength)
  )(
    default = s"${BytesMapping.Default.varLengthContribution}, $OfLastLayout",
    description = "Only with `'mapping' = 'bytes'`: how many bytes of a string or binary value count. Longer values " +
      "are cut, shorter ones are filled up with zeros.",
    example = "16"
  )

  val maxOutputSize = new OptionWithoutDefault("max-output-size", Layout, int(1, Int.MaxValue))(
    default = s"no limit, $OfLastLayout",
    description = "Only with `'mapping' = 'bytes'`: how many bytes of the combined key count. Rows that differ only " +
      "in later bytes are in no particular order.",
    example = "32"
  )

  val cuts = new OptionWithoutDefault("cuts", Layout, OneOf(LayoutSpec.AlignedCuts, LayoutSpec.EqualCuts))(
    default = s"`aligned`, $OfLastLayout",
    description = "Where files end. `aligned` ends them at borders of the curve's cells, so queries read fewer " +
      "files. The files then have about 0.5 to 1.5 times the target size. `equal` makes files of equal size.",
    example = "equal"
  )

  val hotRanges = new OptionWithDefault("hot-ranges", Layout, TrueOrFalse)(
    defaultValue = false,
    description = "Only with `ZORDER BY AUTO`: whether values that queries often ask for go to smaller files.",
    example = "true"
  )

  val sampleRows = new OptionWithoutDefault("sample-rows", Layout, long(1, 100000000L))(
    default = "at least 100 rows for each new file",
    description = "How many rows to sample in all. A larger sample makes files more equal in size, and takes longer.",
    example = "1000000"
  )

  private val codecs = WordOfFormat(
    Seq(
      "parquet" -> Seq("none", "uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "lz4_raw", "zstd"),
      "orc" -> Seq("none", "uncompressed", "snappy", "zlib", "lzo", "zstd", "lz4", "brotli")
    )
  )

  val compression = new OptionWithoutDefault("compression", Files, codecs)(
    default = "the codec of most rewritten files",
    description = "The compression codec of the new files. Some codecs need a library that Spark does not bring along.",
    example = "zstd"
  )

  val rowGroupSize = new OptionWithoutDefault("row-group-size-bytes", Files, ByteSize(1024, Int.MaxValue))(
    default = "as the table's options or Spark's settings say",
    description = "The size of a row group (Parquet) or of a stripe (ORC) in the new files.",
    example = "64MB"
  )

  private val names = "column names separated by commas"

  val bloomFilterColumns = new OptionWithoutDefault(
    "bloom-filter-columns",
    Files,
    ColumnNames(s"$names, `auto` or `none`")
  )(
    default = "the columns that have one in the rewritten files",
    description = "The columns that get Bloom filters in the new files. `auto` chooses those key columns whose " +
      "values have fewer rows than there are files that may contain them.",
    example = "user_id, address.city"
  )

  val membershipColumns = new OptionWithoutDefault("membership-columns", Files, ColumnNames(s"$names, or `none`"))(
    default = "the columns whose values the index keeps already, and those that `JOIN` compares",
    description = "The columns whose values the index keeps for each new file. `CREATE SKIPPING INDEX` with " +
      "`VALUES` does the same for files as they are. A query for a value then skips files that do not have it, also within their bounds.",
    example = "user_id, session_id"
  )

  val allowNanosecondLoss = new OptionWithDefault("allow-nanosecond-loss", Files, TrueOrFalse)(
    defaultValue = false,
    description = "Whether timestamps may lose their digits below the microsecond, which Spark cannot keep. Without " +
      "it, a statement that would lose such digits fails.",
    example = "true"
  )

  val maxConcurrentRewrites = new OptionWithDefault("max-concurrent-file-group-rewrites", Groups, int(1, 1000))(
    defaultValue = FileGroupOptions.DefaultMaxConcurrentRewrites,
    description = "How many file groups are rewritten at the same time. Each group is a Spark job.",
    example = "2"
  )

  val maxGroupSize = new OptionWithoutDefault("max-file-group-size-bytes", Groups, ByteSize(1, Long.MaxValue))(
    default = s"${ByteSizes.show(FileGroupOptions.DefaultMaxGroupSize)}, and no partition is split",
    description = "The size of a file group. If you set it, larger partitions are split into groups, each laid out " +
      "by itself, so a query may read a file of each group.",
    example = "20GB"
  )

  val partialProgress = new OptionWithDefault("partial-progress.enabled", Groups, TrueOrFalse)(
    defaultValue = false,
    description = "Whether finished file groups are committed before the others are done. Each commit is a version " +
      "of the table. If a later group fails, what was committed stays.",
    example = "true"
  )

  val maxCommits = new OptionWithDefault("partial-progress.max-commits", Groups, int(1, Int.MaxValue))(
    defaultValue = FileGroupOptions.DefaultMaxCommits,
    description = "Only with partial progress: the largest number of commits of the statement.",
    example = "4"
  )

  val retainHours = new OptionWithDefault("retain-hours", Retention, long(0, 24L * 36500))(
    defaultValue = 168L,
    description = "How many hours `VACUUM` keeps the files that this statement replaces. As long as they are there, " +
      "`RESTORE` can bring them back.",
    example = "24"
  )

  val commitMode = new OptionWithoutDefault("commit.mode", Publishing, OneOf(InPlace, NewLocation))(
    default = "as for the table before, else `in-place`",
    description = "How the new files come into the table. `in-place` exchanges the files in the table's folders. " +
      "`new-location` writes a new folder and changes the location in the catalog, so that no reader of the table " +
      "sees old and new files together.",
    example = "new-location"
  )

  /** The option of RESTORE. */
  val lostFiles = new OptionWithoutDefault("lost-files", "RESTORE", OneOf("restore"))(
    default = "the statement refuses, and names the files",
    description = "Whether to go back although other programs have deleted files that would go to the trash. All " +
      "rows of the version come back, also those of the deleted files.",
    example = "restore"
  )

  /** The options of OPTIMIZE, in the order of the reference page. */
  val all: Seq[OptimizeOption[_]] = Seq(
    targetFileSize,
    numFiles,
    minFileSize,
    maxFileSize,
    minInputFiles,
    rewriteAll,
    mapping,
    varLengthContribution,
    maxOutputSize,
    cuts,
    hotRanges,
    sampleRows,
    compression,
    rowGroupSize,
    bloomFilterColumns,
    membershipColumns,
    allowNanosecondLoss,
    maxConcurrentRewrites,
    maxGroupSize,
    partialProgress,
    maxCommits,
    retainHours,
    commitMode
  )

  /** In the order in which an error lists them. */
  val keys: Seq[String] = all.map(_.key).sorted
}
