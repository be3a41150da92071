package org.sparkzorder.write

import java.util.UUID

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.Job
import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, RepartitionByExpression, Sort}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.util.QuotingUtils.{quoteIdentifier, quoteNameParts}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}
import org.apache.spark.sql.execution.datasources.{FileFormat, HadoopFsRelation}
import org.apache.spark.sql.types._
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.layout._
import org.sparkzorder.stats.{ColumnKey, FileStats, KeyEncoding}

/**
 * What is rewritten together: a partition's files, or some of them.
 *
 * @param files with the rows of each, in the order in which they arrived
 * @param outputFiles files to write; there are fewer only when there are fewer rows
 * @param placement when rows come to files that are along a curve already
 * @param staging the folder that its files are written to, which is there; the job's own if None
 */
final case class RewriteUnit(
    files: Seq[(FileStatus, Long)],
    outputFiles: Int,
    placement: Option[UnitPlacement] = None,
    staging: Option[Path] = None
) {
  require(files.nonEmpty, "a rewrite unit needs a file")
  require(outputFiles >= 1, s"a rewrite unit needs an output file, got $outputFiles")

  def rows: Long = files.map(_._2).sum
}

/** @param unplaced those of the unit's files of which no row has a place along the curve yet */
final case class UnitPlacement(placement: Placement, unplaced: Set[Path])

/** A column to cluster by: names from the row down to the field of a struct, and the weight of lookups by it. */
final case class KeyColumn(path: Seq[String], dataType: DataType, weight: Double)

/**
 * A complete file in the staging folder.
 *
 * @param path ends in [[FileTask.Suffix]]
 * @param unit ordinal of its rewrite unit
 * @param slot number among the files of all units: unit after unit, in each along the curve; the same for files that are
 *   several only since one would have too many rows
 * @param interval of the curve that it holds, None where there is no curve
 * @param rowHash sum of the hashes of its rows as the writer got them; see [[RowSum]]
 */
final case class StagedFile(
    path: Path,
    length: Long,
    modificationTime: Long,
    rows: Long,
    unit: Int,
    slot: Int,
    stats: FileStats,
    interval: Option[CurveInterval] = None,
    rowHash: Long = 0
)

/**
 * @param outputs in the order of their slots, those of one slot along the curve
 * @param samples one for each unit, the sampled distribution of each key column; empty where nothing was sampled
 * @param sampledRows rows that the sample holds
 * @param drifts for each unit that was to be placed by boundaries that were there, how far its new rows are from these
 * @param read for each unit, the rows that came out of the scan; empty when they were not hashed
 */
final case class RewriteResult(
    outputs: Seq[StagedFile],
    samples: IndexedSeq[IndexedSeq[ValueDistribution]],
    sampledRows: Long,
    sampleMillis: Long,
    writeMillis: Long,
    drifts: Seq[DistributionDrift] = Nil,
    read: IndexedSeq[RowSum] = IndexedSeq.empty
) {
  def rows: Long = outputs.map(_.rows).sum

  /** For each unit, the rows that the writers got. */
  def written: IndexedSeq[RowSum] = {
    val ofUnit = outputs.groupMapReduce(_.unit)(o => RowSum(o.rows, o.rowHash))(_ + _)
    samples.indices.map(ofUnit.getOrElse(_, RowSum.none))
  }
}

/**
 * Reads the files of some units and writes their rows anew, in order, to as many files as asked for. One narrow job
 * samples the keys, one job with one shuffle writes. Inputs are left alone; outputs lie in the staging folder.
 *
 * @param dataSchema of the files, without partition columns; outputs have it, with all nullable
 * @param readOptions of the relation
 * @param writeOptions of the data source, Hadoop settings of the format among them, once the layout is known
 * @param sessionConf settings of the session to read and write with, over the caller's
 * @param keys to cluster by; none keeps the rows in the order in which they arrived
 * @param stagingDir for units that have none of their own; created when one of them needs it
 * @param indexed columns to collect statistics of
 * @param description what people see of the jobs
 * @param shape how rows are ordered and cut
 * @param sampleRows rows to sample in all; None for 100 an output file, and [[RewriteJob.MinSample]] a unit
 * @param bytes rows are put in the order of one key made of the bytes of all columns; None for the range mapping
 * @param maxRecords rows of a file at most: a file that would have more is written as several; 0 for any number
 * @param kept what the new files have of the old ones beside the rows
 * @param density from the keys' distributions in the sample to those that ids are made of; None when these are the same
 * @param hashed rows are hashed before the shuffle and when they are written; not so only to measure what that costs
 */
