package org.sparkzorder.optimize.auto

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{RecordedWorkload, TableIndex}
import org.sparkzorder.layout.{FileCounts, LayoutSpec, ValueDistribution}
import org.sparkzorder.optimize.{ChosenLayout, LastLayout}
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats.{KeyEncoding, OrderedValue}
import org.sparkzorder.table.{DataFolder, KeyColumns, PlainTable, TableSideFolder}
import org.sparkzorder.workload._
import org.sparkzorder.write.KeyColumn
import org.sparkzorder.write.sample.{ColumnSample, UnitLayouts}

/** The layout that AUTO chose, and its reasons. */
private[sparkzorder] final case class AutoChoice(layout: ChosenLayout, report: AutoReport)

/** The queries that sessions recorded, and those of their columns that can be a key. */
private[sparkzorder] final case class AutoCandidates(sketch: WorkloadSketch, columns: Seq[KeyColumn])

/** `ZORDER BY AUTO`: the layout in which the recorded queries touch the fewest files. */
private[sparkzorder] object AutoLayout {

  /** The share of the curve that goes to what queries ask for, with the option `hot-ranges`. */
  val QueryShare = 0.5

  private val MostColumns = 8

  /** How many columns AUTO tries. */
  val MostCandidates = 12
  private val SampleRows = 20000

  /** With fewer rows to a file, the sample could not tell files apart. */
  private val MinSampleRowsPerFile = 50

  /**
   * @throws org.apache.spark.sql.AnalysisException when there are no such queries or no such
   * columns
   */
  def recorded(table: PlainTable): AutoCandidates = {
    val sketch = RecordedWorkload.of(table)
    if (sketch.isEmpty) throw ZOrderErrors.noWorkload(table.name, "no query has been recorded")
    val columns = sketch.columns.map(_._1).filter(possibleKeys(table)).take(MostCandidates)
    if (columns.isEmpty) throw ZOrderErrors.noWorkload(table.name, "the recorded queries ask for no column that it has")
    AutoCandidates(sketch, keyColumns(table, columns))
  }

  /**
   * @param folders the folders to lay out
   * @param history newest first
   */
  def choose(
      table: PlainTable,
      folders: Seq[DataFolder],
      options: OptimizeOptions,
      history: Seq[Record]
  ): AutoChoice = {
    val recorded = AutoLayout.recorded(table)
    val template: LayoutSpec = LayoutSpec(
      curve = LayoutSpec.ZOrder,
      mapping = LayoutSpec.RangeMapping,
      cuts = if (options.alignedCuts.getOrElse(true)) LayoutSpec.AlignedCuts else LayoutSpec.EqualCuts,
      columns = Nil,
      queryShare = if (options.hotRanges) QueryShare else 0d
    )
    val last = lastLike(template, table, history)
    val lastKeys = last.toSeq.flatMap(_.keys).filterNot(k => recorded.columns.exists(_.path == k.path))
    val keys = recorded.columns ++ lastKeys
    val columns = sampled(table, folders.flatMap(_.files), keys, "sample for AUTO")
    val byPath = columns.map(c => c.path -> c).toMap

    val filesOfFolder = meanFiles(folders, options)
    val comparedFiles =
      math.max(2L, math.min(filesOfFolder, (columns.head.ofRow.length / MinSampleRowsPerFile).toLong)).toInt
    val isAligned = template.cuts == LayoutSpec.AlignedCuts
    val estimate = new LayoutEstimate(columns, recorded.sketch, comparedFiles, isAligned, template.queryShare)
    val current = last.map(l => Trial(l.spec.curve, l.spec.columns.map { case (path, w) => byPath(path) -> w }))
    val choice = LayoutChooser.choose(estimate, recorded.columns.map(c => byPath(c.path)), MostColumns, current)

    // Layouts differ from two files on, so they are compared for two where a folder gets one.
    def ofFolder(share: Double): Double = if (filesOfFolder == 1) 1d else share
    val spec = specOf(choice.trial, template)
    val types = keys.map(k => k.path -> k.dataType).toMap
    val report = AutoReport(
      layout = ChosenLayout.sql(spec),
      reason = AutoReason.of(
        choice,
        recorded.sketch.without(!byPath.contains(_)),
        template.queryShare,
        Option.when(comparedFiles != filesOfFolder)(comparedFiles)
      ),
      queries = estimate.queries.toLong,
      touched = ofFolder(choice.touched),
      equalWeights = ofFolder(choice.naive),
      runnerUp = choice.runnerUp.map(r => ChosenLayout.sql(specOf(r.trial, template)) -> ofFolder(r.touched))
    )
    AutoChoice(ChosenLayout(spec, spec.columns.map { case (path, w) => KeyColumn(path, types(path), w) }), report)
  }

  private def specOf(trial: Trial, template: LayoutSpec): LayoutSpec =
    template.copy(curve = trial.curve, columns = trial.columns.map { case (c, w) => c.path -> w })

  /**
   * The table's last layout, if it differs from a template only in curve and columns, and the table
   * still has all of its columns. The keys have no weights.
   */
  private def lastLike(template: LayoutSpec, table: PlainTable, history: Seq[Record]): Option[ChosenLayout] =
    LastLayout.of(history.iterator).filter { last =>
      last.cuts == template.cuts && last.queryShare == template.queryShare && last.mapping == template.mapping &&
      last.columns.map(_._1).forall(possibleKeys(table))
    }.map(last => ChosenLayout(last, keyColumns(table, last.columns.map(_._1))))

  /** Paths of the columns that a layout can have as keys. */
  def possibleKeys(table: PlainTable): Set[Seq[String]] =
    TableIndex.usableColumns(table).filter(c => OrderedValue.encoding(c.dataType).isDefined).map(_.path).toSet

  def keyColumns(table: PlainTable, paths: Seq[Seq[String]]): Seq[KeyColumn] =
    KeyColumns.resolveAll(table, paths).map { case (path, dataType) => KeyColumn(path, dataType, 1) }

  /** How many files a folder gets, on the mean of all folders. */
  private def meanFiles(folders: Seq[DataFolder], options: OptimizeOptions): Long = {
    val sizes = folders.map(_.files.map(_.getLen).sum)
    val all = options.numFiles.fold(FileCounts.bySize(sizes, options.targetFileSize).map(_.toLong).sum)(_.toLong)
    math.max(1L, all / folders.length)
  }

  /** @param step shown for the job in Spark's UI */
  def sampled(
      table: PlainTable,
      files: Seq[FileStatus],
      keys: Seq[KeyColumn],
      step: String
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
      s"OPTIMIZE ${table.target.title}: $step"
    )
    val index = TableIndex.of(table, TableSideFolder.of(table))
    keys.indices.map { k =>
      val distribution = distributionOf(values(k), new KeyEncoding(keys(k).dataType))
      val ofRow = values(k).map(v => if (v == null) -1 else ConstrainedColumn.placeOf(distribution, v) / 2 - 1)
      new ConstrainedColumn(keys(k).path, distribution, ofRow, ranks(index, keys(k), distribution))
    }
  }

  private def distributionOf(values: Array[Any], encoding: KeyEncoding): ValueDistribution = {
    val known = values.filter(_ != null)
    val nulls = values.length - known.length
    if (encoding.isLong) ValueDistribution.ofLongs(known.map(_.asInstanceOf[Long]), nulls)
    else ValueDistribution.ofBytes(known.map(_.asInstanceOf[Array[Byte]]), nulls)
  }

  /**
   * The rank of each sampled value. The queries' values were ranked by the index, so these are too;
   * without an index, the sample itself ranks them.
   */
  private def ranks(index: Option[IndexSnapshot], key: KeyColumn, d: ValueDistribution): Array[Double] =
    index.flatMap(ColumnAxes.of(_, Column(key.path, key.dataType))) match {
      case Some(axis) => ConstrainedColumn.valuesOf(d).map(axis.rank).toArray
      case None       => Array.tabulate(d.distinct)(i => d.midCdf(2 * i + 2))
    }

  /**
   * For a layout that gives a share of the curve to what queries ask for: a function that adds the
   * recorded queries to the distributions of the columns. Columns without recorded queries keep the
   * distribution of the data.
   */
  def density(table: PlainTable, layout: ChosenLayout): Option[UnitLayouts.Density] =
    Option.when(layout.spec.queryShare > 0) {
      val sketch = RecordedWorkload.of(table)
      val index = TableIndex.of(table, TableSideFolder.of(table))
      distributions =>
        distributions.zip(layout.keys).map { case (d, key) =>
          val column = new ConstrainedColumn(key.path, d, Array.emptyIntArray, ranks(index, key, d))
          ConstrainedColumn.mixed(column, sketch, layout.spec.queryShare)
        }
    }
}
