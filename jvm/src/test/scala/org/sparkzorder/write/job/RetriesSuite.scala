package org.sparkzorder.write.job

import java.io.{File, IOException}
import java.nio.file.Files

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory, PartitionedFile}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types._
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.implicits._
import org.sparkzorder.layout.{BytesMapping, LayoutShape, LayoutSpec}
import org.sparkzorder.stats.IndexedColumns
import org.sparkzorder.write.check.FileExchangedException
import org.sparkzorder.write.{FileGroup, KeyColumn}

/**
 * Tasks fail half-way and run again. The result must be, byte for byte, that of tasks that do not
 * fail.
 */
@TestRest
class RetriesSuite extends AnyFunSuite with BeforeAndAfterAll {
  private var spark: SparkSession = _
  private val dir = Files.createTempDirectory("retries").toFile

  override def beforeAll(): Unit = {
    spark = org.apache.spark.sql.SparkSession
      .builder()
      .master("local[2, 4]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "4")
      .config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension")
      .config("spark.local.dir", new File(dir, "local").toString)
      .config("spark.sql.warehouse.dir", new File(dir, "warehouse").toString)
      .getOrCreate()
      .asInstanceOf[SparkSession]
    spark.sparkContext.setLogLevel("OFF")
    spark.range(0, 6000, 1, 5)
      .selectExpr("id", "cast(id * 7919 % 97 as int) a", "if(id % 10 = 0, null, concat('s', id % 31)) s")
      .write.parquet(input.toString)
  }

  override def afterAll(): Unit = {
    spark.stop()
    FileUtils.deleteDirectory(dir)
  }

  private val curves = Seq(
    (LayoutSpec.ZOrder, None),
    (LayoutSpec.Hilbert, None),
    (LayoutSpec.Order, None),
    (LayoutSpec.ZOrder, Some(BytesMapping.Default))
  )

  private def input: Path = new Path(new File(dir, "input").toURI)

  private def contents(files: Seq[Path]): Seq[Seq[Byte]] =
    files.map(p => Files.readAllBytes(new File(p.toUri).toPath).toSeq)

  private def rewritten(
      format: ParquetFileFormat,
      staging: String,
      shape: LayoutShape,
      bytes: Option[BytesMapping]
  ): Seq[Seq[Byte]] = {
    val fs = input.getFileSystem(spark.sparkContext.hadoopConfiguration)
    val files = fs.listStatus(input).filter(_.getPath.getName.startsWith("part-")).sortBy(_.getPath.getName)
    val schema = spark.read.parquet(input.toString).schema
    val result = new RewriteJob(
      spark,
      RewriteSpec(
        format,
        schema,
        Map.empty,
        _ => Map.empty,
        Map("spark.sql.parquet.enableVectorizedReader" -> "false"),
        Seq(FileGroup(files.toSeq.map(f => f -> spark.read.parquet(f.getPath.toString).count()), 6)),
        Seq(KeyColumn(Seq("a"), IntegerType, 1d), KeyColumn(Seq("s"), StringType, 1d)),
        new Path(new File(dir, staging).toURI),
        IndexedColumns(Nil),
        "OPTIMIZE test",
        shape,
        bytes = bytes
      )
    ).run()
    assert(result.rows == 6000)
    assert(result.read == result.written)
    contents(result.outputs.map(_.path))
  }

  for ((curve, bytes) <- curves) test(s"OPTIMIZE, $curve, ${bytes.fold("range")(_ => "bytes")}") {
    val shape = LayoutShape(curve, aligned = true)
    val calm = rewritten(new ParquetFileFormat, s"calm-$curve-${bytes.isDefined}", shape, bytes)
    RestlessFormat.failures.set(0)
    val restless = rewritten(new RestlessFormat, s"restless-$curve-${bytes.isDefined}", shape, bytes)
    // These are the readers of the sample, the readers before the shuffle, and the writers.
    assert(RestlessFormat.failures.get >= 6)
    assert(restless == calm)
  }

  test("OPTIMIZE when the shuffle is lost after half of it was read") {
    val shape = LayoutShape(LayoutSpec.ZOrder, aligned = true)
    val calm = rewritten(new ParquetFileFormat, "calm-lost", shape, None)
    val stages = new java.util.concurrent.ConcurrentLinkedQueue[Int]
    val listener = new SparkListener {
      override def onStageSubmitted(stage: SparkListenerStageSubmitted): Unit = {
        stages.add(stage.stageInfo.attemptNumber())
        ()
      }
    }
    spark.sparkContext.addSparkListener(listener)
    ShuffleLosingFormat.shuffles = new File(dir, "local")
    ShuffleLosingFormat.writers.set(0)
    val lost =
      try rewritten(new ShuffleLosingFormat, "lost", shape, None)
      finally spark.sparkContext.removeSparkListener(listener)
    // Files that were written before stay, and the rows before the shuffle are read again.
    assert(stages.toArray.toSeq.count(_ != 0) >= 2, stages)
    assert(lost == calm)
  }

  test("OPTIMIZE while a file is another one, and then itself again") {
    val shape = LayoutShape(LayoutSpec.ZOrder, aligned = true)
    val calm = rewritten(new ParquetFileFormat, "calm-exchanged", shape, None)
    ExchangingFormat.exchanged.set(0)
    val exchanged = rewritten(new ExchangingFormat(times = 1), "exchanged", shape, None)
    assert(ExchangingFormat.exchanged.get == 1)
    assert(exchanged == calm)

    ExchangingFormat.exchanged.set(0)
    val e = intercept[SparkException](rewritten(new ExchangingFormat(times = 100), "always-exchanged", shape, None))
    val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toSeq
    val path = causes.collectFirst { case f: FileExchangedException => new Path(f.path) }
    assert(path.exists(_.getName.startsWith("part-")), e)
    assert(ExchangingFormat.exchanged.get == 4)
  }

  test("the hints") {
    val restless = udf { (id: Long) =>
      RestlessFormat.fail(id % 1000 == 999)
      id
    }
    val same = udf((id: Long) => id)
    def written(name: String, id: org.apache.spark.sql.Column): Seq[Seq[Byte]] = {
      val folder = new File(dir, name)
      spark.read.parquet(input.toString).select(id.as("id"), col("a"), col("s"))
        .repartitionByHilbertRange(6, col("a"), col("s"), col("id")).write.parquet(folder.toString)
      val files = folder.listFiles.filter(_.getName.startsWith("part-")).sortBy(_.getName)
      assert(files.length == 6)
      contents(files.toSeq.map(f => new Path(f.toURI)))
    }
    RestlessFormat.failures.set(0)
    val found = written("restless", restless(col("id")))
    // These are the tasks of the sample, and the tasks before the shuffle.
    assert(RestlessFormat.failures.get >= 4)
    assert(found == written("calm", same(col("id"))))
  }
}

/**
 * Parquet whose tasks all fail in their first attempt after some rows: some while they read, all
 * while they write.
 */
private class RestlessFormat extends ParquetFileFormat {

