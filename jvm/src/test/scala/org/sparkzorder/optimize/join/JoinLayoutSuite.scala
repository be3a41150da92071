package org.sparkzorder.optimize.join

import java.io.File
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.apache.commons.io.FileUtils
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.errors.ZOrderAnalysisException
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.memory.IndexedTables
import org.sparkzorder.skipping.SkippingErrors
import org.sparkzorder.statement.TableTarget
import org.sparkzorder.table.{PlainTables, TableSideFolder}

/**
 * Rows that are placed by attributes of dimensions. The table `sales` has 8000 rows in eight files, in which each
 * customer is. Twenty customers, in the order of their keys, have the same city.
 */
class JoinLayoutSuite extends AnyFunSuite with IndexedTables {

  private val rowsOfSales =
    "SELECT id, if(id % 50 = 0, NULL, cast(id * 7919 % 420 AS INT)) AS customer, cast(id * 31 % 97 AS INT) AS day, " +
      "concat('n', id) AS note FROM range(0, 8000, 1, 8)"

  /** Customers from 0 to 399: those from 400 to 419 are missing. */
  private def withTables(test: => Unit): Unit = {
    val customers = "SELECT int(id) AS key, concat('city', int(id / 20)) AS city, int(id % 7) AS size"
    spark.sql(s"CREATE TABLE sales USING parquet AS $rowsOfSales")
    spark.sql(s"CREATE TABLE customer USING parquet AS $customers FROM range(0, 400, 1, 2)")
    try test
    finally Seq("sales", "customer").foreach(t => spark.sql(s"DROP TABLE IF EXISTS $t"))
  }

  private def testSales(name: String)(work: => Unit): Unit = test(name, InRest)(withTables(work))

  private val Join = "JOIN customer ON customer = key"
  private val Files = "OPTIONS ('num-files' = '20')"

  private def rows(): Seq[String] = sortedRows(spark.table("sales"))

  /** Runs a statement that must keep the rows of `sales`. */
  private def optimize(words: String): DataFrame = {
    val before = rows()
    val result = spark.sql(s"OPTIMIZE sales $words")
    assert(rows() == before, words)
    result
  }

  private def strategy(result: DataFrame): String = result.selectExpr("metrics.strategy.name").head().getString(0)

  private def added(result: DataFrame): Long = result.selectExpr("metrics.numFilesAdded").head().getLong(0)

  private def assertRefused(name: String, optimize: String, hints: String*): Unit = {
    val before = rows()
    val message = intercept[ZOrderAnalysisException](spark.sql(s"OPTIMIZE sales $optimize")).getMessage
    assert(rows() == before)
    assert(message.startsWith(s"[$name]") && hints.forall(message.contains(_)), message)
  }

  private def insert(rows: Int, from: Int): Unit =
    spark.sql(s"INSERT INTO sales SELECT id + $from, int(id % 400), int(id % 97), 'new' FROM range($rows)")

  private def withOtherCustomers(select: String): Unit = {
    spark.sql("DROP TABLE customer")
    spark.sql(s"CREATE TABLE customer USING parquet AS SELECT $select")
  }

  private def joins: String =
    spark.sql("DESCRIBE HISTORY sales").selectExpr("operationParameters['joins']").head().getString(0)

  private def shownLayout: String =
    spark.sql("SHOW CLUSTERING").where("`table` LIKE '%sales'").selectExpr("layout").head().getString(0)

  /** The files of `sales` that a query reads, whose rows must be right. */
  private def filesOfSales(sql: String): Long = {
    val expected = withSettings("spark.zorder.skipping.enabled" -> "false")(run(spark.sql(sql))._1)
    val query = spark.sql(sql)
    assert(run(query)._1 == expected, sql)
    scans(query).filter(_.relation.dataSchema.fieldNames.contains("note")).map(_.metrics("numFiles").value).sum
  }

