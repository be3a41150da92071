package org.sparkzorder.repartition

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.LogManager
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.spark.sql.{AnalysisException, Column, DataFrame, Row}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, CollectMetrics}
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.functions._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}
import org.sparkzorder.implicits._

class RepartitionSuite extends AnyFunSuite with LocalSpark with AdaptiveSparkPlanHelper {

  /** There are so few rows that the sample is all of them. */
  private def grid: DataFrame =
    spark.range(0, 1024, 1, 3).selectExpr("id", "id * 2741 % 32 as a", "id * 2741 % 1024 div 32 as b")

  private def partitions(df: DataFrame): Seq[Seq[Row]] = df.rdd.glom().collect().map(_.toSeq).toSeq
  private def plan(df: DataFrame): SparkPlan = df.asInstanceOf[Dataset[Row]].queryExecution.executedPlan

  private def bag(rows: Seq[Row]): Seq[String] = rows.map { row =>
    row.toSeq.map {
      case bytes: Array[Byte] => bytes.toSeq
      case other              => other
    }.toString
  }.sorted

  private def condition(body: => Any): String = intercept[AnalysisException](body).getCondition

  private val curves: Seq[(String, (DataFrame, Int, Seq[Column]) => DataFrame)] = Seq(
    ("ZORDER", (df, n, c) => df.repartitionByZOrderRange(n, c: _*)),
    ("HILBERT", (df, n, c) => df.repartitionByHilbertRange(n, c: _*))
  )

  for ((name, call) <- curves) {
    test(s"$name: there are exactly as many partitions as asked for, with and without adaptive execution", InRest) {
      for (adaptive <- Seq("true", "false"); n <- Seq(1, 2, 7, 100))
        withSettings("spark.sql.adaptive.enabled" -> adaptive) {
          val found = partitions(call(grid, n, Seq(col("a"), col("b"))))
          assert(found.length == n && found.forall(_.nonEmpty), s"adaptive = $adaptive")
          assert(bag(found.flatten) == bag(grid.collect().toSeq))
        }
    }

    test(s"$name: there is one shuffle, and one scan of the keys alone") {
      val path = new java.io.File(dir, s"wide-$name").toString
      grid.selectExpr("id", "a", "b", "uuid() as other").write.parquet(path)
      val df = call(spark.read.parquet(path), 8, Seq(col("a"), col("b")))
      df.collect()
      val executed = plan(df)
      assert(collect(executed) { case s: ShuffleExchangeExec => s }.length == 1)
      val scans = collectWithSubqueries(executed) { case s: FileSourceScanExec => s.id -> s.requiredSchema.fieldNames }
      assert(scans.toMap.values.map(_.toSeq).toSeq.sortBy(_.length) == Seq(Seq("a", "b"), Seq("id", "a", "b", "other")))
    }

    test(s"$name: nothing runs before the result is needed, and the result is the same every time") {
      spark.sparkContext.setJobGroup("analysis", "nothing yet")
      val df = call(grid, 5, Seq(col("b"), col("a"))).filter("a > 3")
      df.schema
      df.asInstanceOf[Dataset[Row]].queryExecution.sparkPlan
      assert(spark.sparkContext.statusTracker.getJobIdsForGroup("analysis").isEmpty)
      spark.sparkContext.clearJobGroup()
      assert(partitions(df) == partitions(df))
    }
  }

  test("rows of a partition are sorted along the curve, or by their values if there is one column", InRest) {
    val rows = spark.range(0, 5000, 1, 3).selectExpr(
      "id",
      "case when id % 10 = 0 then null when id % 10 = 1 then double('NaN') else cast(id * 7919 % 1000 - 500 as double) end v"
    )
    val order = rows.orderBy("v").collect().map(r => String.valueOf(r.get(1))).toSeq
    for (n <- Seq(1, 6)) {
      val found = partitions(rows.repartitionByZOrderRange(n, col("v")))
      assert(found.length == n)
      assert(found.flatten.map(r => String.valueOf(r.get(1))) == order)
      assert(bag(found.flatten) == bag(rows.collect().toSeq))
    }
  }

  test("a value with too many rows for a partition is in several, by the other columns of its rows", InRest) {
    val rows = spark.range(0, 8000, 1, 3).selectExpr("id", "if(id < 6000, 5, id) as v", "map(id, id) as m")
    val found = partitions(rows.repartitionByZOrderRange(8, col("v")))
    assert(found.length == 8 && found.flatten.length == 8000)
    assert(found.forall(p => p.length > 300 && p.length < 2000), found.map(_.length))
    // Rows that are equal in all columns stay together: the partition of a row depends only on its values.
    val same = partitions(rows.select(lit(1).as("c"), col("v")).repartitionByZOrderRange(8, col("v")))
    assert(same.count(_.exists(_.getLong(1) == 5)) == 1)
  }

  test("the partition of a row depends on its values, not on the order of the rows", InRest) {
    def placed(ids: DataFrame) =
      partitions(ids.selectExpr("id", "id * 2741 % 37 as a").repartitionByHilbertRange(9, col("a"), col("id")))
    assert(placed(spark.range(0, 1500, 1, 3).toDF()) == placed(spark.range(1499, -1, -1, 2).toDF()))
  }