  override def prepareWrite(
      session: org.apache.spark.sql.SparkSession,
      job: Job,
      options: Map[String, String],
      schema: StructType
  ): OutputWriterFactory = {
    val real = super.prepareWrite(session, job, options, schema)
    new OutputWriterFactory {
      override def getFileExtension(context: TaskAttemptContext): String = real.getFileExtension(context)
      override def newInstance(path: String, schema: StructType, context: TaskAttemptContext): OutputWriter = {
        val writer = real.newInstance(path, schema, context)
        new OutputWriter {
          private var rows = 0
          override def write(row: InternalRow): Unit = {
            rows += 1
            RestlessFormat.fail(rows == 50)
            writer.write(row)
          }
          override def close(): Unit = writer.close()
          override def path(): String = writer.path()
        }
      }
    }
  }

  override def buildReaderWithPartitionValues(
      session: org.apache.spark.sql.SparkSession,
      dataSchema: StructType,
      partitionSchema: StructType,
      requiredSchema: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      conf: Configuration
  ): PartitionedFile => Iterator[InternalRow] = {
    val real = super.buildReaderWithPartitionValues(
      session,
      dataSchema,
      partitionSchema,
      requiredSchema,
      filters,
      options,
      conf
    )
    file => {
      var rows = 0
      // A reader of batches says that they are rows.
      real(file).asInstanceOf[Iterator[Any]].map { row =>
        rows += 1
        RestlessFormat.fail(rows == 700)
        row
      }.asInstanceOf[Iterator[InternalRow]]
    }
  }
}

private object RestlessFormat {
  val failures = new java.util.concurrent.atomic.AtomicInteger

