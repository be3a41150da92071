package org.sparkzorder.optimize.options

import java.util.Locale

import org.sparkzorder.compat._
import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.LayoutSpec

/**
 * The options of an OPTIMIZE statement, with defaults where the statement sets none. Sizes are in
 * bytes. [[OptionTable]] describes each option.
 *
 * @param target the size that new files should have
 * @param numFiles of all files that the statement writes; overrides the size
 * @param sampleRows rows of the sample, of all folders together
 * @param bloomFilters columns that get Bloom filters, as the statement lists them
 * @param members columns whose values the index keeps, as the statement lists them
 * @param alignedCuts whether files end at borders of cells; None if the statement does not say
 * @param mapping how values get their positions on the curve
 * @param fileGroups how much is rewritten and committed at once
 * @param commitMode how the files are exchanged; None if neither the statement nor the table says it
 * @param asGiven the options that the statement sets, as text
 */
final case class OptimizeOptions(
    target: TargetFileSize,
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
    members: Option[String],
    alignedCuts: Option[Boolean],
    mapping: MappingOptions,
    fileGroups: FileGroupOptions,
    hotRanges: Boolean,
    allowNanosecondLoss: Boolean,
    commitMode: Option[String],
    asGiven: Map[String, String]
) {

  def targetFileSize: Long = target.bytes

  /** The size of new files, unless their number is asked for. */
  def writtenSize: Option[TargetFileSize] = Option.when(numFiles.isEmpty)(target)
  def saysSize: Boolean = numFiles.isDefined || asGiven.contains(OptionTable.targetFileSize.key)

  /** The key of an option that is set although it says nothing without a layout. */
  def ofLayout: Option[String] =
    Seq(OptionTable.cuts, OptionTable.mapping, OptionTable.varLengthContribution, OptionTable.maxOutputSize)
      .map(_.key).find(asGiven.contains)

  /**
   * These options with a size that an earlier statement set. The history will show it as if this statement had set it.
   */
  def ofRememberedSize(bytes: Long): OptimizeOptions = remembered(bytes, OptionTable.targetFileSize.key, bytes)

  private def remembered(target: Long, key: String, value: Long): OptimizeOptions = {
    val least =
      if (asGiven.contains(OptionTable.minFileSize.key)) minFileSize else (target * TargetFileSize.LeastShare).toLong
    copy(
      target = TargetFileSize(target, OptimizeOptions.Remembered),
      minFileSize = least,
      maxFileSize =
        if (asGiven.contains(OptionTable.maxFileSize.key)) maxFileSize
        else math.max(least + 1, (target * TargetFileSize.MostShare).toLong),
      asGiven = asGiven + (key -> value.toString)
    )
  }

  /**
   * These options with a number of files that an earlier statement set, turned into a size. It is not set as
   * `numFiles`, since another number of files alone would then be a reason to rewrite them.
   *
   * @param bytes of all files that the statement is about
   */
  def ofRememberedNumber(files: Int, bytes: Long): OptimizeOptions =
    remembered(math.max(1L, bytes / files), OptionTable.numFiles.key, files.toLong)
}

object OptimizeOptions {
  private val Remembered = "an earlier statement with this layout said so"

  /** How long an operation's retired files are kept, in hours, by the parameters that its record has. */
  def retainHours(parameters: Map[String, String]): Long =
    parameters.get(OptionTable.retainHours.key).flatMap(_.toLongOption).getOrElse(OptionTable.retainHours.defaultValue)

  /** The number of files that an operation's statement set, by the parameters that its record has. */
  private[sparkzorder] def numFiles(parameters: Map[String, String]): Option[Int] =
    parameters.get(OptionTable.numFiles.key).flatMap(_.trim.toIntOption)

  /** The size of files in bytes that an operation's statement set, by the parameters that its record has. */
  private[sparkzorder] def targetFileSize(parameters: Map[String, String]): Option[Long] =
    parameters.get(OptionTable.targetFileSize.key).flatMap(ByteSizes.parse).filter(_ > 0)