  test("keys may have any type that has an order, with nulls, and may be fields of structs", InRest) {
    val rows = spark.range(0, 1000, 1, 3).selectExpr(
      "id", "cast(id % 100 as tinyint) b", "cast(id % 77 as decimal(9, 2)) d9",
      "cast(id * 31 % 997 - 500 as decimal(38, 10)) d38", "if(id % 11 = 0, null, concat('name', id * 13 % 211)) str",
      "cast(concat('x', id % 53) as binary) bin", "date_add(date'2020-01-01', cast(id % 99 as int)) d",
      "timestamp_seconds(id * 977) ts", "id % 3 = 0 flag", "cast(id % 13 as float) f",
      "named_struct('x', id % 10, 'y', concat('A', id)) s", "concat('B', id % 20) collate UNICODE_CI ci"
    )
    val expected = bag(rows.collect().toSeq)
    val keys = Seq("b d9 d38", "str bin d", "ts flag f", "s.x s.y ci", "flag", "id b d9 d38 str bin d ts")
    for (of <- keys.map(_.split(' ').toSeq); (_, call) <- curves) {
      val found = partitions(call(rows, 5, of.map(col)))
      assert(found.length == 5, of)
      assert(bag(found.flatten) == expected, of)
    }
    val computed = partitions(rows.repartitionByZOrderRange(5, year(col("d")), upper(col("str"))))
    assert(bag(computed.flatten) == expected)
  }

  test("it works without rows, and with a key that is always null", InRest) {
    val none = grid.filter("a < 0 and rand(1) < 2").repartitionByZOrderRange(4, col("a"), col("b"))
    // Adaptive execution sees that there are no rows, and makes no partitions.
    assert(none.collect().isEmpty)
    withSettings("spark.sql.adaptive.enabled" -> "false")(assert(partitions(none.select("*")).length == 4))
    val nulls = partitions(grid.withColumn("n", expr("cast(null as string)")).repartitionByHilbertRange(4, col("n")))
    assert(nulls.length == 4 && nulls.flatten.length == 1024)
  }

  test("it works with a cached table, a view, a subquery and a join of a table with itself", InRest) {
    val path = new java.io.File(dir, "joined").toString
    grid.write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")
    val expected = bag(grid.collect().toSeq)
    val texts = Seq(
      "SELECT /*+ ZORDER(6, a, b) */ * FROM t",
      "WITH c AS (SELECT * FROM t) SELECT /*+ HILBERT(6, a, b) */ * FROM c",
      "WITH c AS (SELECT /*+ ZORDER(6, a, b) */ * FROM t) SELECT x.* FROM c x",
      "SELECT * FROM (SELECT /*+ HILBERT(6, a, b) */ * FROM t)"
    )
    def checked() = texts.foreach { text =>
      val found = partitions(spark.sql(text))
      assert(found.length == 6 && bag(found.flatten) == expected, text)
    }
    checked()
    spark.catalog.cacheTable("t")
    checked()
    spark.catalog.uncacheTable("t")
    val clustered = spark.table("t").repartitionByZOrderRange(6, col("a"), col("b"))
    assert(clustered.as("x").join(clustered.as("y"), col("x.id") === col("y.id")).count() == 1024)
    assert(clustered.union(clustered).count() == 2048)
    val kept = clustered.cache()
    assert(kept.rdd.getNumPartitions == 6 && bag(kept.collect().toSeq) == expected)
    kept.unpersist()
    val filtered = partitions(clustered.filter("a > 25").select("b"))
    assert(filtered.length == 6 && filtered.flatten.length == 6 * 32)
    val exists = "EXISTS (SELECT /*+ ZORDER(3, id) */ id FROM t u WHERE u.a = t.b AND u.b = t.a)"
    assert(spark.sql(s"SELECT count(*) FROM t WHERE $exists").head().getLong(0) == 1024)
    assert(spark.sql("SELECT /*+ ZORDER(4, n) */ a, count(*) AS n FROM t GROUP BY a").collect().length == 32)
  }

  /** The warnings about hints while a query is analyzed. */
  private def warnings(query: String): Seq[String] = {
    val found = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender("found", null, null, false, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = { found.add(event.getMessage.getFormattedMessage); () }
    }
    val logger = LogManager.getLogger(CurveHints.getClass.getName.stripSuffix("$")).asInstanceOf[Logger]
    appender.start()
    logger.addAppender(appender)
    try spark.sql(query)
    finally logger.removeAppender(appender)
    found.asScala.toSeq
  }

