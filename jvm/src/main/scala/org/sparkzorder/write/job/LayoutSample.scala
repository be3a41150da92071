package org.sparkzorder.write.job

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.BinaryType

import org.sparkzorder.compat._
import org.sparkzorder.layout._
import org.sparkzorder.stats.KeyEncoding
import org.sparkzorder.write.{FileGroup, FixedFileIndex, NullableSchema, RewriteQueries}
import org.sparkzorder.write.rows.RowPlan
import org.sparkzorder.write.sample._

/** Samples the keys of a rewrite, and makes the layouts of its units by them. */
private[job] final class LayoutSample(
    session: SparkSession,
    spec: RewriteSpec,
    queries: RewriteQueries,
    progress: RewriteProgress
) {
  import LayoutSample._
  import spec.{bytes, keys, maxRecords, shape, units}

  private val files = units.flatMap(_.files).toIndexedSeq
  private val outputFiles = units.map(_.outputFiles).toIndexedSeq
  private val schema = NullableSchema.of(spec.dataSchema)

  val unitOfFile: Array[Int] = units.indices.flatMap(u => units(u).files.map(_ => u)).toArray

  /** The layout, and the number of sampled rows. The rows themselves are no longer held when the write begins. */
  def layout(): (LayoutModel, Long) = {
    val (model, samples) = laidOut(drawn(isAll = false))
    (model, samples.map(_.rows.toLong).sum)
  }

  /** What a write would make. */
  def predict(): RewritePrediction = {
    val samples = drawn(isAll = true)
    val (model, byBytes) = laidOut(samples)
    // What places rows by the bytes of all columns comes before the columns. A limit counts rows.
    val rows = SampledRows.ofUnits(if (maxRecords > 0) samples else byBytes, unitOfFile)
    def limits(unit: Int) =
      Option.when(maxRecords > 0)(LimitedRows(maxRecords, units(unit).rows, shape, hasBorders = keys.nonEmpty))
    RewritePrediction(
      PredictedFiles.of(model, rows, keys.map(_.dataType).toIndexedSeq, limits),
      model.units.toIndexedSeq.map(_.keys),
      model.units.toSeq.flatMap(_.drift)
    )
  }

  /** @param isAll whether nothing is written afterwards */
  private def drawn(isAll: Boolean): Seq[KeySample] =
    if (units.forall(u => sampledShare(u) == 0d)) {
      progress.notSampled(isAll)
      Nil
    } else sample(scan(files).sampled(), progress.sampled(_, isAll))

  /**
   * The layouts, and the sample that says where their files end: another one if the widths of rows
   * differ from place to place.
   */
  private def laidOut(samples: Seq[KeySample]): (LayoutModel, Seq[KeySample]) = {
    val byRows = layouts(samples, None)
    val byBytes = if (outputFiles.exists(_ > 1) && samples.nonEmpty) sampledBytes(byRows, samples) else None
    byBytes.fold((byRows, samples))(s => (layouts(samples, byBytes), s))
  }

  /** A sample that has equally many rows for each byte of a unit; None if all rows are equally wide. */
  private def sampledBytes(model: LayoutModel, samples: Seq[KeySample]): Option[Seq[KeySample]] = {
    val sampled = SampledRows.ofUnits(samples, unitOfFile)
    val widths = probed(model).groupBy(_.unit).flatMap { case (unit, rows) =>
      val keys = sampled.getOrElse(unit, IndexedSeq.empty).map(_.key(model.units(unit)))
      RowWidths.of(rows.map(r => ((r.z, r.tie), r.width)).sortBy(_._1).toIndexedSeq).map(unit -> _.relativeTo(keys))
    }
    val (ofUnit, unitOf) = (widths.toMap, unitOfFile)
    Option.when(ofUnit.nonEmpty)(withPlan(model) { plan =>
      val rows = scan(files)
      sample(rows.sampled(Seq(rows.curveValue(plan))), _ => (), file => ofUnit.get(unitOf(file)))
    })
  }

  /** Rows of some files of each unit that gets several. */
  private def probed(model: LayoutModel): Seq[ProbedRow] = {
    def bytes(some: Iterable[Int]) = some.map(files(_)._1.getLen).sum.toDouble
    val share = WidthProbe.shareOf(bytes(files.indices))
    val ofUnits = files.indices.groupBy(unitOfFile(_)).filter { case (unit, _) => outputFiles(unit) > 1 }
    val chosen = ofUnits.values.toSeq.flatMap(own => WidthProbe.evenlySpaced(share)(own.size).map(own)).sorted
    // Large files are not read whole.
    val ofChosen = math.min(1d, share * bytes(files.indices) / math.max(1d, bytes(chosen)))
    val times = WidthProbe.times(units.map(u => sampledShare(u) * u.rows).sum, schema.length)
    val ofUnit = ofUnits.map { case (unit, own) =>
      val read = bytes(own.filter(chosen.toSet)) / math.max(1d, bytes(own)) * ofChosen
      unit -> sampledShare(units(unit)) * times / math.max(read, 1e-9)
    }
    val unitOfChosen = chosen.map(unitOfFile).toArray
    val shares = session.sparkContext.broadcast(unitOfChosen.map(ofUnit))
    try withPlan(new LayoutModel(model.units, unitOfChosen)) { plan =>
        val rows = scan(chosen.map(files))
        val query = queries.planned(rows.sampled(Seq(rows.curveValue(plan), rows.allColumns)))
        val task = WidthProbe.task(shares, unitOfChosen, schema.map(_.dataType))
        queries.run[Array[ProbedRow]](
          "widths",
          query,
          partitions = WidthProbe.evenlySpaced(ofChosen)
        )(task).flatMap(_.toSeq)
      }
    finally shares.destroy()
  }

  private def withPlan[T](model: LayoutModel)(body: Broadcast[RowPlan] => T): T = {
    val plan = session.sparkContext.broadcast(new RowPlan(model))
    try body(plan)
    finally plan.destroy()
  }

  def scan(files: Seq[(FileStatus, Long)]): RewriteScan = {
    val relation = FixedFileIndex.relation(session, spec.format, schema, spec.readOptions, files.map(_._1))
    new RewriteScan(session, relation, keys, bytes, spec.dimensions)
  }

  private def sample(
      rows: LogicalPlan,
      ended: Int => Unit,
      widths: Int => Option[RowWidths] = _ => None
  ): Seq[KeySample] = {
    val query = queries.planned(rows)
    val ofUnit = units.map(sampledShare)
    val shares = session.sparkContext.broadcast(unitOfFile.map(ofUnit))
    progress.step("sampling")
    try queries.run(
        "sample",
        query,
        (tasks: Int, _: KeySample) => ended(tasks)
      )(KeySample.task(shares, RewriteScan.encodings(keys, bytes).toArray, widths))
    finally shares.destroy()
  }

  /**
   * The probability to sample a row of a unit. Zero for a unit that needs no sample: one without
   * rows, or one that becomes a single file in the order of arrival.
   */
  private def sampledShare(unit: FileGroup): Double =
    if (unit.rows == 0 || (keys.isEmpty && unit.outputFiles == 1)) 0d
    else {
      val wanted = spec.sampleRows match {
        case Some(n) => math.max(n.toDouble * unit.outputFiles / outputFiles.map(_.toLong).sum, unit.outputFiles)
        case None    => math.max(SampleOfFile.toDouble * filesOf(unit), MinSample.toDouble)
      }
      // Five standard deviations more, so that chance hardly ever draws fewer rows than wanted.
      math.min(1d, (wanted + 5 * math.sqrt(wanted)) / unit.rows)
    }

  /** About how many files a unit will have, as far as a sample should grow with them. */
  private def filesOf(unit: FileGroup): Long = {
    val byRows = if (maxRecords > 0) (unit.rows + maxRecords - 1) / maxRecords else 0L
    math.max(unit.outputFiles.toLong, math.min(byRows, unit.outputFiles.toLong * MostSplit))
  }

  private def layouts(samples: Seq[KeySample], placing: Option[Seq[KeySample]]): LayoutModel = UnitLayouts(
    unitOfFile,
    outputFiles,
    encodings = keys.map(k => new KeyEncoding(k.dataType)),
    weights = if (bytes.isDefined) Seq(1d) else keys.map(_.weight),
    shape,
    bytesKey = bytes.map(_ => new KeyEncoding(BinaryType)),
    stored = true,
    joinedCurves,
    spec.density
  ).of(samples, placing)

  private def joinedCurves: Map[Int, JoinedCurve] = {
    val joined = for { (unit, u) <- units.zipWithIndex; p <- unit.placement } yield {
      val unplaced = files.indices.filter(i => unitOfFile(i) == u && p.unplaced(files(i)._1.getPath))
      u -> JoinedCurve(p.placement, unplaced.toSet)
    }
    joined.toMap
  }

}

private[sparkzorder] object LayoutSample {

  /** Rows to sample for each output file. */
  val SampleOfFile = 100

  /** Files that a limit of rows may make of one, as far as the sample grows with them. */
  private val MostSplit = 16

  /** Rows to sample for each unit, at least. */
  val MinSample = 2000
}
