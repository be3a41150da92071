package org.sparkzorder.optimize.auto

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.{RecordedWorkload, TableIndex}
import org.sparkzorder.layout.{DistinctValues, FileCounts, JoinSpec, LayoutSpec, ValueDistribution}
import org.sparkzorder.optimize.join.DimensionJoin
import org.sparkzorder.optimize.{ChosenLayout, LastLayout}
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.stats.{KeyEncoding, OrderedValue}
import org.sparkzorder.table.{DataFolder, KeyColumns, PlainTable, TableSideFolder}
import org.sparkzorder.workload._
import org.sparkzorder.write.{Dimension, KeyColumn}
import org.sparkzorder.write.sample.{ColumnSample, UnitLayouts}

/**
 * The layout that AUTO chose, and its reasons.
 *
 * @param dimensions the rows of those that have some of its keys
 */
private[sparkzorder] final case class AutoChoice(layout: ChosenLayout, report: AutoReport, dimensions: Seq[Dimension])

/** `ZORDER BY AUTO`: the layout in which the recorded queries touch the fewest files. */
private[sparkzorder] object AutoLayout {

  /** The share of the curve that goes to what queries ask for, with the option `hot-ranges`. */
  val QueryShare = 0.5

  private val MostColumns = 8

  val MostCandidates = 12
  private val SampleRows = 20000

  /** With fewer rows to a file, the sample could not tell files apart. */
  private val MinSampleRowsPerFile = 50

  /**
   * The queries that sessions recorded, and those of their columns that can be a key.
   *
   * @param dimensions those that may have some of the columns
   */
  private final case class Candidates(sketch: WorkloadSketch, columns: Seq[KeyColumn], dimensions: AutoDimensions)

  /** Throws an error if there are no recorded queries, or none that ask for a column that can be a key. No job runs. */
  def check(table: PlainTable): Unit = {
    recorded(table, Nil)
    ()
  }

  /** @param before joins of the last layout */
  private def recorded(table: PlainTable, before: Seq[JoinSpec]): Candidates = {
    val all = RecordedWorkload.of(table)
    if (all.isEmpty) throw ZOrderErrors.noWorkload(table.name, "no query has been recorded")
    val dimensions = AutoDimensions.of(table, (all.joins ++ before).distinct)
    val columns = all.only(_.join.forall(dimensions.has)).columns.map(_._1)
    val key = keyOf(table, dimensions)
    val found = columns.map(path => path -> key(path))
    val lost = found.collect { case (path, None) if JoinSpec.isAttribute(path) => path }
    candidates(table, all, found.flatMap(_._2).take(MostCandidates), dimensions.without(lost))
  }

  private def candidates(
      table: PlainTable,
      all: WorkloadSketch,
      columns: Seq[KeyColumn],
      dimensions: AutoDimensions
  ): Candidates = {
    if (columns.isEmpty) {
      val reason = "the recorded queries ask for no column that it has"
      throw ZOrderErrors.noWorkload(table.name, reason + dimensions.leftOutText)
    }
    Candidates(all.only(_.join.forall(dimensions.has)), columns, dimensions)
  }

  /** Finds columns of the table or of its dimensions by their paths in a layout; None for others. */
  private def keyOf(table: PlainTable, dimensions: AutoDimensions): Seq[String] => Option[KeyColumn] = {
    val own = possibleKeys(table)
    path =>
      if (own(path)) keyColumns(table, Seq(path)).headOption
      else dimensions.typeOf(path).map(KeyColumn(path, _, 1))
  }

  /**
   * @param folders the folders to lay out
   * @param members the columns whose values the index will keep
   * @param history newest first
   */
  def choose(
      table: PlainTable,
      folders: Seq[DataFolder],
      options: OptimizeOptions,
      members: Set[Seq[String]],
      history: Seq[Record]
  ): AutoChoice = {
    val template: LayoutSpec = LayoutSpec(
      curve = LayoutSpec.ZOrder,
      mapping = LayoutSpec.RangeMapping,
      cuts = if (options.alignedCuts.getOrElse(true)) LayoutSpec.AlignedCuts else LayoutSpec.EqualCuts,
      columns = Nil,
      queryShare = if (options.hotRanges) QueryShare else 0d
    )
    val before = LastLayout.of(history.iterator).filter { last =>
      last.cuts == template.cuts && last.queryShare == template.queryShare && last.mapping == template.mapping
    }
    val (recorded, last, rows) = readable(table, before)
    val joined = recorded.dimensions
    val keys = recorded.columns ++ last.toSeq.flatten.filterNot(k => recorded.columns.exists(_.path == k.path))
    val filesOfFolder = meanFiles(folders, options)
    val columns = sampled(table, folders.flatMap(_.files), keys, "sample for AUTO", rows, joined.joins)
      .map(c => if (members(c.path)) answered(table, c, filesOfFolder * folders.size) else c)
    val byPath = columns.map(c => c.path -> c).toMap
    val comparedFiles =
      math.max(2L, math.min(filesOfFolder, (columns.head.ofRow.length / MinSampleRowsPerFile).toLong)).toInt
    val isAligned = template.cuts == LayoutSpec.AlignedCuts
    val estimate = new LayoutEstimate(columns, recorded.sketch, comparedFiles, isAligned, template.queryShare)
    val current = before.filter(_ => last.isDefined)
      .map(l => Trial(l.curve, l.columns.map { case (path, w) => byPath(path) -> w }))
    val choice = LayoutChooser.choose(estimate, recorded.columns.map(c => byPath(c.path)), MostColumns, current)
    def specOf(trial: Trial): LayoutSpec = {
      val paths = trial.columns.map { case (c, w) => c.path -> w }
      val used = joined.joins.map(_.spec).filter(spec => paths.exists { case (path, _) => spec.has(path) })
      template.copy(curve = trial.curve, columns = paths, joins = used)
    }
    // The same text as before, by which files know that they are in this layout.
    val spec = before.filter(_ => choice.kept).getOrElse(specOf(choice.trial))
    val report = new AutoReason(recorded.sketch.only(u => byPath.contains(u.path)), filesOfFolder, comparedFiles)
      .report(choice, estimate.queries.toLong, spec, specOf, joined.leftOutText)
    val joins = joined.joins.filter(j => spec.columns.exists { case (path, _) => j.spec.has(path) })
    val weighted = spec.columns.map { case (path, w) => keys.find(_.path == path).get.copy(weight = w) }
    val used = rows.filter(_.attributes.exists(path => weighted.exists(_.path == path)))
    AutoChoice(ChosenLayout(spec, weighted, joins), report, used)
  }

  /** The recorded queries, the key columns of the last layout, and the rows of the dimensions that can be read. */
  private def readable(
      table: PlainTable,
      before: Option[LayoutSpec]
  ): (Candidates, Option[Seq[KeyColumn]], Seq[Dimension]) = {
    def ofLast(dimensions: AutoDimensions): Option[Seq[KeyColumn]] = before.flatMap { last =>
      val key = keyOf(table, dimensions)
      val found = last.columns.map { case (path, _) => key(path) }
      Option.when(found.forall(_.isDefined))(found.flatten)
    }
    val opened = recorded(table, before.toSeq.flatMap(_.joins))
    val (rows, readable) = opened.dimensions.read(opened.columns ++ ofLast(opened.dimensions).toSeq.flatten)
    val stillThere = opened.columns.filter(k => k.isOfFiles || readable.joins.exists(_.spec.has(k.path)))
    (candidates(table, opened.sketch, stillThere, readable), ofLast(readable), rows)
  }

  /** The column, if the index has its values: the mean rows of a value are in no more files. */
  private def answered(table: PlainTable, column: ConstrainedColumn, files: Long): ConstrainedColumn = {
    val sample = column.values
    val rows = TableIndex.of(table, TableSideFolder.of(table)).fold(0L)(index =>
      (0 until index.files).iterator.map(i => math.max(0L, index.rows(i))).sum
    )
    val notNull = rows.toDouble * (sample.total - sample.nulls) / math.max(1, sample.total)
    val ofValue = notNull / math.max(1d, DistinctValues.estimate(sample, rows))
    column.withHolding(if (rows == 0) 1d else math.min(1d, ofValue / files))
  }

  def possibleKeys(table: PlainTable): Set[Seq[String]] =
    TableIndex.usableColumns(table).filter(c => OrderedValue.encoding(c.dataType).isDefined).map(_.path).toSet

  def keyColumns(table: PlainTable, paths: Seq[Seq[String]]): Seq[KeyColumn] =
    KeyColumns.resolveAll(table, paths).map { case (path, dataType) => KeyColumn(path, dataType, 1) }

  private def meanFiles(folders: Seq[DataFolder], options: OptimizeOptions): Long = {
    val sizes = folders.map(_.files.map(_.getLen).sum)
    val all = options.numFiles.fold(FileCounts.bySize(sizes, options.targetFileSize).map(_.toLong).sum)(_.toLong)
    math.max(1L, all / folders.length)
  }

  /**
   * @param step shown for the job in Spark's UI
   * @param dimensions those that have some of the keys
   * @param joins with these dimensions
   */
  def sampled(
      table: PlainTable,
      files: Seq[FileStatus],
      keys: Seq[KeyColumn],
      step: String,
      dimensions: Seq[Dimension] = Nil,
      joins: Seq[DimensionJoin] = Nil
  ): IndexedSeq[ConstrainedColumn] = {
    val relation = table.relation
    val values = ColumnSample.draw(
      table.session,
      relation.fileFormat,
      table.dataSchema,
      relation.options,
      files,
      keys,
      SampleRows,
      s"OPTIMIZE ${table.target.title}: $step",
      dimensions
    )
    val axes = new KeyAxes(table, joins)
    keys.indices.map { k =>
      val distribution = ValueDistribution.ofEncoded(values(k).toSeq, new KeyEncoding(keys(k).dataType).isLong)
      val ofRow = values(k).map(v => if (v == null) -1 else ConstrainedColumn.placeOf(distribution, v) / 2 - 1)
      new ConstrainedColumn(keys(k).path, distribution, ofRow, axes.ranks(keys(k), distribution))
    }
  }

  /**
   * For a layout that gives a share of the curve to what queries ask for: a function that adds the recorded queries to
   * the distributions of the columns. Columns without recorded queries keep the distribution of the data.
   */
  def density(table: PlainTable, layout: ChosenLayout): Option[UnitLayouts.Density] =
    Option.when(layout.spec.queryShare > 0) {
      val sketch = RecordedWorkload.of(table)
      val axes = new KeyAxes(table, layout.joins)
      distributions =>
        distributions.zip(layout.keys).map { case (d, key) =>
          val column = new ConstrainedColumn(key.path, d, Array.emptyIntArray, axes.ranks(key, d))
          ConstrainedColumn.mixed(column, sketch, layout.spec.queryShare)
        }
    }
}