  /**
   * @param formatName format of the table, `parquet` or `orc`: each has its own codecs
   * @param folderBytes of the data files in each folder of the table, on which the size of new files depends
   * @throws org.apache.spark.sql.AnalysisException when a key is unknown or given twice, or a value is not allowed
   */
  def parse(asWritten: Seq[(String, String)], formatName: String, folderBytes: => Seq[Long]): OptimizeOptions = {
    val values = OptionValues.of(asWritten, formatName)
    val (least, most) = (values(OptionTable.minFileSize), values(OptionTable.maxFileSize))
    val target = values(OptionTable.targetFileSize)
      .fold(TargetFileSize.ofTable(folderBytes, least, most))(TargetFileSize(
        _,
        "the statement or a table property says so"
      ))
    val options = OptimizeOptions(
      target = target,
      numFiles = values(OptionTable.numFiles),
      minFileSize = least.getOrElse((target.bytes * TargetFileSize.LeastShare).toLong),
      maxFileSize = most.getOrElse((target.bytes * TargetFileSize.MostShare).toLong),
      minInputFiles = values(OptionTable.minInputFiles),
      rewriteAll = values(OptionTable.rewriteAll),
      sampleRows = values(OptionTable.sampleRows),
      compression = values(OptionTable.compression),
      rowGroupSize = values(OptionTable.rowGroupSize),
      retainHours = values(OptionTable.retainHours),
      bloomFilters = values(OptionTable.bloomFilterColumns),
      members = values(OptionTable.membershipColumns),
      alignedCuts = values(OptionTable.cuts).map(_ == LayoutSpec.AlignedCuts),
      mapping = mapping(values),
      fileGroups = fileGroups(values),
      hotRanges = values(OptionTable.hotRanges),
      allowNanosecondLoss = values(OptionTable.allowNanosecondLoss),
      commitMode = values(OptionTable.commitMode),
      asGiven = values.asGiven
    )
    refuseCrossedSizes(options)
    options
  }

  private def mapping(values: OptionValues): MappingOptions = MappingOptions(
    mapping = values(OptionTable.mapping),
    varLengthContribution = values(OptionTable.varLengthContribution),
    maxOutputSize = values(OptionTable.maxOutputSize)
  )

  private def fileGroups(values: OptionValues): FileGroupOptions = {
    val maxCommits = values(OptionTable.maxCommits)
    FileGroupOptions(
      maxConcurrentRewrites = values(OptionTable.maxConcurrentRewrites),
      maxGroupSize = values(OptionTable.maxGroupSize),
      maxCommits = if (values(OptionTable.partialProgress)) maxCommits else 1
    )
  }

  private def refuseCrossedSizes(options: OptimizeOptions): Unit =
    if (options.minFileSize >= options.maxFileSize) {
      val (least, most) = (OptionTable.minFileSize.key, OptionTable.maxFileSize.key)
      // The one that the statement sets is at fault.
      throw if (options.asGiven.contains(least)) ZOrderErrors
        .invalidOptionValue(least, options.minFileSize.toString, s"less than $most (${options.maxFileSize})")
      else ZOrderErrors
        .invalidOptionValue(most, options.maxFileSize.toString, s"more than $least (${options.minFileSize})")
    }
}

/**
 * The options that a statement sets, all of them known and none given twice.
 *
 * @param asGiven the values as text, by key
 * @param formatName format of the table: `parquet` or `orc`
 */
private[sparkzorder] final class OptionValues private (val asGiven: Map[String, String], formatName: String) {

  /** @throws org.apache.spark.sql.AnalysisException when the statement sets a value that is not allowed */
  def apply[T](option: OptionWithoutDefault[T]): Option[T] = valueOf(option)
  def apply[T](option: OptionWithDefault[T]): T = valueOf(option).getOrElse(option.defaultValue)

  private def valueOf[T](option: OptimizeOption[T]): Option[T] = asGiven.get(option.key).map { text =>
    option.valueType.read(text, formatName).getOrElse(
      throw ZOrderErrors.invalidOptionValue(option.key, text, option.valueType.expected(formatName))
    )
  }
}

private[sparkzorder] object OptionValues {

  /**
   * @param asWritten keys, in any case, and values as the statement has them
   * @param known the keys of the statement
   * @throws org.apache.spark.sql.AnalysisException when a key is unknown or is given twice
   */
  def of(asWritten: Seq[(String, String)], formatName: String, known: Seq[String] = OptionTable.keys): OptionValues = {
    val options = asWritten.map { case (key, value) => key.toLowerCase(Locale.ROOT) -> value }
    val keys = options.map(_._1)
    keys.find(!known.contains(_)).foreach(k => throw ZOrderErrors.unknownOption(k, known))
    keys.diff(keys.distinct).headOption.foreach(k => throw ZOrderErrors.duplicateOption(k))
    new OptionValues(options.toMap, formatName)
  }
}
