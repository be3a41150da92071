package org.sparkzorder.write.job

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.schema.MessageType
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFileFormat, SparkToParquetSchemaConverter}
import org.apache.spark.sql.types.{BinaryType, StructType}
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.commit.WrittenNames
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.layout._
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.stats.{ColumnKey, IndexedColumns, KeyEncoding}
import org.sparkzorder.write.check.{HashedRowsStrategy, ListedInputs, ReadBack, ReadRows, RowSum}
import org.sparkzorder.write.encode.{BloomFilterSize, FloatDictionaries, MisleadingFilters}
import org.sparkzorder.write.orc.OrcFloats
import org.sparkzorder.write.preserve.{KeptOrc, KeptParquet, KnownEncodings, PreservedMetadata}
import org.sparkzorder.write.rows.{ColumnsToRowsStrategy, PackedRowsStrategy, RowPlan}
import org.sparkzorder.write.sample.{
  JoinedCurve,
  KeySample,
  LimitedRows,
  PredictedFiles,
  ProbedRow,
  RewritePrediction,
  SampledRows,
  UnitLayouts,
  WidthProbe
}
import org.sparkzorder.write.task.{FileTask, OpenUploads, OrcZone, SlotLimits, WrittenFile}
import org.sparkzorder.write.{
  Dimension,
  FileGroup,
  FixedFileIndex,
  KeyColumn,
  NullableSchema,
  RewriteQueries,
  RewriteSession,
  StoredAsText
}

/**
 * Reads the files of some units and writes their rows anew, in order, to as many files as asked
 * for. One narrow job samples the keys, then one job with one shuffle writes. The input files stay
 * as they are; the new files go to a staging folder.
 *
 * @param dataSchema of the files, without partition columns. New files have it too, with every
 *   column nullable
 * @param readOptions of the relation
 * @param writeOptions of the data source, including Hadoop settings of the format; they may depend
 *   on the layout
 * @param sessionConf settings of the session to read and write with; they win over the caller's
 * @param keys columns to cluster by; none to keep rows in the order in which they arrived
 * @param stagingDir for units without a folder of their own; created when one of them needs it
 * @param indexed columns to collect statistics of
 * @param description shown for the jobs in Spark's UI
 * @param shape how rows are ordered and cut
 * @param sampleRows rows to sample in all; None for 100 for each output file, but at least
 *   [[RewriteJob.MinSample]] for each unit
 * @param bytes set to order rows by one key made of the bytes of all key columns; None to order by
 *   ids of their values
 * @param maxRecords most rows of a file: a file that would have more is written as several; 0 for
 *   no limit
 * @param kept what the new files take over from the old ones beside the rows
 * @param density set when ids are made of other distributions than the columns' own in the sample
 * @param hashed whether rows are hashed before the shuffle and when they are written, and read back.
 *   False only to measure the cost
 * @param uploads set on an object store
 * @param dimensions those that have some of the keys
 */
