package org.sparkzorder.write.job

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.schema.MessageType
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFileFormat, SparkToParquetSchemaConverter}
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.commit.WrittenNames
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.layout._
import org.sparkzorder.progress.StatementProgress
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.write._
import org.sparkzorder.write.check.{ListedInputs, ReadBack, ReadRows, RowSum}
import org.sparkzorder.write.encode.{BloomFilterSize, FloatDictionaries, MisleadingFilters}
import org.sparkzorder.write.orc.OrcFloats
import org.sparkzorder.write.preserve.{KnownEncodings, PreservedOrc, PreservedParquet}
import org.sparkzorder.write.rows.RowPlan
import org.sparkzorder.write.sample.RewritePrediction
import org.sparkzorder.write.task._

/**
 * Reads the files of some units and writes their rows anew, in order, to as many files as asked
 * for. One narrow job samples the keys, then one job with one shuffle writes. The input files stay
 * as they are; the new files go to a staging folder.
 */
final class RewriteJob(spark: SparkSession, spec: RewriteSpec) {
  import spec._

  private val session = {
    val own = RewriteSession.of(spark, sessionConf)
    own.experimental.extraStrategies = own.experimental.extraStrategies :+ RewriteStepStrategy
    own
  }
  private val queries = new RewriteQueries(session, description)
  private val files = units.flatMap(_.files).toIndexedSeq
  private val progress = new RewriteProgress(StatementProgress.current, files.map(_._1.getLen).sum, files.map(_._2).sum)
  private val sample = new LayoutSample(session, spec, queries, progress)
  private val schema = NullableSchema.of(dataSchema)

  /** Runs both jobs. Errors are Spark's own. A failed run may leave staged files, which are of no use. */
  def run(): RewriteResult = {
    val started = System.nanoTime()
    val (model, sampledRows) = sample.layout()
    val sampled = System.nanoTime()
    progress.laidOut(model.slots.toLong - units.map(_.outputFiles.toLong).sum)
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
  def predict(): RewritePrediction = sample.predict()

  private def write(model: LayoutModel, read: ReadRows): Seq[StagedFile] = {
    session.sparkContext.register(read)
    val plan = session.sparkContext.broadcast(new RowPlan(model))
    val listed = listedFiles
    try {
      val sums = Option.when(hashed)(read -> listed)
      val query = queries.planned(sample.scan(files).ordered(plan, model.slots, shape, sums))
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
      case _: ParquetFileFormat => CharAsString.of(schema)
      case _                    => schema
    }
    val ofSpark =
      RewriteSession.active(session)(format.prepareWrite(session, job, CaseInsensitiveMap(options), written))
    val dictionaries = keepReadable(job.getConfiguration)
    val factory = kept.fold(ofSpark)(_.install(job, ofSpark))
    // Rows in the order of their arrival have no borders between them.
    val curveField = Option.when(keys.nonEmpty)(RewriteScan.curveField(schema, bytes))
    new FileTask(FileTaskSpec(
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
    ))
  }

  /**
   * Takes out of the writer's settings what makes some readers fail or lose rows. Returns the dictionaries that only
   * our own writer may make.
   */
  private def keepReadable(conf: Configuration): FloatDictionaries = format match {
    case _: ParquetFileFormat =>
      KnownEncodings.keepTo(conf, keptParquet)
      BloomFilterSize.limit(conf)
      MisleadingFilters.turnOff(conf, parquetSchema)
      FloatDictionaries.takeFrom(conf, parquetSchema, keptParquet.fold(Set.empty[Seq[String]])(_.dictionaries))
    case _: OrcFileFormat =>
      OrcFloats.turnOffFilters(conf, kept.collect { case orc: PreservedOrc => orc.file.schema })
      FloatDictionaries.none
    case _ => FloatDictionaries.none
  }

  private def parquetSchema: MessageType = keptParquet.flatMap(_.schema)
    .getOrElse(new SparkToParquetSchemaConverter(session.sessionState.conf).convert(schema))

  private def keptParquet: Option[PreservedParquet] = kept.collect { case parquet: PreservedParquet => parquet }

  private def ofUnits(read: ReadRows): IndexedSeq[RowSum] = {
    val ofFiles = read.ofFiles.groupMap { case (file, _) => sample.unitOfFile(file) }(_._2)
    units.indices.map(u => RowSum.of(ofFiles.getOrElse(u, Nil)))
  }

  private def check(condition: Boolean, message: => String): Unit =
    if (!condition) throw new IllegalStateException(s"$description: $message")
}
