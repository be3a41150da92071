package org.sparkzorder.optimize

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DoubleType, LongType, StringType, StructType}

import org.sparkzorder.commit.Record
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{RecordedWorkload, TableIndex}
import org.sparkzorder.layout.{BytesDistribution, FileCounts, LayoutSpec, LongDistribution, ValueDistribution}
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats.{KeyEncoding, OrderedValue}
import org.sparkzorder.table.{DataFolder, KeyColumns, PlainTable, TableSideFolder}
import org.sparkzorder.workload._
import org.sparkzorder.write.{ColumnSample, KeyColumn, UnitLayouts}

/**
 * Why AUTO chose what it chose.
 *
 * @param layout as it would be written
 * @param queries recorded ones that it was chosen for
 * @param touched the share of the files that such a query touches, about; of 400 files where there will be more
 * @param equalWeights the same with all the queries' columns at equal weights
 */
private[sparkzorder] final case class AutoReport(
    layout: String,
    reason: String,
    queries: Long,
    touched: Double,
    equalWeights: Double
) {
  def row: Row = Row(layout, reason, queries, touched, equalWeights)
}

private[sparkzorder] object AutoReport {
  val schema: StructType = new StructType()
    .add("layout", StringType, nullable = false)
    .add("reason", StringType, nullable = false)
    .add("queries", LongType, nullable = false)
    .add("touchedShare", DoubleType, nullable = false)
    .add("touchedShareEqualWeights", DoubleType, nullable = false)
}