  test("a hint of Spark that undoes ours is warned of") {
    val others = Seq("REPARTITION(5)", "REPARTITION(id)", "COALESCE(1)", "REBALANCE")
    for (undoes <- others; curve <- Seq("ZORDER", "hilbert")) {
      val Seq(warning) = warnings(s"SELECT /*+ $undoes, $curve(3, id) */ * FROM range(9)"): @unchecked
      assert(warning.contains(s"The hint $curve does nothing here"))
      assert(warnings(s"SELECT /*+ $curve(3, id), $undoes */ * FROM range(9)").isEmpty)
    }
    assert(warnings("SELECT /*+ ZORDER(3, id) */ * FROM range(9)").isEmpty)
    assert(warnings("SELECT /*+ REPARTITION(5) */ * FROM range(9)").isEmpty)
  }

  test("of two hints, one inside of the other, the outer one counts", InRest) {
    val twice = grid.repartitionByHilbertRange(3, col("id")).repartitionByZOrderRange(16, col("a"), col("b"))
    val found = partitions(twice)
    assert(found.length == 16)
    assert(found.forall(p => p.map(_.getLong(1)).max - p.map(_.getLong(1)).min == 7))
  }

  test("metrics of an observed DataFrame are counted once") {
    val df = grid.observe("seen", count(lit(1)).as("n")).repartitionByZOrderRange(4, col("a"))
    val analyzed = df.asInstanceOf[Dataset[Row]].queryExecution.analyzed
    assert(analyzed.collectWithSubqueries { case c: CollectMetrics => c }.length == 1)
    // The sampling subquery is at two places in the plan, but it is the same and runs once.
    assert(analyzed.collectWithSubqueries { case a: Aggregate => a.canonicalized }.distinct.length == 1)
    assert(df.count() == 1024)
  }

  test("without a number there are as many partitions as shuffles have") {
    assert(partitions(grid.repartitionByZOrderRange(col("a"), col("b"))).length == 4)
    assert(partitions(grid.repartitionByHilbertRange(col("a"), col("b"))).length == 4)
  }

  test("a typed dataset keeps its type") {
    val session = spark
    import session.implicits._
    val typed = spark.createDataset(Seq((1, "a"), (2, "b"))).repartitionByZOrderRange(2, $"_1", $"_2")
    assert(typed.map(_._1 + 1).collect().toSet == Set(2, 3))
  }

  test("errors that only the functions can make are found by the analysis") {
    assert(condition(grid.repartitionByZOrderRange(1000001, col("a"))) == "ZORDER_INVALID_HINT.PARTITIONS")
    for (wrong <- Seq(lit(1) + 1, col("a").desc, col("*")))
      assert(condition(grid.repartitionByZOrderRange(4, wrong)) == "ZORDER_INVALID_HINT.PARAMETER", wrong)
    val stream = spark.readStream.format("rate").load()
    assert(condition(stream.repartitionByZOrderRange(4, col("value"))) == "ZORDER_INVALID_HINT.ON_STREAM")
  }

  /** The sample of a task's rows, after it was serialized. */
  private def drawn(task: Int, capacity: Int, rows: Seq[Long]): SampledKeys = {
    val keys = new SampledKeys(task, capacity)
    rows.foreach(v => keys.add(() => IndexedSeq(if (v % 7 == 0) null else v)))
    PlanBytes.read[SampledKeys](PlanBytes.write(keys))
  }

  private def values(keys: SampledKeys, wanted: Int): Seq[Any] = {
    val sample = keys.sample(wanted, Seq(true))
    (0 until sample.rows).map(sample.key(_).head)
  }

  test("if there are few rows, all of them are the sample") {
    val all = drawn(0, 100, Nil).merge(drawn(1, 100, 1L to 50)).merge(drawn(2, 100, 51L to 60))
    val expected = (1L to 60).map(v => if (v % 7 == 0) null else v)
    assert(values(all, 1000).toSet == expected.toSet && values(all, 1000).length == 60)
    assert(values(drawn(0, 100, Nil), 1000) == Nil)
  }

  test("the order in which tasks are merged does not matter") {
    def task(i: Int) = drawn(i, 100, i * 1000L until (i + 1) * 1000L)
    val forth = (0 until 9).map(task).reduceLeft(_ merge _)
    val back = (0 until 9).reverse.map(task).reduceLeft(_ merge _)
    assert(values(forth, 500) == values(back, 500))
  }

  test("every row is equally likely, also in tasks that have seen more rows than they can keep") {
    // One task has nine tenths of the rows, and can keep a ninth of its share of the sample.
    val all = drawn(0, 1000, 0L until 90000).merge(drawn(1, 1000, 90000L until 100000))
    val known = values(all, 10000).collect { case v: Long => v }
    assert(math.abs(known.length - 10000 * 6 / 7) < 400)
    val large = known.count(_ < 90000).toDouble / known.length
    assert(math.abs(large - 0.9) < 0.01)
    // The position in a task does not matter either: the mean of the sampled numbers is that of all numbers.
    assert(math.abs(known.sum.toDouble / known.length - 50000) < 2500)
  }

  test("many small tasks are sampled at the same rate") {
    val all = (0 until 3000).map(i => drawn(i, 64, i * 3L until i * 3L + 3)).reduceLeft(_ merge _)
    assert(math.abs(values(all, 900).length - 900) < 120)
  }
}