  testSales("a join with a filtered dimension reads few files, and rows without a partner are where NULL is") {
    val result = optimize(s"$Join ZORDER BY (city, day) $Files")
    assert(added(result) >= 16 && added(result) <= 25)
    assert(SkippingErrors.total == 0)
    val read = filesOfSales("SELECT note FROM sales JOIN customer ON customer = key WHERE city = 'city3'")
    assert(read > 0 && read <= 8, s"$read files")
    // NULL and missing customers are before the first city.
    val lost = spark.sql("SELECT DISTINCT input_file_name() FROM sales WHERE customer IS NULL OR customer >= 400")
    assert(lost.count() <= 8, lost.collect().mkString("\n"))
    assert(result.selectExpr("metrics.clustering.column").head().getSeq[String](0) == Seq("day"))
    assert(shownLayout == "JOIN spark_catalog.default.customer ON customer = key ZORDER BY (customer.city, day)")
  }

  testSales("curves, weights, the bytes mapping, a single attribute and two dimensions") {
    spark.sql("SELECT int(id) AS d, int(id / 7) AS week FROM range(97)").createOrReplaceTempView("days")
    Seq(
      s"$Join ZORDER BY (city)",
      s"$Join ZORDER BY (city WEIGHT 3, day, size)",
      s"$Join HILBERT BY (city, size, day)",
      s"$Join ORDER BY (city, size, note)",
      s"$Join JOIN days ON d = day ZORDER BY (days.week, customer.city)",
      s"JOIN days ON days.d = sales.day ORDER BY (week)"
    ).foreach { layout =>
      assert(added(optimize(s"$layout $Files")) >= 14, layout)
      assert(added(optimize(layout)) == 0, layout)
    }
    optimize(s"$Join ZORDER BY (city, day) OPTIONS ('num-files' = '20', 'mapping' = 'bytes')")
    withSettings("spark.sql.files.maxRecordsPerFile" -> "150")(optimize(s"FULL $Join ZORDER BY (city, day) $Files"))
  }