final class RewriteJob(
    spark: SparkSession,
    format: FileFormat,
    dataSchema: StructType,
    readOptions: Map[String, String],
    writeOptions: LayoutModel => Map[String, String],
    sessionConf: Map[String, String],
    units: Seq[RewriteUnit],
    keys: Seq[KeyColumn],
    stagingDir: Path,
    indexed: Seq[ColumnKey],
    description: String,
    shape: LayoutShape,
    sampleRows: Option[Long] = None,
    bytes: Option[BytesMapping] = None,
    maxRecords: Long = 0,
    density: Option[UnitLayouts.Density] = None,
    hashed: Boolean = true,
    kept: Option[KeptTraits] = None
) {

  private val session = {
    val own = RewriteSession.of(spark, sessionConf)
    own.experimental.extraStrategies = own.experimental.extraStrategies :+ HashedRowsStrategy
    own
  }
  private val files = units.flatMap(_.files).toIndexedSeq
  private val unitOfFile = units.indices.flatMap(u => units(u).files.map(_ => u)).toArray
  private val schema = RewriteJob.nullable(dataSchema)
  private val encodings = keys.map(k => new KeyEncoding(k.dataType))

  /** Of the key made of the columns, where rows are placed by that. */
  private val made = bytes.map(_ => new KeyEncoding(BinaryType))

  /** Runs both jobs. Errors are Spark's own; staged files of a failed run are of no use. */
  def run(): RewriteResult = {
    val started = System.nanoTime()
    val model =
      if (units.forall(u => probability(u) == 0d)) layouts(Nil)
      else sampled()
    val written = System.nanoTime()
    val read = new ReadRows
    val outputs = write(model, read)
    val finished = System.nanoTime()
    val samples = model.units.toIndexedSeq.map(_.keys)
    val drifts = model.units.toSeq.flatMap(_.drift)
    RewriteResult(
      outputs,
      samples,
      sampledRows,
      (written - started) / 1000000,
      (finished - written) / 1000000,
      drifts,
      if (hashed) ofUnits(read) else IndexedSeq.empty
    )
  }

  private def ofUnits(read: ReadRows): IndexedSeq[RowSum] = {
    val ofFiles = read.ofFiles.groupMap { case (file, _) => unitOfFile(file) }(_._2)
    units.indices.map(u => RowSum.of(ofFiles.getOrElse(u, Nil)))
  }

  private var sampledRows = 0L

  private def weights: Seq[Double] = if (made.isDefined) Seq(1d) else keys.map(_.weight)

  private def layouts(samples: Seq[KeySample]): LayoutModel =
    UnitLayouts.of(
      samples,
      unitOfFile,
      outputFiles,
      encodings,
      weights,
      shape,
      made,
      kept = true,
      placements,
      density
    )

  private def placements: Map[Int, (Placement, Set[Int])] = (for {
    (unit, u) <- units.zipWithIndex
    p <- unit.placement
  } yield u -> (
    p.placement,
    files.indices.filter(i => unitOfFile(i) == u && p.unplaced(files(i)._1.getPath)).toSet
  )).toMap

  private def outputFiles: IndexedSeq[Int] = units.map(_.outputFiles).toIndexedSeq

  /**
   * The probability to sample a row of a unit. A unit that is one file in the order of arrival has nothing to learn.
   */
  private def probability(unit: RewriteUnit): Double =
    if (unit.rows == 0 || (keys.isEmpty && unit.outputFiles == 1)) 0d
    else {
      val wanted = sampleRows match {
        case Some(n) => math.max(n.toDouble * unit.outputFiles / outputFiles.map(_.toLong).sum, unit.outputFiles)
        case None    => math.max(RewriteJob.SampleOfFile.toDouble * unit.outputFiles, RewriteJob.MinSample.toDouble)
      }
      // Five standard deviations above, so that chance does not leave it with fewer.
      math.min(1d, (wanted + 5 * math.sqrt(wanted)) / unit.rows)
    }

  /** The scan: data columns, ordinal of the file, and a tie that follows the order of the scan. */
  private final class Scan {
    private val names = dataSchema.fieldNames.map(_.toLowerCase(java.util.Locale.ROOT)).toSet
    private val ordinalName = Iterator.iterate("__zorder_file")(_ + "_").find(n => !names(n)).get
    private val relation = {
      val index = new FixedFileIndex(files.map(_._1), ordinalName)
      val options = RewriteSession.safeReadOptions(readOptions)
      val relation = HadoopFsRelation(index, index.partitionSchema, schema, None, format, options)(session)
      session.baseRelationToDataFrame(relation).queryExecution.analyzed
    }
    val data: Seq[Attribute] = relation.output.init
    val file: Attribute = relation.output.last
    private val tieAlias = Alias(MonotonicallyIncreasingID(), "tie")()
    val tie: Attribute = tieAlias.toAttribute

    /** The columns with the tie. */
    def plan(columns: Seq[NamedExpression]): LogicalPlan = Project(columns :+ tieAlias, relation)

    def key(column: KeyColumn): Expression = {
      val top = data.find(_.name == column.path.head).getOrElse(throw missing(column))
      val leaf = column.path.tail.foldLeft[Expression](top) { (parent, name) =>
        parent.dataType match {
          case s: StructType if s.fieldNames.contains(name) => GetStructField(parent, s.fieldIndex(name), Some(name))
          case _                                            => throw missing(column)
        }
      }
      (leaf.dataType, column.dataType) match {
        case (a, b) if a == b            => leaf
        case (_: StringType, StringType) => Cast(leaf, StringType) // by its bytes, whatever its collation
        case _                           => throw missing(column)
      }
    }

    /** What rows are placed by that is no column of the data. */
    val computed: Seq[Alias] = bytes.toSeq.map(b => Alias(BytesKey(keys.map(key), b), "bytes")())

    /** What rows are placed by. */
    def places: Seq[Expression] = if (bytes.isDefined) computed.map(_.toAttribute) else keys.map(key)

    private def missing(column: KeyColumn) = new IllegalArgumentException(
      s"no column ${quoteNameParts(column.path)} ${column.dataType.catalogString} in ${schema.catalogString}"
    )
  }

  private def sampled(): LayoutModel = {
    val scan = new Scan
    val keyed = keys.zipWithIndex.map { case (k, i) => Alias(scan.key(k), s"key$i")() }
    val columns = scan.file +: scan.tie +: (scan.computed ++ keyed).map(_.toAttribute)
    val query = execution(Project(columns, scan.plan(scan.file +: (scan.computed ++ keyed))))
    val ofUnit = units.map(probability)
    val probabilities = session.sparkContext.broadcast(unitOfFile.map(ofUnit))
    try {
      val encoders = (made.toSeq ++ encodings).toArray
      val samples = described("sample", query) {
        RewriteJob.collect(query, RewriteJob.sampler(probabilities, encoders)).toSeq
      }
      sampledRows = samples.map(_.rows.toLong).sum
      layouts(samples)
    } finally probabilities.destroy()
  }

  private def write(model: LayoutModel, read: ReadRows): Seq[StagedFile] = {
    session.sparkContext.register(read)
    val plan = session.sparkContext.broadcast(new RowPlan(model))
    try {
      val query = execution(ordered(plan, model.slots, read))
      val task = fileTask(model, plan)
      val written = described("write", query)(RewriteJob.collect(query, task.write))
      check(written.length == model.slots, s"${written.length} partitions for ${model.slots} files")
      val intervals = model.units.toIndexedSeq.map(intervalsOf)
      for ((files, slot) <- written.toSeq.zipWithIndex; f <- files) yield {
        val unit = model.unitOfSlot(slot)
        val interval = intervals(unit).map(_(slot - model.slotOffsets(unit)))
        val path = new Path(f.path)
        StagedFile(path, f.length, f.modificationTime, f.stats.rows, unit, slot, f.stats, interval, f.rowHash)
      }
    } finally plan.destroy()
  }

  /** Of each slot of a unit; None where there is no curve over the columns. */
  private def intervalsOf(unit: UnitLayout): Option[IndexedSeq[CurveInterval]] =
    if (keys.isEmpty || bytes.isDefined || unit.distributions.exists(_.total == 0)) None
    else {
      def own = new CurveFrame(
        UUID.randomUUID().toString,
        keys.map(k => FrameColumn(ColumnKey(k.path, k.dataType), lasting = true)).toIndexedSeq,
        unit.distributions,
        unit.curve
      )
      val frame = unit.placement.fold(own)(_.frame)
      Some(CurveInterval.ofSlots(unit.curve, unit.cuts).map { case (low, high) =>
        CurveInterval(frame, low, high, unit.placement.fold(CurveInterval.Cell)(_.layer(low, high)))
      })
    }

  /** The rows of each slot in the partition of its number, in order. */
  private def ordered(plan: Broadcast[RowPlan], slots: Int, read: ReadRows): LogicalPlan = {
    val scan = new Scan
    val base = scan.plan(scan.data ++ Seq(scan.file) ++ scan.computed)
    val computed = scan.computed.map(_.toAttribute)
    // Without keys, rows stay in the order of files, and of rows in a file: the parts of one file are read in their
    // order.
    val z = Alias(
      if (keys.isEmpty) Cast(scan.file, LongType) else CurveValue(BroadcastPlan(plan), scan.file, scan.places),
      "z"
    )()
    val placed = Project(scan.data ++ computed ++ Seq(scan.tie, z, scan.file), base)
    // Their last form before the shuffle, so that what the shuffle or anything behind it does to them is seen.
    val seen = if (hashed) HashedRows(schema, scan.file, read, placed) else placed
    val slot = SlotKey(BroadcastPlan(plan), scan.file, z.toAttribute, scan.tie)
    val exchanged = RepartitionByExpression(Seq(slot), seen, slots)
    // A sort by the curve has steps, each of many values: inside a step the columns themselves decide.
    val columns = if (shape.isSort(scan.places.length)) scan.places else Nil
    val order = (z.toAttribute +: columns :+ scan.tie).map(SortOrder(_, Ascending))
    // What rows are sorted by is taken off by whoever writes them.
    Sort(order, global = false, exchanged)
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
    if (units.exists(_.staging.isEmpty)) stagingDir.getFileSystem(hadoop).mkdirs(stagingDir)
    val job = Job.getInstance(hadoop)
    job.setOutputKeyClass(classOf[Void])
    job.setOutputValueClass(classOf[InternalRow])
    val ofSpark = RewriteJob.active(session) {
      format.prepareWrite(session, job, CaseInsensitiveMap(options), schema)
    }
    val factory = kept.fold(ofSpark)(_.install(job, ofSpark))
    val conf = new SerializableConfiguration(job.getConfiguration)
    // Where there are no rows at all, one file keeps the schema readable.
    val keepEmpty = units.indices.filter(units(_).rows == 0).map(model.slotOffsets(_)).toSet
    // Rows in the order of their arrival have no borders between them.
    val z = if (keys.isEmpty) None else Some(schema.length + bytes.size + 1)
    val limits = Option.when(maxRecords > 0)(new SlotLimits(maxRecords, z, shape, plan))
    val directories = (0 until model.slots).map(s => units(model.unitOfSlot(s)).staging.getOrElse(stagingDir).toString)
    new FileTask(
      factory,
      conf,
      directories,
      UUID.randomUUID().toString,
      schema,
      indexed,
      keepEmpty,
      limits,
      Option.when(hashed)(new RowHash(schema))
    )
  }

  private def execution(plan: LogicalPlan): QueryExecution = RewriteJob.active(session) {
    val execution = session.sessionState.executePlan(plan)
    execution.assertAnalyzed()
    execution
  }

  /** Runs a query under a name of its own in the UI. The caller's job group and what else it set stays. */
  private def described[T](step: String, query: QueryExecution)(body: => T): T = {
    val name = s"$description: $step"
    val context = session.sparkContext
    val before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(name)
    try SQLExecution.withNewExecutionId(query, Some(name))(body)
    finally context.setJobDescription(before)
  }

  private def check(condition: Boolean, message: => String): Unit =
    if (!condition) throw new IllegalStateException(s"$description: $message")
}

