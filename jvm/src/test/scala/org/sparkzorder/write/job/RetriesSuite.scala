package org.sparkzorder.write.job

import java.io.{File, IOException}
import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import org.apache.commons.io.FileUtils
import org.apache.hadoop.fs.Path
import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.FileNames
import org.sparkzorder.implicits._
import org.sparkzorder.layout.{BytesMapping, LayoutShape, LayoutSpec}
import org.sparkzorder.write.check.FileExchangedException

/** Tasks fail half-way and run again. The result must be, byte for byte, that of tasks that do not fail. */
@TestRest
class RetriesSuite extends AnyFunSuite with RewriteJobs {

  override protected def master: String = "local[2, 4]"

  override protected def settings: Map[String, String] =
    super.settings + ("spark.local.dir" -> new File(dir, "local").toString)

  private lazy val input = {
    spark.sparkContext.setLogLevel("OFF")
    val columns = Seq("id", "cast(id * 7919 % 97 as int) a", "if(id % 10 = 0, null, concat('s', id % 31)) s")
    written(spark.range(0, 6000, 1, 5).selectExpr(columns: _*))
  }

  private def contents(files: Seq[Path]): Seq[Seq[Byte]] =
    files.map(p => Files.readAllBytes(new File(p.toUri).toPath).toSeq)

  private def rewritten(
      format: ParquetFileFormat,
      curve: String = LayoutSpec.ZOrder,
      bytes: Option[BytesMapping] = None
  ): Seq[Seq[Byte]] = {
    val (shape, byRow) = (LayoutShape(curve, aligned = true), "spark.sql.parquet.enableVectorizedReader" -> "false")
    val (units, keys) = (Seq(input.unit(6)), input.keys("a", "s"))
    val result = rewrite(input, units, keys, Map(byRow), shape = shape, bytes = bytes, by = Some(format))
    assert(result.rows == 6000)
    val staged = new File(result.outputs.head.path.getParent.toUri).list.count(_.endsWith(FileNames.StagedSuffix))
    // Tasks that failed have removed their files. Two attempts of a stage may both have written one.
    if (!format.isInstanceOf[ShuffleLosingFormat]) assert(staged == result.outputs.length)
    contents(result.outputs.map(_.path))
  }

  private lazy val calm = rewritten(new ParquetFileFormat)

  for {
    curve <- Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order)
    bytes <- Seq(None, Some(BytesMapping.Default)) if bytes.isEmpty || curve == LayoutSpec.ZOrder
  } test(s"OPTIMIZE, $curve, ${bytes.fold("range")(_ => "bytes")}") {
    val expected = rewritten(new ParquetFileFormat, curve, bytes)
    RestlessFormat.failures.set(0)
    val restless = rewritten(new RestlessFormat, curve, bytes)
    // These are the readers of the sample, the readers before the shuffle, and the writers.
    assert(RestlessFormat.failures.get >= 6)
    assert(restless == expected)
  }

  test("OPTIMIZE when the shuffle is lost after half of it was read") {
    val again = new AtomicInteger
    val listener = new SparkListener {
      override def onStageSubmitted(stage: SparkListenerStageSubmitted): Unit =
        if (stage.stageInfo.attemptNumber() != 0) { again.incrementAndGet(); () }
    }
    spark.sparkContext.addSparkListener(listener)
    ShuffleLosingFormat.shuffles = new File(dir, "local")
    ShuffleLosingFormat.writers = 0
    var lost = Seq.empty[Seq[Byte]]
    // It waits until listeners have heard of all.
    try jobs { lost = rewritten(new ShuffleLosingFormat) }
    finally spark.sparkContext.removeSparkListener(listener)
    // Files that were written before stay, and the rows before the shuffle are read again.
    assert(again.get >= 2)
    assert(lost == calm)
  }

  test("OPTIMIZE while a file is another one, and then itself again") {
    ExchangingFormat.exchanged.set(0)
    val exchanged = rewritten(new ExchangingFormat(times = 1))
    assert(ExchangingFormat.exchanged.get == 1)
    assert(exchanged == calm)

    ExchangingFormat.exchanged.set(0)
    val e = intercept[SparkException](rewritten(new ExchangingFormat(times = 100)))
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
    def clustered(name: String, id: org.apache.spark.sql.Column): Seq[Seq[Byte]] = {
      val folder = new File(dir, name)
      spark.read.parquet(input.path.toString).select(id.as("id"), col("a"), col("s"))
        .repartitionByHilbertRange(6, col("a"), col("s"), col("id")).write.parquet(folder.toString)
      val files = folder.listFiles.filter(_.getName.startsWith("part-")).sortBy(_.getName)
      assert(files.length == 6)
      contents(files.toSeq.map(f => new Path(f.toURI)))
    }
    RestlessFormat.failures.set(0)
    val found = clustered("restless", restless(col("id")))
    // These are the tasks of the sample, and the tasks before the shuffle.
    assert(RestlessFormat.failures.get >= 4)
    assert(found == clustered("calm", same(col("id"))))
  }
}

/** Parquet whose tasks all fail in their first attempt after some rows: some while they read, all while they write. */
private class RestlessFormat extends OtherParquet {

  override protected def writer(real: => OutputWriter): OutputWriter =
    new HookedWriter(real, row => RestlessFormat.fail(row == 50))

  override protected def reader(real: Reader, columns: StructType): Reader = file => {
    var rows = 0
    // A reader of batches says that they are rows.
    real(file).asInstanceOf[Iterator[Any]].map { row =>
      rows += 1
      RestlessFormat.fail(rows == 700)
      row
    }.asInstanceOf[Iterator[InternalRow]]
  }
}

private object RestlessFormat {
  val failures = new AtomicInteger

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
private class ExchangingFormat(times: Int) extends OtherParquet {

  override protected def reader(real: Reader, columns: StructType): Reader = {
    val most = times
    file =>
      // The job that measures widths reads all columns, too.
      def ofWrite = TaskContext.get().getLocalProperty("spark.job.description").endsWith(": write")
      val isVictim = columns.length == 3 && file.toPath.getName.startsWith("part-00002") && ofWrite
      if (isVictim && ExchangingFormat.exchanged.get < most) {
        ExchangingFormat.exchanged.incrementAndGet()
        ExchangingFormat.during(new File(file.toPath.toUri))(real(file))
      } else real(file)
  }
}

private object ExchangingFormat {
  val exchanged = new AtomicInteger

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

/** Parquet whose third writer deletes the files of the shuffle, as if a node had lost its disk. The next ones wait for it. */
private class ShuffleLosingFormat extends OtherParquet {
  override protected def writer(real: => OutputWriter): OutputWriter = {
    ShuffleLosingFormat.begin()
    real
  }
}

private object ShuffleLosingFormat {
  @volatile var writers = 0
  @volatile var shuffles: File = _

  def begin(): Unit = synchronized {
    writers += 1
    if (writers == 3)
      FileUtils.listFiles(shuffles, null, true).forEach(f => if (f.getName.startsWith("shuffle_")) assert(f.delete()))
  }
}
