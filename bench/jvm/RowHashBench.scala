package org.sparkzorder.write

import java.util.concurrent.atomic.LongAdder

import org.apache.hadoop.fs.Path
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

import org.sparkzorder.layout.{LayoutShape, LayoutSpec}
import org.sparkzorder.stats.{IndexableColumns, IndexedColumns}
import org.sparkzorder.write.check.RowHash
import org.sparkzorder.write.job.{RewriteJob, RewriteSpec}

/**
 * Measures the cost of hashing every row in a rewrite and of reading new files back: the same rewrite with and without
 * both, in turns, after one of each to warm up. Prints one line of JSON: seconds of wall clock and of the tasks'
 * processor time, by name.
 *
 * `RowHashBench <folder of Parquet files> <key columns, with commas between> <files> <rounds> <folder to write to>`
 */
object RowHashBench {

  def main(args: Array[String]): Unit = {
    val (folder, keys, files, rounds, staging) = (args(0), args(1).split(','), args(2).toInt, args(3).toInt, args(4))
    val spark = org.apache.spark.sql.SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false")
      .config("spark.sql.parquet.compression.codec", "snappy").getOrCreate().asInstanceOf[SparkSession]
    spark.sparkContext.setLogLevel("ERROR")
    val processor = new LongAdder
    spark.sparkContext.addSparkListener(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = processor.add(end.taskMetrics.executorCpuTime)
    })
    try {
      val job = rewrite(spark, folder, keys.toSeq, files, staging)
      val names = Seq("with" -> true, "without" -> false)
      val all = (0 to rounds).flatMap { round =>
        (if (round % 2 == 0) names else names.reverse).map { case (name, hashed) =>
          System.gc()
          Thread.sleep(500)
          processor.reset()
          val began = System.nanoTime()
          val result = job(hashed)
          val took = (System.nanoTime() - began) / 1e9
          require(!hashed || result.read == result.written, "the rows are the same")
          // The listener gets its events after the result is there.
          Thread.sleep(1000)
          (round, name, took, processor.sum / 1e9)
        }
      }
      def values(of: String, value: ((Int, String, Double, Double)) => Double) =
        all.filter(r => r._1 > 0 && r._2 == of).map(value).mkString("[", ", ", "]")
      val found = names.flatMap { case (name, _) =>
        Seq(name -> values(name, _._3), s"$name, processor" -> values(name, _._4))
      }
      val figures = found :+ ("ns a row" -> nanos(spark, folder).mkString("[", ", ", "]"))
      println("RESULT " + figures.map { case (name, v) => s""""$name": $v""" }.mkString("{", ", ", "}"))
    } finally spark.stop()
  }

  /** Processor time of one hash of one row. */
  private def nanos(spark: SparkSession, folder: String): Seq[Double] = {
    val table = spark.read.parquet(folder)
    val rows = table.limit(10000).queryExecution.toRdd.map(_.copy()).collect()
    val hash = new RowHash(table.schema, oneZero = false)
    val threads = java.lang.management.ManagementFactory.getThreadMXBean
    // The first half of the rounds warms up.
    Seq.fill(60) {
      val began = threads.getCurrentThreadCpuTime
      rows.foreach(hash.of)
      (threads.getCurrentThreadCpuTime - began).toDouble / rows.length
    }.drop(30)
  }

  private def rewrite(spark: SparkSession, folder: String, keys: Seq[String], files: Int, staging: String) = {
    val table = spark.read.parquet(folder)
    val path = new Path(folder)
    val fs = path.getFileSystem(spark.sparkContext.hadoopConfiguration)
    val inputs = fs.listStatus(path).filter(_.getPath.getName.startsWith("part-")).sortBy(_.getPath.getName).toSeq
    val rows = table.count()
    // The number of rows of each file does not matter, their sum does.
    val counted = inputs.map(_ -> rows / inputs.length)
    val columns = keys.map(k => KeyColumn(Seq(k), table.schema(k).dataType, 1d))
    val (units, to) = (Seq(FileGroup(counted, files)), new Path(staging))
    val (indexed, none) = (IndexedColumns(IndexableColumns.of(table.schema)), Map.empty[String, String])
    val (format, shape) = (new ParquetFileFormat, LayoutShape(LayoutSpec.ZOrder, aligned = true))
    val spec = RewriteSpec(format, table.schema, none, _ => none, none, units, columns, to, indexed, "OPTIMIZE", shape)
    (hashed: Boolean) => {
      fs.delete(to, true)
      try new RewriteJob(spark, spec.copy(hashed = hashed)).run()
      finally {
        fs.delete(to, true)
        ()
      }
    }
  }
}
