package org.sparkzorder.commit

import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.SparkSession

/**
 * Measures the cost of a long history: for planning a query, `DESCRIBE HISTORY`, and `OPTIMIZE`
 * with nothing to do. It compares one operation, many whose records are files (as an older build
 * left them), and as many in a checkpoint. Prints one line of JSON: medians of the driver thread's
 * processor time in milliseconds, by name.
 *
 * `HistoryBench <empty folder> <operations> <files of the table> <rounds>`
 */
object HistoryBench {

  def main(args: Array[String]): Unit = {
    val (folder, operations, files, rounds) = (Paths.get(args(0)), args(1).toInt, args(2).toInt, args(3).toInt)
    val spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false")
      .config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try {
      val (one, many) = (folder.resolve("one"), folder.resolve("many"))
      Seq(one, many).foreach(made(spark, _, files))
      ManyRecords.make(many, operations)
      val warm = measured(spark, one, rounds)
      require(warm.nonEmpty)
      val behindOne = measured(spark, one, rounds)
      val asFiles = measured(spark, many, math.max(3, rounds / 5))
      append(spark, many)
      val folding = millis(optimize(spark, many))
      append(spark, one)
      val plain = millis(optimize(spark, one))
      val inCheckpoint = measured(spark, many, rounds)
      val again = measured(spark, one, rounds)
      val side = many.resolve(SideNames.Side)
      val checkpoints = listed(side).filter(_.getFileName.toString.endsWith(SideNames.CheckpointSuffix))
      val all = named("one", behindOne) ++ named("files", asFiles) ++ named("checkpoint", inCheckpoint) ++
        named("one again", again) ++ Seq(
          "optimize, one" -> plain,
          "optimize that gathers" -> folding,
          "checkpoint, bytes" -> checkpoints.map(Files.size(_)).sum.toDouble,
          "files in the side folder" -> listed(side).size.toDouble
        )
      println("RESULT " + all.map { case (name, v) => f""""$name": $v%.1f""" }.mkString("{", ", ", "}"))
    } finally spark.stop()
  }

  private def made(spark: SparkSession, table: LocalPath, files: Int): Unit = {
    spark.range(0L, files * 200L, 1L, files).selectExpr(
      "id",
      "hash(id) AS a",
      "hash(-id) AS b"
    ).write.parquet(table.toString)
    spark.sql(s"OPTIMIZE parquet.`$table` ZORDER BY (a, b) OPTIONS ('num-files' = '$files')").collect()
    ()
  }

  private def append(spark: SparkSession, table: LocalPath): Unit =
    spark.range(1000L).selectExpr("id", "hash(id) AS a", "hash(-id) AS b").coalesce(1).write.mode("append")
      .parquet(table.toString)

  private def optimize(spark: SparkSession, table: LocalPath): Unit = {
    spark.sql(s"OPTIMIZE parquet.`$table` ZORDER BY (a, b)").collect()
    ()
  }

  private def measured(spark: SparkSession, table: LocalPath, rounds: Int): Seq[(String, Double)] = {
    def median(work: => Double): Double = Seq.fill(rounds)(work).sorted.apply(rounds / 2)
    val first = spark.read.parquet(table.toString)
    def again(): Double = {
      val query = first.where("a = 7").select("id")
      millis(query.queryExecution.executedPlan)
    }
    // Made anew each time, as in a session's first query.
    def fresh(): Double =
      millis(spark.read.parquet(table.toString).where("a = 5").select("id").queryExecution.executedPlan)
    Seq(
      "plan, a new listing" -> median(fresh()),
      "plan, a known listing" -> median(again()),
      "describe history" -> median(millis(spark.sql(s"DESCRIBE HISTORY parquet.`$table`").collect())),
      "nothing to do" -> median(millis(optimize(spark, table)))
    )
  }

  private def named(what: String, values: Seq[(String, Double)]): Seq[(String, Double)] =
    values.map { case (name, v) => s"$what: $name" -> v }

  private val threads = java.lang.management.ManagementFactory.getThreadMXBean

  /**
   * This thread's processor time, which does not depend on other work on the machine. This thread
   * does all of the planning.
   */
  private def millis(work: => Any): Double = {
    val began = threads.getCurrentThreadCpuTime
    work
    (threads.getCurrentThreadCpuTime - began) / 1e6
  }

  private def listed(dir: LocalPath): Seq[LocalPath] = Using.resource(Files.list(dir))(_.iterator.asScala.toList)
}