object RewriteJob {

  /** Rows sampled for each output file. */
  val SampleOfFile = 100

  /** Rows sampled of a unit at least. */
  val MinSample = 2000

  /** A schema whose columns, fields and elements may all be null: what a file says is required stays writable. */
  def nullable(schema: StructType): StructType = nullableType(schema).asInstanceOf[StructType]

  private def nullableType(dataType: DataType): DataType = dataType match {
    case s: StructType => StructType(s.map(f => f.copy(dataType = nullableType(f.dataType), nullable = true)))
    case a: ArrayType  => ArrayType(nullableType(a.elementType), containsNull = true)
    case m: MapType    => MapType(nullableType(m.keyType), nullableType(m.valueType), valueContainsNull = true)
    case other         => other
  }

  // Closures are made here, where there is no job for them to take along.

  private def sampler(
      probabilities: Broadcast[Array[Double]],
      encodings: Array[KeyEncoding]
  ): (TaskContext, Iterator[InternalRow]) => KeySample =
    (task, rows) => KeySample.draw(task.partitionId(), rows, probabilities.value, encodings)

  /** One result a partition, in their order. */
  private def collect[T: scala.reflect.ClassTag](
      query: QueryExecution,
      body: (TaskContext, Iterator[InternalRow]) => T
  ): Array[T] = {
    val rdd = query.toRdd
    rdd.sparkContext.runJob(rdd, body)
  }

  private[write] def active[T](session: SparkSession)(body: => T): T = {
    val before = org.apache.spark.sql.SparkSession.getActiveSession
    org.apache.spark.sql.SparkSession.setActiveSession(session)
    try body
    finally before match {
        case Some(s) => org.apache.spark.sql.SparkSession.setActiveSession(s)
        case None    => org.apache.spark.sql.SparkSession.clearActiveSession()
      }
  }
}