  def fail(when: Boolean): Unit = if (when && TaskContext.get().attemptNumber() == 0) {
    failures.incrementAndGet()
    throw new IOException("the node is lost")
  }
}

/**
 * Parquet that reads another file in the place of one with all columns. The other one has the same length, and goes when
 * its last row was read.
 *
 * @param times how often it does so
 */
private class ExchangingFormat(times: Int) extends ParquetFileFormat {

  override def buildReaderWithPartitionValues(
      session: org.apache.spark.sql.SparkSession,
      dataSchema: StructType,
      partitionSchema: StructType,
      requiredSchema: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      conf: Configuration
  ): PartitionedFile => Iterator[InternalRow] = {
    val real = super.buildReaderWithPartitionValues(
      session,
      dataSchema,
      partitionSchema,
      requiredSchema,
      filters,
      options,
      conf
    )
    val isWrite = requiredSchema.length == 3
    val most = times
    file =>
      // The job that measures widths reads all columns, too.
      def ofWrite = TaskContext.get().getLocalProperty("spark.job.description").endsWith(": write")
      val isVictim = isWrite && file.toPath.getName.startsWith("part-00002") && ofWrite
      if (isVictim && ExchangingFormat.exchanged.get < most) {
        ExchangingFormat.exchanged.incrementAndGet()
        ExchangingFormat.during(new File(file.toPath.toUri))(real(file))
      } else real(file)
  }
}

private object ExchangingFormat {
  val exchanged = new java.util.concurrent.atomic.AtomicInteger

  def during(file: File)(read: => Iterator[InternalRow]): Iterator[InternalRow] = {
    val away = new File(file.getParentFile.getParentFile, "away")
    val other = new File(away.getParentFile, "other")
    FileUtils.copyFile(file, other, false)
    assert(file.renameTo(away) && other.renameTo(file))
    val putBack = () => assert(file.delete() && away.renameTo(file))
    TaskContext.get().addTaskCompletionListener[Unit](_ => if (away.exists) putBack())
    val rows = read
    new Iterator[InternalRow] {
      override def hasNext: Boolean = rows.hasNext || {
        if (away.exists) putBack()
        false
      }
      override def next(): InternalRow = rows.next()
    }
  }
}

/** Parquet whose third writer deletes the files of the shuffle, as if a node had lost its disk. */
private class ShuffleLosingFormat extends ParquetFileFormat {

  override def prepareWrite(
      session: org.apache.spark.sql.SparkSession,
      job: Job,
      options: Map[String, String],
      schema: StructType
  ): OutputWriterFactory = {
    val real = super.prepareWrite(session, job, options, schema)
    new OutputWriterFactory {
      override def getFileExtension(context: TaskAttemptContext): String = real.getFileExtension(context)
      override def newInstance(path: String, schema: StructType, context: TaskAttemptContext): OutputWriter = {
        if (ShuffleLosingFormat.writers.incrementAndGet() == 3) ShuffleLosingFormat.loseShuffles()
        real.newInstance(path, schema, context)
      }
    }
  }
}

private object ShuffleLosingFormat {
  val writers = new java.util.concurrent.atomic.AtomicInteger
  @volatile var shuffles: File = _

  def loseShuffles(): Unit =
    FileUtils.listFiles(shuffles, null, true).forEach(f => if (f.getName.startsWith("shuffle_")) assert(f.delete()))
}
