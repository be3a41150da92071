package org.sparkzorder.optimize

import java.util.Locale

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.write.BytesKeyInputs

/**
 * What OPTIONS of OPTIMIZE say. Sizes are bytes. This is the only place that knows the keys.
 *
 * @param numFiles of all the files that the statement writes, at least one a folder; overrides the size
 * @param minFileSize packing: smaller files are rewritten; default 0.75 of the target
 * @param maxFileSize packing: larger files are rewritten; default 1.8 times the target
 * @param minInputFiles packing: a group of fewer files is left alone
 * @param sampleRows rows of the sample, of all folders together
 * @param bloomFilters columns that get Bloom filters, as given
 * @param hotRanges of AUTO: values that queries ask for have more room on the curve
 * @param alignedCuts files end where the curve leaves a cell; None when it is not said
 * @param mapping how values get their places on the curve
 * @param allowNanosecondLoss whether digits of timestamps below the microsecond may be dropped
 * @param fileGroups how much is rewritten and committed at once
 */
final case class OptimizeOptions(
    targetFileSize: Long,
    numFiles: Option[Int],
    minFileSize: Long,
    maxFileSize: Long,
    minInputFiles: Int,
    rewriteAll: Boolean,
    sampleRows: Option[Long],
    compression: Option[String],
    rowGroupSize: Option[Long],
    retainHours: Long,
    bloomFilters: Option[String],
    alignedCuts: Option[Boolean],
    mapping: MappingOptions,
    fileGroups: FileGroupOptions,
    hotRanges: Boolean,
    allowNanosecondLoss: Boolean,
    asGiven: Map[String, String]
) {

  def saysSize: Boolean = numFiles.isDefined || asGiven.contains(OptimizeOptions.targetFileSizeKey)

  /** As if that size had been given, which the history says then. Sizes that only packing looks at stay. */
  def ofRememberedSize(bytes: Long): OptimizeOptions =
    copy(targetFileSize = bytes, asGiven = asGiven + (OptimizeOptions.targetFileSizeKey -> bytes.toString))

  /** Files of the size that so many have, without a reason to rewrite what is there until it is of another size. */
  def ofRememberedNumber(files: Int, bytes: Long): OptimizeOptions =
    copy(
      targetFileSize = math.max(1L, bytes / files),
      asGiven = asGiven + (OptimizeOptions.numFilesKey -> files.toString)
    )
}

object OptimizeOptions {

  private val targetFileSizeKey = "target-file-size-bytes"
  private val numFilesKey = "num-files"
  private val minFileSizeKey = "min-file-size-bytes"
  private val maxFileSizeKey = "max-file-size-bytes"
  private val minInputFilesKey = "min-input-files"
  private val rewriteAllKey = "rewrite-all"
  private[sparkzorder] val mappingKey = "mapping"
  private val cutsKey = "cuts"
  private[sparkzorder] val varLengthContributionKey = "var-length-contribution"
  private[sparkzorder] val maxOutputSizeKey = "max-output-size"
  private[sparkzorder] val hotRangesKey = "hot-ranges"
  private[sparkzorder] val allowNanosecondLossKey = "allow-nanosecond-loss"
  private val sampleRowsKey = "sample-rows"
  private val compressionKey = "compression"
  private val rowGroupSizeKey = "row-group-size-bytes"
  private[sparkzorder] val retainHoursKey = "retain-hours"
  private val maxConcurrentRewritesKey = "max-concurrent-file-group-rewrites"
  private val maxGroupSizeKey = "max-file-group-size-bytes"
  private val partialProgressKey = "partial-progress.enabled"
  private val maxCommitsKey = "partial-progress.max-commits"

  val keys: Seq[String] = Seq(
    targetFileSizeKey,
    numFilesKey,
    minFileSizeKey,
    maxFileSizeKey,
    minInputFilesKey,
    rewriteAllKey,
    mappingKey,
    varLengthContributionKey,
    maxOutputSizeKey,
    cutsKey,
    hotRangesKey,
    allowNanosecondLossKey,
    sampleRowsKey,
    compressionKey,
    rowGroupSizeKey,
    retainHoursKey,
    BloomFilters.Key,
    maxConcurrentRewritesKey,
    maxGroupSizeKey,
    partialProgressKey,
    maxCommitsKey
  ).sorted

  /** What an operation's parameters say on how long its retired files are kept. */
  def retainHours(parameters: Map[String, String]): Long =
    parameters.get(retainHoursKey).flatMap(_.toLongOption).getOrElse(defaultRetainHours)

  /** The number of files that an operation was asked for. */
  private[sparkzorder] def numFiles(parameters: Map[String, String]): Option[Int] =
    parameters.get(numFilesKey).flatMap(_.trim.toIntOption)

  /** The size of files that an operation was asked for, in bytes. */
  private[sparkzorder] def targetFileSize(parameters: Map[String, String]): Option[Long] =
    parameters.get(targetFileSizeKey).flatMap(ByteSizes.parse).filter(_ > 0)