  testSales("a dimension that is not broadcast, and executions in which rows are shuffled to it") {
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      optimize(s"$Join ZORDER BY (city, day) $Files")
      withSettings("spark.sql.join.preferSortMergeJoin" -> "false")(optimize(s"FULL $Join ZORDER BY (city) $Files"))
    }
    val read = filesOfSales("SELECT note FROM sales JOIN customer ON customer = key WHERE city = 'city3'")
    assert(read > 0 && read <= 6, s"$read files")
  }

  for (format <- Seq("parquet", "orc"))
    testSales(s"partitions, WHERE, and the catalog's locations: $format") {
      spark.sql("DROP TABLE sales")
      val place = new File(dir, s"sales_$format").toURI
      val placed = s"PARTITIONED BY (part) LOCATION '$place' AS SELECT *, day % 2 AS part FROM ($rowsOfSales)"
      spark.sql(s"CREATE TABLE sales USING $format $placed")
      val mode = if (format == "parquet") ", 'commit.mode' = 'new-location'" else ""
      assert(added(optimize(s"$Join WHERE part = 1 ZORDER BY (city, day) OPTIONS ('num-files' = '6'$mode)")) >= 4)
      assert(added(optimize(s"$Join ZORDER BY (city, day) OPTIONS ('num-files' = '12'$mode)")) > 0)
      assert(added(optimize("")) == 0)
      assertRefused("ZORDER_INVALID_COLUMN.PARTITION_COLUMN", "JOIN customer ON part = key ZORDER BY (city)")
    }

  testSales("new rows go to the same places, whatever the dimension is now, and OPTIMIZE repeats the layout") {
    optimize(s"$Join ZORDER BY (city, day) $Files")
    assert(strategy(optimize("")) == "none")
    insert(300, from = 8000)
    val first = optimize("")
    assert(strategy(first) == "incremental", first.selectExpr("summary", "metrics.strategy.reason").head())
    // Other cities, missing customers, and another column.
    withOtherCustomers("int(id) AS key, concat('town', id % 9) AS city, 1 AS day FROM range(0, 200)")
    insert(300, from = 9000)
    optimize("")
    // Another type: a new layout.
    withOtherCustomers("id AS key, id AS city FROM range(400)")
    insert(300, from = 9900)
    assert(strategy(optimize("")) == "full")
    val before = joins
    spark.sql("DROP TABLE customer")
    assertRefused("ZORDER_INVALID_JOIN.UNREADABLE", "", "customer", "name a layout")
    assert(shownLayout.startsWith("JOIN"))
    assert(spark.sql("DESCRIBE DETAIL sales").selectExpr("clusteringColumns").head().getSeq[String](0) ==
      Seq("customer.city", "day"))
    assert(joins == before)
    optimize("ZORDER BY (day)")
    assert(joins == null)
  }

  testSales("a column of the table with the name of an attribute is never skipped by the attribute") {
    // The table's city is another one than the customer's.
    spark.sql("DROP TABLE sales")
    spark.sql(s"CREATE TABLE sales USING parquet AS SELECT *, concat('city', id % 20) AS city FROM ($rowsOfSales)")
    assertRefused("ZORDER_INVALID_COLUMN.AMBIGUOUS", s"$Join ZORDER BY (city)", "sales", "customer")
    optimize(s"$Join ZORDER BY (customer.city, day) $Files")
    val table = PlainTables.open(PlainTables.locate(spark, TableTarget(Seq("sales"))))
    val frames = TableIndex.of(table, TableSideFolder.of(table)).get.intervals.get.frames
    assert(frames.flatMap(_.columns).filter(_.key.path.contains("city")).forall(!_.lasting))
    assert(frames.nonEmpty && frames.flatMap(_.columns).map(_.key.path).exists(_.tail == Seq("customer", "city")))
    for (city <- Seq(0, 7, 19)) assert(filesOfSales(s"SELECT note FROM sales WHERE city = 'city$city'") >= 16)
    assert(added(optimize("")) == 0)
    optimize(s"FULL $Join ZORDER BY (sales.city, customer.size) $Files")
    assert(filesOfSales("SELECT note FROM sales WHERE city = 'city7'") <= 8)
  }

  testSales("a column that comes later with the name of an attribute is not skipped by the attribute") {
    optimize(s"$Join ZORDER BY (city, day) $Files")
    spark.sql("ALTER TABLE sales ADD COLUMNS (city STRING)")
    def count(where: String) = spark.sql(s"SELECT * FROM sales WHERE $where").count()
    assert(count("city IS NULL") == 8000)
    spark.sql("INSERT INTO sales SELECT id + 8000, 5, 5, 'new', 'city3' FROM range(200)")
    assert(count("city = 'city3'") == 200)
    optimize("")
    assert(count("city = 'city3' AND customer = 5") == 200 && count("city IS NULL") == 8000)
  }

  testSales("even a column with the path of an attribute, with bounds, is not skipped by the attribute") {
    val folder = new File(dir, "marked").toString
    val column = "named_struct('customer', named_struct('city', concat('city', id % 20)))"
    spark.sql(s"SELECT *, $column AS x FROM ($rowsOfSales)").toDF("id", "customer", "day", "note", "\u0000customer")
      .write.parquet(folder)
    def sales = spark.read.parquet(folder)
    val before = sortedRows(sales)
    spark.sql(s"OPTIMIZE parquet.`$folder` $Join ZORDER BY (city, day) $Files")
    assert(sortedRows(sales) == before)
    val city = col("\u0000customer").getField("customer").getField("city")
    for (n <- 0 until 20) assert(sales.where(city === s"city$n").count() == 400)
  }

  testSales("keys of other types, NULL, NaN and zeros with a sign") {
    def dimension(rows: String): Unit = spark.sql(s"SELECT * FROM VALUES $rows AS d(k, v)").createOrReplaceTempView("d")
    val layout = "FULL JOIN d ON customer = k ORDER BY (v) OPTIONS ('num-files' = '4')"
    val taken = Seq("(1L, 'a'), (2L, 'b'), (NULL, 'c'), (NULL, 'd')", "('1', 'a'), ('2', 'b')") :+
      "(double('NaN'), 'a'), (1.0D, 'c')"
    taken.foreach { rows =>
      dimension(rows)
      optimize(layout)
    }
    // Both are equal to the number 1.
    dimension("('1', 'a'), (' 1', 'b')")
    assertRefused("ZORDER_INVALID_JOIN.DOUBLED_KEY", layout, "`k`", "2 rows have the value 1")
    dimension("(0.0D, 'a'), (-0.0D, 'b'), (1D, 'c')")
    assertRefused("ZORDER_INVALID_JOIN.DOUBLED_KEY", layout, "0.0")
    dimension("(array(1), 'a')")
    assertRefused("ZORDER_INVALID_JOIN.CONDITION", layout, "`customer` of type INT")
  }

  testSales("what is refused, before any job") {
    spark.sql("SELECT * FROM sales").createOrReplaceTempView("copy")
    spark.sql("SELECT 1 AS key, 'a' AS city").createOrReplaceTempView("other")
    assertRefused("ZORDER_INVALID_JOIN.DIMENSION", "JOIN copy ON customer = day ZORDER BY (copy.day)", "reads")
    assertRefused("ZORDER_INVALID_JOIN.DIMENSION", s"$Join $Join ZORDER BY (city)", "same name")
    assertRefused("ZORDER_INVALID_JOIN.CONDITION", "JOIN customer ON key = key ZORDER BY (city)")
    assertRefused("ZORDER_COLUMN_NOT_FOUND", s"$Join ZORDER BY (town)", "`town`")
    assertRefused("ZORDER_INVALID_COLUMN.AMBIGUOUS", s"$Join JOIN other ON other.key = day ZORDER BY (city)")
    assertRefused("ZORDER_INVALID_COLUMN.DUPLICATE", s"$Join ZORDER BY (city, customer.city)")
    val path = new File(dir, "warehouse/sales").toString
    assertRefused("ZORDER_INVALID_JOIN.DIMENSION", s"JOIN parquet.`$path` ON customer = day ZORDER BY (day)")
  }

  /** Does something when the sample of an OPTIMIZE begins, when its dimensions have been read. */
  private def whenSampled[T](work: => Unit)(body: => T): T = {
    val done = new CountDownLatch(1)
    val listener = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit = {
        val name = Option(job.properties).map(_.getProperty("spark.job.description", "")).getOrElse("")
        if (name.endsWith(": sample") && done.getCount > 0) {
          work
          done.countDown()
        }
      }
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      val result = body
      assert(done.await(60, TimeUnit.SECONDS))
      result
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  for (threshold <- Seq("10485760", "-1"))
    testSales(s"if a dimension changes, no row is lost or doubled, and places are as it was read: $threshold") {
      val folder = new File(dir, "warehouse/customer")
      val doubled = new File(dir, s"doubled$threshold")
      spark.table("customer").unionByName(spark.table("customer")).selectExpr("key", "'x' AS city", "size")
        .write.parquet(doubled.toString)
      withSettings("spark.sql.autoBroadcastJoinThreshold" -> threshold) {
        val result = whenSampled {
          FileUtils.cleanDirectory(folder)
          FileUtils.copyDirectory(doubled, folder)
        }(optimize(s"$Join ORDER BY (city) $Files"))
        assert(added(result) >= 16)
      }
      assert(filesOfSales("SELECT note FROM sales WHERE customer BETWEEN 60 AND 79") <= 6)
      spark.sql("REFRESH TABLE customer")
      assertRefused("ZORDER_INVALID_JOIN.DOUBLED_KEY", "FULL", "2 rows")
    }

  testSales("a part of what was read that is gone is an error, and is not read again") {
    def kept = spark.sparkContext.getPersistentRDDs.values.toSeq
    kept.foreach(_.unpersist(blocking = true))
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val before = rows()
      def optimized = spark.sql(s"OPTIMIZE sales $Join ORDER BY (city) $Files")
      val error = intercept[Exception](whenSampled(kept.foreach(_.unpersist(blocking = true)))(optimized))
      assert(error.getMessage.contains("heckpoint"), error)
      assert(rows() == before)
    }
  }
}
