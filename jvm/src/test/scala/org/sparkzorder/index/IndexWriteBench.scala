package org.sparkzorder.index

import java.io.{ByteArrayOutputStream, OutputStream}

import org.apache.spark.sql.types.{LongType, StringType}

import org.sparkzorder.layout._
import org.sparkzorder.stats._

/**
 * The cost of writing a whole index, as every change does. For each number of files it prints the
 * bytes for each file, and the median processor time of a change that adds one file. Each partition
 * has so many files, and a frame.
 *
 * `IndexWriteBench <files of a partition> <files> ..`
 */
object IndexWriteBench {
  private val Rounds = 5

  private val threads = java.lang.management.ManagementFactory.getThreadMXBean

  def main(args: Array[String]): Unit = args.drop(1).map(_.toInt).foreach(measured(args(0).toInt, _))

  private val keys =
    IndexedSeq(ColumnKey(Seq("a"), LongType), ColumnKey(Seq("b"), LongType), ColumnKey(Seq("s"), StringType))

  private def measured(each: Int, files: Int): Unit = {
    val random = new scala.util.Random(files.toLong)
    val contents = Seq.tabulate(files)(i => file(random, i / each, i))
    val placed = contents.map(_._1).grouped(each).flatMap { ids =>
      val frame = this.frame(random, ids.size)
      val cuts = Seq.fill(ids.size - 1)(random.nextLong() >>> (64 - frame.curve.totalBits)).sorted
      val ends = cuts :+ (frame.last + 1)
      ids.zip(0L +: cuts).zip(ends).map { case ((id, low), end) =>
        id -> CurveInterval(frame, low, math.max(low, end - 1), CurveInterval.Cell)
      }
    }.toMap
    val bytes = written(IndexContents(contents, Map.empty, placed))
    val times = Seq.fill(Rounds) {
      val began = threads.getCurrentThreadCpuTime
      val old = IndexFile.open(new Indexes.BytesSource(bytes), 1L << 30)
      IndexFile.write(
        OutputStream.nullOutputStream(),
        IndexContents.merge(old, _ => true, Seq(file(random, 0, files)))
      )
      (threads.getCurrentThreadCpuTime - began) / 1e6
    }
    val intervals = FrameSizes.packed(contents.map(c => placed(c._1)).toIndexedSeq)
    println(
      f"RESULT $files files, $each a partition: ${bytes.length} bytes, ${bytes.length.toDouble / files}%.1f a file, " +
        f"${intervals.toDouble / files}%.1f of them intervals; a change takes ${times.sorted.apply(Rounds / 2)}%.0f ms"
    )
  }

  private def written(contents: IndexContents): Array[Byte] = {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, contents)
    out.toByteArray
  }

  private def file(random: scala.util.Random, partition: Int, i: Int): (FileId, FileStats) = {
    def long() = {
      val (a, b) = (random.nextLong(), random.nextLong())
      ColumnStats(math.min(a, b), math.max(a, b), 0, 0)
    }
    val texts = Seq.fill(2)(java.util.UUID.nameUUIDFromBytes(random.nextBytes(8)).toString)
    val (low, high) = (texts.min, texts.max)
    val text = ColumnStats(low.getBytes, high.getBytes, 0, 0)
    val name = f"day=${2020 + partition / 8760}-${partition / 24 % 365}%03d/hour=${partition % 24}%02d/zorder-$i%05d-" +
      "5f0cbb1c-7f0d-4be4-9d2f-7d2f6f7f3a11-c000.snappy.parquet"
    val id = FileId(name, 100000000L + random.nextInt(30000000), 1700000000000L + partition * 3600000L + i)
    id -> FileStats(1000000, Map(keys(0) -> long(), keys(1) -> long(), keys(2) -> text))
  }

  private def frame(random: scala.util.Random, files: Int): CurveFrame = {
    val columns = keys.take(2)
    val rows = math.max(2000, 100 * files)
    val all = columns.map(_ => ValueDistribution.ofLongs(Array.fill(rows)(random.nextLong()), 0))
    val few = FrameBudget.fit(all, FrameBudget.of(files), files)
    val curve = LayoutShape(LayoutSpec.ZOrder, aligned = true).curveOf(Seq(1d, 1d), few, files)
    new CurveFrame(java.util.UUID.randomUUID.toString, columns.map(FrameColumn(_, lasting = true)), few, curve)
  }
}