  private val defaultTargetFileSize = 256L << 20
  private val defaultRetainHours = 168L
  private val compressions = Map(
    "parquet" -> Seq("none", "uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "lz4_raw", "zstd"),
    "orc" -> Seq("none", "uncompressed", "snappy", "zlib", "lzo", "zstd", "lz4", "brotli")
  )

  /**
   * @param formatName parquet or orc, whose codecs are allowed
   * @throws org.apache.spark.sql.AnalysisException on an unknown key, a key given twice or a value that is none
   */
  def parse(asGiven: Seq[(String, String)], formatName: String): OptimizeOptions = {
    val options = asGiven.map { case (k, v) => k.toLowerCase(Locale.ROOT) -> v }
    options.find { case (k, _) => !keys.contains(k) }.foreach { case (k, _) =>
      throw ZOrderErrors.unknownOption(k, keys)
    }
    options.groupBy(_._1).find(_._2.size > 1).foreach { case (k, _) => throw ZOrderErrors.duplicateOption(k) }
    val byKey = options.toMap

    val mapping = byKey.get(mappingKey).map(_.trim.toLowerCase(Locale.ROOT))
    mapping.filterNot(Set(LayoutSpec.RangeMapping, LayoutSpec.BytesMapping)).foreach { other =>
      val expected = s"'${LayoutSpec.RangeMapping}' or '${LayoutSpec.BytesMapping}'"
      throw ZOrderErrors.invalidOptionValue(mappingKey, other, expected)
    }
    val cuts = byKey.get(cutsKey).map(_.trim.toLowerCase(Locale.ROOT))
    cuts.filterNot(Set(LayoutSpec.AlignedCuts, LayoutSpec.EqualCuts)).foreach { other =>
      throw ZOrderErrors.invalidOptionValue(cutsKey, other, s"'${LayoutSpec.AlignedCuts}' or '${LayoutSpec.EqualCuts}'")
    }

    def number(key: String, min: Long, max: Long): Option[Long] = byKey.get(key).map { text =>
      text.trim.toLongOption.filter(n => n >= min && n <= max).getOrElse(
        throw ZOrderErrors.invalidOptionValue(key, text, s"a whole number from $min to $max")
      )
    }
    def boolean(key: String): Option[Boolean] = byKey.get(key).map { text =>
      text.trim.toLowerCase(Locale.ROOT).toBooleanOption.getOrElse(
        throw ZOrderErrors.invalidOptionValue(key, text, "true or false")
      )
    }
    def size(key: String, min: Long, max: Long): Option[Long] = byKey.get(key).map { text =>
      ByteSizes.parse(text).filter(n => n >= min && n <= max).getOrElse(
        throw ZOrderErrors.invalidOptionValue(
          key,
          text,
          s"a whole number of bytes from $min to $max, or a size such as '128MB'"
        )
      )
    }
    val target = size(targetFileSizeKey, 1, Long.MaxValue).getOrElse(defaultTargetFileSize)
    val codec = byKey.get(compressionKey).map(_.trim.toLowerCase(Locale.ROOT))
    codec.filterNot(compressions(formatName).contains).foreach { c =>
      throw ZOrderErrors.invalidOptionValue(compressionKey, c, compressions(formatName).mkString("one of ", ", ", ""))
    }
    val maxCommits = number(maxCommitsKey, 1, Int.MaxValue).fold(FileGroupOptions.DefaultMaxCommits)(_.toInt)
    val parsed = OptimizeOptions(
      targetFileSize = target,
      numFiles = number(numFilesKey, 1, LayoutSpec.MostFiles).map(_.toInt),
      minFileSize = size(minFileSizeKey, 0, Long.MaxValue).getOrElse((target * 0.75).toLong),
      maxFileSize = size(maxFileSizeKey, 1, Long.MaxValue).getOrElse((target * 1.8).toLong),
      minInputFiles = number(minInputFilesKey, 1, Int.MaxValue).map(_.toInt).getOrElse(2),
      rewriteAll = boolean(rewriteAllKey).getOrElse(false),
      sampleRows = number(sampleRowsKey, 1, 100000000L),
      compression = codec,
      rowGroupSize = size(rowGroupSizeKey, 1024, Int.MaxValue),
      retainHours = number(retainHoursKey, 0, 24L * 36500).getOrElse(defaultRetainHours),
      bloomFilters = byKey.get(BloomFilters.Key),
      hotRanges = boolean(hotRangesKey).getOrElse(false),
      allowNanosecondLoss = boolean(allowNanosecondLossKey).getOrElse(false),
      alignedCuts = cuts.map(_ == LayoutSpec.AlignedCuts),
      mapping = MappingOptions(
        mapping,
        number(varLengthContributionKey, 1, BytesKeyInputs.MostOfVarLength).map(_.toInt),
        number(maxOutputSizeKey, 1, Int.MaxValue).map(_.toInt)
      ),
      fileGroups = FileGroupOptions(
        maxConcurrentRewrites =
          number(maxConcurrentRewritesKey, 1, 1000).fold(FileGroupOptions.DefaultMaxConcurrentRewrites)(_.toInt),
        maxGroupSize = size(maxGroupSizeKey, 1, Long.MaxValue),
        maxCommits = if (boolean(partialProgressKey).getOrElse(false)) maxCommits else 1
      ),
      asGiven = byKey
    )
    if (parsed.minFileSize >= parsed.maxFileSize)
      throw ZOrderErrors.invalidOptionValue(minFileSizeKey, parsed.minFileSize.toString, s"less than $maxFileSizeKey")
    parsed
  }
}