final class RewriteJob(
    spark: SparkSession,
    format: FileFormat,
    dataSchema: StructType,
    readOptions: Map[String, String],
    writeOptions: LayoutModel => Map[String, String],
    sessionConf: Map[String, String],
    units: Seq[FileGroup],
    keys: Seq[KeyColumn],
    stagingDir: Path,
    indexed: IndexedColumns,
    description: String,
    shape: LayoutShape,
    sampleRows: Option[Long] = None,
    bytes: Option[BytesMapping] = None,
    maxRecords: Long = 0,
    density: Option[UnitLayouts.Density] = None,
    hashed: Boolean = true,
    kept: Option[PreservedMetadata] = None,
    uploads: Option[OpenUploads] = None,
    dimensions: Seq[Dimension] = Nil
) {
  private val session = {
    val own = RewriteSession.of(spark, sessionConf)
    own.experimental.extraStrategies = own.experimental.extraStrategies ++
      Seq(ColumnsToRowsStrategy, HashedRowsStrategy, PackedRowsStrategy)
    own
  }
  private val queries = new RewriteQueries(session, description)
  private val files = units.flatMap(_.files).toIndexedSeq
  private lazy val progress =
    new RewriteProgress(StatementProgress.current, files.map(_._1.getLen).sum, files.map(_._2).sum)
  private val unitOfFile = units.indices.flatMap(u => units(u).files.map(_ => u)).toArray
  private val outputFiles = units.map(_.outputFiles).toIndexedSeq
  private val schema = NullableSchema.of(dataSchema)

  /**
   * Runs both jobs. Errors are Spark's own. A failed run may leave staged files, which are of no
   * use.
   */
  def run(): RewriteResult = {
    val started = System.nanoTime()
    val (model, sampledRows) = sampledLayout()
    val sampled = System.nanoTime()
    progress.laidOut(model.slots.toLong - outputFiles.map(_.toLong).sum)
    val read = new ReadRows(progress.read(_))
    progress.step("writing")
    val outputs = write(model, read)
    val written = System.nanoTime()
    RewriteResult(
      outputs,
      samples = model.units.toIndexedSeq.map(_.keys),
      sampledRows = sampledRows,
      sampleMillis = (sampled - started) / 1000000,
      writeMillis = (written - sampled) / 1000000,
      drifts = model.units.toSeq.flatMap(_.drift),
      read = if (hashed) ofUnits(read) else IndexedSeq.empty
    )
  }

  /** Runs the first job only, and says what the second one would write. */
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

  /** The layout, and the number of sampled rows. The rows themselves are no longer held when the write begins. */
  private def sampledLayout(): (LayoutModel, Long) = {
    val (model, samples) = laidOut(drawn(isAll = false))
    (model, samples.map(_.rows.toLong).sum)
  }

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

  private def scan(files: Seq[(FileStatus, Long)]): RewriteScan = {
    val relation = FixedFileIndex.relation(session, format, schema, readOptions, files.map(_._1))
    new RewriteScan(session, relation, keys, bytes, dimensions)
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
      val wanted = sampleRows match {
        case Some(n) => math.max(n.toDouble * unit.outputFiles / outputFiles.map(_.toLong).sum, unit.outputFiles)
        case None    => math.max(RewriteJob.SampleOfFile.toDouble * filesOf(unit), RewriteJob.MinSample.toDouble)
      }
      // Five standard deviations more, so that chance hardly ever draws fewer rows than wanted.
      math.min(1d, (wanted + 5 * math.sqrt(wanted)) / unit.rows)
    }

  /** About how many files a unit will have, as far as a sample should grow with them. */
  private def filesOf(unit: FileGroup): Long = {
    val byRows = if (maxRecords > 0) (unit.rows + maxRecords - 1) / maxRecords else 0L
    math.max(unit.outputFiles.toLong, math.min(byRows, unit.outputFiles.toLong * RewriteJob.MostSplit))
  }

  private def layouts(samples: Seq[KeySample], placing: Option[Seq[KeySample]]): LayoutModel = UnitLayouts.of(
    samples,
    unitOfFile,
    outputFiles,
    encodings = keys.map(k => new KeyEncoding(k.dataType)),
    weights = if (bytes.isDefined) Seq(1d) else keys.map(_.weight),
    shape,
    bytesKey = bytes.map(_ => new KeyEncoding(BinaryType)),
    stored = true,
    joinedCurves,
    density,
    placing
  )

  private def joinedCurves: Map[Int, JoinedCurve] = {
    val joined = for { (unit, u) <- units.zipWithIndex; p <- unit.placement } yield {
      val unplaced = files.indices.filter(i => unitOfFile(i) == u && p.unplaced(files(i)._1.getPath))
      u -> JoinedCurve(p.placement, unplaced.toSet)
    }
    joined.toMap
  }

  private def write(model: LayoutModel, read: ReadRows): Seq[StagedFile] = {
    session.sparkContext.register(read)
    val plan = session.sparkContext.broadcast(new RowPlan(model))
    val listed = listedFiles
    try {
      val sums = Option.when(hashed)(read -> listed)
      val query = queries.planned(scan(files).ordered(plan, model.slots, shape, sums))
      val task = fileTask(model, plan)
      def ended(tasks: Int, files: Seq[WrittenFile]): Unit = progress.written(tasks, files.size)
      val written = queries.run("write", query, ended)(task.write)
      check(written.length == model.slots, s"${written.length} partitions for ${model.slots} files")
      staged(model, written)
    } finally {
      plan.destroy()
      listed.destroy()
    }
  }

  private def listedFiles: ListedInputs = {
    val conf = session.sessionState.newHadoopConfWithOptions(RewriteSession.safeReadOptions(readOptions))
    new ListedInputs(
      session.sparkContext.broadcast(files.map(_._1).toArray),
      session.sparkContext.broadcast(new SerializableConfiguration(conf))
    )
  }

  /** @param written the files of each slot */
  private def staged(model: LayoutModel, written: Seq[Seq[WrittenFile]]): Seq[StagedFile] = {
    val intervals = model.units.toIndexedSeq.map(intervalsOf)
    for ((files, slot) <- written.zipWithIndex; f <- files) yield {
      val unit = model.unitOfSlot(slot)
      StagedFile(
        new Path(f.path),
        f.length,
        f.modificationTime,
        f.stats.rows,
        unit,
        slot,
        f.stats,
        interval = intervals(unit).map(_(slot - model.slotOffsets(unit))),
        f.readBack.fold(0L)(_.found.hash),
        f.upload,
        f.readBack,
        f.isColumnwise
      )
    }
  }

  /** The interval of each slot of a unit; None where there is no curve over the columns. */
  private def intervalsOf(unit: UnitLayout): Option[IndexedSeq[CurveInterval]] =
    if (keys.isEmpty || bytes.isDefined || unit.distributions.exists(_.total == 0)) None
    else {
      def ownFrame = new CurveFrame(
        UUID.randomUUID().toString,
        keys.map(k => FrameColumn(ColumnKey(k.path, k.dataType), lasting = k.isOfFiles)).toIndexedSeq,
        unit.distributions,
        unit.curve
      )
      val frame = unit.placement.fold(ownFrame)(_.frame)
      Some(CurveInterval.ofSlots(unit.curve, unit.cuts).map { case (low, high) =>
        CurveInterval(frame, low, high, unit.placement.fold(CurveInterval.Cell)(_.layer(low, high)))
      })
    }

  private def fileTask(model: LayoutModel, plan: Broadcast[RowPlan]): FileTask = {
    schema.foreach { f =>
      check(
        format.supportDataType(f.dataType),
        s"column ${quoteIdentifier(f.name)}: $format cannot write ${f.dataType.catalogString}"
      )
    }
    val options = writeOptions(model)
    val hadoop = session.sessionState.newHadoopConfWithOptions(options)
    if (uploads.isEmpty && units.exists(_.staging.isEmpty)) stagingDir.getFileSystem(hadoop).mkdirs(stagingDir)
    val job = Job.getInstance(hadoop)
    job.setOutputKeyClass(classOf[Void])
    job.setOutputValueClass(classOf[InternalRow])
    val written = format match {
      // As Spark's own writer does: by its path, the column would be padded.
      case _: ParquetFileFormat => StoredAsText.of(schema)
      case _                    => schema
    }
    val ofSpark =
      RewriteSession.active(session)(format.prepareWrite(session, job, CaseInsensitiveMap(options), written))
    val dictionaries = keepReadable(job.getConfiguration)
    val factory = kept.fold(ofSpark)(_.install(job, ofSpark))
    // Rows in the order of their arrival have no borders between them.
    val curveField = Option.when(keys.nonEmpty)(RewriteScan.curveField(schema, bytes))
    new FileTask(
      factory,
      new SerializableConfiguration(job.getConfiguration),
      directories = (0 until model.slots).map(s => units(model.unitOfSlot(s)).staging.getOrElse(stagingDir).toString),
      jobId = uploads.map(_.operationId).getOrElse(WrittenNames.newId()),
      schema,
      indexed,
      // A unit without any rows becomes one file without rows, so that the schema stays readable.
      keepEmpty = units.indices.filter(units(_).rows == 0).map(model.slotOffsets(_)).toSet,
      limits = Option.when(maxRecords > 0)(new SlotLimits(maxRecords, curveField, shape, plan)),
      uploads,
      readBack = Option.when(hashed)(ReadBack.of(spark, sessionConf, format, schema, readOptions)),
      zone = Option.when(format.isInstanceOf[OrcFileFormat] && OrcZone.isUsedBy(schema))(OrcZone.here),
      columnwise = Option.when(session.sessionState.conf.getConf(ZOrderConf.columnwise))(dictionaries)
    )
  }

  /**
   * Takes out of the writer's settings what makes some readers fail or lose rows. Returns the dictionaries that only our own
   * writer may make.
   */
  private def keepReadable(conf: Configuration): FloatDictionaries = format match {
    case _: ParquetFileFormat =>
      KnownEncodings.keepTo(conf, keptParquet)
      BloomFilterSize.limit(conf)
      MisleadingFilters.turnOff(conf, parquetSchema)
      FloatDictionaries.takeFrom(conf, parquetSchema, keptParquet.fold(Set.empty[Seq[String]])(_.dictionaries))
    case _: OrcFileFormat =>
      OrcFloats.turnOffFilters(conf, kept.collect { case orc: KeptOrc => orc.file.schema })
      FloatDictionaries.none
    case _ => FloatDictionaries.none
  }

  private def parquetSchema: MessageType = keptParquet.flatMap(_.schema)
    .getOrElse(new SparkToParquetSchemaConverter(session.sessionState.conf).convert(schema))

  private def keptParquet: Option[KeptParquet] = kept.collect { case parquet: KeptParquet => parquet }

  private def ofUnits(read: ReadRows): IndexedSeq[RowSum] = {
    val ofFiles = read.ofFiles.groupMap { case (file, _) => unitOfFile(file) }(_._2)
    units.indices.map(u => RowSum.of(ofFiles.getOrElse(u, Nil)))
  }

  private def check(condition: Boolean, message: => String): Unit =
    if (!condition) throw new IllegalStateException(s"$description: $message")
}

object RewriteJob {

  /** Rows to sample for each output file. */
  val SampleOfFile = 100

  /** Files that a limit of rows may make of one, as far as the sample grows with them. */
  private val MostSplit = 16

  /** Rows to sample for each unit, at least. */
  val MinSample = 2000
}