/** `ZORDER BY AUTO`: the layout that the recorded queries touch the fewest files of. */
private[sparkzorder] object AutoLayout {

  /** Room on the curve that the queries get when they are asked for it. */
  val QueryShare = 0.5

  private val MostColumns = 8

  /** Columns that are looked at. */
  private val MostCandidates = 12
  private val SampleRows = 20000

  /** A file of the sample has so many rows at least. */
  private val RowsOfFile = 50

  /** The recorded queries with those of their columns that can be a key.
   *
   * @throws org.apache.spark.sql.AnalysisException when there are none
   */
  def recorded(table: PlainTable): (WorkloadSketch, Seq[KeyColumn]) = {
    val sketch = RecordedWorkload.of(table)
    if (sketch.isEmpty) throw ZOrderErrors.noWorkload(table.name, "no query has been recorded")
    val usable =
      TableIndex.usableColumns(table).filter(c => OrderedValue.encoding(c.dataType).isDefined).map(_.path).toSet
    val columns = sketch.columns.map(_._1).filter(usable).take(MostCandidates)
    if (columns.isEmpty) throw ZOrderErrors.noWorkload(table.name, "the recorded queries ask for no column that it has")
    sketch -> KeyColumns.resolveAll(table, columns).map { case (path, dataType) => KeyColumn(path, dataType, 1) }
  }

  /**
   * @param folders that are to be laid out
   * @param history newest first
   */
  def choose(
      table: PlainTable,
      folders: Seq[DataFolder],
      options: OptimizeOptions,
      history: Seq[Record]
  ): (LayoutSpec, Seq[KeyColumn], AutoReport) = {
    val (sketch, candidates) = recorded(table)
    val share = if (options.hotRanges) QueryShare else 0d
    val cuts = if (options.alignedCuts.getOrElse(true)) LayoutSpec.AlignedCuts else LayoutSpec.EqualCuts
    val last = history.iterator.flatMap(_.layout).flatMap(LayoutSpec.parse).nextOption().filter { spec =>
      spec.cuts == cuts && spec.queryShare == share && spec.mapping == LayoutSpec.RangeMapping
    }
    val lastKeys = last.flatMap(keysOf(table, _))
    val others = lastKeys.toSeq.flatten.filterNot(k => candidates.exists(_.path == k.path))
    val columns = sampled(table, folders.flatMap(_.files), candidates ++ others)
    val wanted = filesOf(folders, options)
    // As many as the sample can tell apart at most.
    val files = math.max(2L, math.min(wanted, (columns.head.ofRow.length / RowsOfFile).toLong)).toInt
    val byPath = columns.map(c => c.path -> c).toMap
    val current = for { spec <- last; _ <- lastKeys } yield Trial(
      spec.curve,
      spec.columns.map { case (path, w) => byPath(path) -> w }
    )
    val estimate = new LayoutEstimate(columns, sketch, files, cuts == LayoutSpec.AlignedCuts, share)
    val choice = LayoutChooser.choose(estimate, candidates.map(c => byPath(c.path)), MostColumns, current)
    val chosen = choice.trial.columns.map { case (c, w) => c.path -> w }
    val spec = LayoutSpec(choice.trial.curve, LayoutSpec.RangeMapping, cuts, chosen, queryShare = share)
    val types = (candidates ++ others).map(k => k.path -> k.dataType).toMap
    val report = AutoReport(
      text(spec),
      AutoReason.of(choice, sketch.without(!byPath.contains(_)), share, Option.when(files < wanted)(files)),
      estimate.queries.toLong,
      choice.touched,
      choice.naive
    )
    (spec, chosen.map { case (path, w) => KeyColumn(path, types(path), w) }, report)
  }

  /** The keys of an earlier layout; None when the table has not all of them any more. */
  private def keysOf(table: PlainTable, spec: LayoutSpec): Option[Seq[KeyColumn]] = {
    val usable =
      TableIndex.usableColumns(table).filter(c => OrderedValue.encoding(c.dataType).isDefined).map(_.path).toSet
    Option.when(spec.columns.forall(c => usable(c._1))) {
      KeyColumns.resolveAll(table, spec.columns.map(_._1)).map { case (path, dataType) => KeyColumn(path, dataType, 1) }
    }
  }

  /** Files of one folder. */
  private def filesOf(folders: Seq[DataFolder], options: OptimizeOptions): Long = {
    val sizes = folders.map(_.files.map(_.getLen).sum)
    val all = options.numFiles.fold(FileCounts.bySize(sizes, options.targetFileSize).map(_.toLong).sum)(_.toLong)
    math.max(2L, all / folders.length)
  }

  private def sampled(table: PlainTable, files: Seq[FileStatus], keys: Seq[KeyColumn]): IndexedSeq[ConstrainedColumn] = {
    val relation = table.relation
    val values = ColumnSample.draw(
      table.session,
      relation.fileFormat,
      table.dataSchema,
      relation.options,
      files,
      keys,
      SampleRows,
      s"OPTIMIZE ${table.name}: sample for AUTO"
    )
    val index = TableIndex.of(table, TableSideFolder.of(table))
    keys.indices.map { k =>
      val distribution = distributionOf(values(k), new KeyEncoding(keys(k).dataType))
      val ofRow = values(k).map(v => if (v == null) -1 else placeOf(distribution, v) / 2 - 1)
      new ConstrainedColumn(keys(k).path, distribution, ofRow, ranks(index, keys(k), distribution))
    }
  }

  private def distributionOf(values: Array[Any], encoding: KeyEncoding): ValueDistribution = {
    val known = values.filter(_ != null)
    val nulls = values.length - known.length
    if (encoding.isLong) ValueDistribution.ofLongs(known.map(_.asInstanceOf[Long]), nulls)
    else ValueDistribution.ofBytes(known.map(_.asInstanceOf[Array[Byte]]), nulls)
  }

  private def placeOf(d: ValueDistribution, value: Any): Int = (d, value) match {
    case (l: LongDistribution, v: Long)         => l.place(v)
    case (b: BytesDistribution, v: Array[Byte]) => b.place(v)
    case (_, v) => throw new IllegalArgumentException(s"not a value of the column: ${v.getClass.getName}")
  }

  /** Places of the sampled values by the statistics that the queries' values were placed by; without any, by the sample. */
  private def ranks(index: Option[IndexSnapshot], key: KeyColumn, d: ValueDistribution): Array[Double] =
    index.flatMap(ColumnAxes.of(_, Column(key.path, key.dataType))) match {
      case Some(axis) => ConstrainedColumn.valuesOf(d).map(axis.rank).toArray
      case None       => Array.tabulate(d.distinct)(i => d.midCdf(2 * i + 2))
    }

  /**
   * For a layout with room for queries: the distributions of its columns with what queries ask for now. Where nothing is
   * recorded any more they stay those of the data.
   */
  def density(table: PlainTable, spec: LayoutSpec, keys: Seq[KeyColumn]): Option[UnitLayouts.Density] =
    Option.when(spec.queryShare > 0) {
      val sketch = RecordedWorkload.of(table)
      val index = TableIndex.of(table, TableSideFolder.of(table))
      distributions =>
        distributions.zip(keys).map { case (d, key) =>
          val column = new ConstrainedColumn(key.path, d, Array.emptyIntArray, ranks(index, key, d))
          ConstrainedColumn.mixed(column, sketch, spec.queryShare)
        }
    }

  private def number(w: Double): String = if (w == math.rint(w)) w.toLong.toString else w.toString

  private def text(spec: LayoutSpec): String = {
    val columns = spec.columns.map { case (path, w) =>
      AutoReason.name(path) + (if (w == 1) "" else s" WEIGHT ${number(w)}")
    }
    s"${spec.curve.toUpperCase(java.util.Locale.ROOT)} BY ${columns.mkString("(", ", ", ")")}"
  }
}
