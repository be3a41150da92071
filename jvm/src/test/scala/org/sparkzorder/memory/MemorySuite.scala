package org.sparkzorder.memory

import java.nio.file.{Files, StandardCopyOption}
import java.nio.file.attribute.FileTime

import org.apache.spark.sql.execution.ExplainMode
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.functions.{col, expr, udf}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.skipping.SkippingFileIndex
import org.sparkzorder.memory.learn.LearningFilterExec

class MemorySuite extends AnyFunSuite with MemoryTables {

  for (format <- Seq("parquet", "orc"); codegen <- Seq("true", "false"); vectorized <- Seq("true", "false"))
    test(
      s"a filter reads only files with rows when it comes again: $format, codegen $codegen, vectorized $vectorized",
      (if (format == "parquet" && codegen == "true" && vectorized == "true") Nil else Seq(InRest)): _*
    ) {
      val reader = s"spark.sql.$format.enableVectorizedReader"
      withSettings("spark.sql.codegen.wholeStage" -> codegen, reader -> vectorized) {
        val t = table(indexedFolder(format), format)
        assertReads(8, 1)(t.where("upper(name) = 'N250'"))
        assertReads(8, 2)(t.where("id * 2 IN (20, 1400) AND length(name) > 1"))
        assertReads(8, 0)(t.where("k + b > 100"))
        assertReads(8, 8)(t.where("k + b > 2"))
      }
    }

  test("filters that imply a remembered one use it", InRest) {
    val t = table(indexedFolder())
    assertReads(8, 1)(t.where("k = 3 AND id > 700"))
    for (narrower <- Seq("id > 710 AND k = 3", "id >= 701 AND k = 3 AND name LIKE 'n7%'", "id IN (713, 793) AND k = 3"))
      assert(filesRead(t.where(narrower)) == 1, narrower)
    for (wider <- Seq("k = 3 AND id > 699", "k IN (3, 4) AND id > 700", "k = 3", "id > 700", "k = 3 OR id > 700"))
      assert(filesRead(t.where(wider)) == 8, wider)
    assertReads(8, 3)(t.where("name IN ('n5', 'n305', 'n705')"))
    assertReads(3, 2)(t.where("name IN ('n305', 'n5')"))
    assertReads(3, 1)(t.where("name = 'n705'"))
    assert(filesRead(t.where("name IN ('n305', 'n6')")) == 8)
  }

  test("expressions that depend on more than the row teach nothing", InRest) {
    val t = table(indexedFolder())
    spark.udf.register("own", udf((s: String) => s.length))
    spark.read.parquet(indexedFolder()).createOrReplaceTempView("other")
    val more = Seq(
      "rand() < 0.5 AND k = 3", "input_file_name() LIKE '%parquet' AND k = 3", "_metadata.file_size > 5 AND k = 3",
      "own(name) = 3", "id = (SELECT max(id) FROM other)", "exists(array(id, k), x -> x = 77)",
      "hex(aes_encrypt(name, '0000111122223333')) LIKE '0%'"
    )
    for (filter <- more) assert(!learns(t.where(filter)), filter)
    val ofRow = Seq("k = 3", "id + k = 5", "CASE WHEN k = 3 THEN b ELSE id END = 9") :+
      "date_add(DATE'2020-01-01', b) > DATE'2020-01-05'"
    for (filter <- ofRow) assert(learns(t.where(filter)), filter)
  }

  test("a query that does not read to the end teaches nothing", InRest) {
    val t = table(indexedFolder())
    withSettings("spark.sql.files.maxPartitionBytes" -> "1000000000", "spark.sql.files.openCostInBytes" -> "1") {
      // All files in two tasks, and the first rows of each suffice.
      assert(t.where("id % 100 = 0").limit(1).collect().length == 1)
      assert(t.where("id % 100 = 0").take(1).length == 1)
      assert(t.where("id % 100 = 0").count() == 8)
    }
  }

  test("a filter that fails teaches nothing", InRest) {
    val t = table(indexedFolder())
    def failing = t.where("1 / (id - 750) > 2")
    withSettings("spark.sql.ansi.enabled" -> "true")(for (_ <- 0 to 2) intercept[Exception](failing.collect()))
    withSettings("spark.sql.ansi.enabled" -> "false")(assert(failing.count() == 0))
  }

  test("files that were added or overwritten are read", InRest) {
    val path = indexedFolder()
    def query = table(path).where("upper(name) = 'N250'")
    assertReads(8, 1)(query)
    spark.sql("SELECT 900L AS id, 0L AS k, 'n250' AS name, 9 AS b").coalesce(1).write.mode("append").parquet(path)
    assert(run(query)._1.length == 2)
    age(path)
    // Another file in place of one that was left out.
    Files.copy(fileWith(path, "id = 900"), fileWith(path, "id = 100"), StandardCopyOption.REPLACE_EXISTING)
    assert(run(query)._1.length == 3)
  }

  test("a listing that is older than the file does not hide its rows", InRest) {
    val path = indexedFolder()
    val t = table(path)
    def query = t.where("k = 3 AND name = 'n503'")
    assertReads(8, 1)(query)
    val (source, target) = (fileWith(path, "name = 'n503'"), fileWith(path, "name = 'n103'"))
    def isRead: Boolean = scans(query).head.relation.location match {
      case index: SkippingFileIndex =>
        index.listFiles(Nil, Nil)
        !index.filesWithoutRows(Nil, Nil).without.exists(_.path.getName == target.getFileName.toString)
      case _ => true
    }
    assert(!isRead)
    // The DataFrame keeps its listing. What Spark makes of a file that has changed since is Spark's own business.
    Files.copy(source, target, StandardCopyOption.REPLACE_EXISTING)
    assert(isRead)
  }

  private def fileWith(folder: String, filter: String) =
    withoutMemory(files(folder).find(f => spark.read.parquet(f.toString).where(filter).count() > 0).get)

  test("a file that was another one while it was read teaches nothing", InRest) {
    for (codegen <- Seq("true", "false")) withSettings("spark.sql.codegen.wholeStage" -> codegen) {
      val rows = spark.range(0, 800, 1, 8).selectExpr("id", "concat('n', id) AS name")
      val t = saved(s"exchanged-$codegen", rows.write.option("compression", "none"), "name")
      // All row groups are left out by the first one.
      for (filter <- Seq("id = 242", "name LIKE '%n242'")) {
        val query = table(t).filter(filter)
        val (file, other) = (files(t)(2), files(t)(3))
        assert(Files.size(file) == Files.size(other))
        val away = file.resolveSibling("_away")
        Files.move(file, away)
        Files.copy(other, file)
        assert(query.count() == 0)
        Files.delete(file)
        Files.move(away, file)
        assert(table(t).filter(filter).count() == 1)
        assert(filesRead(table(t).filter(filter)) == 1)
      }
    }
  }

  test("files of this moment are not remembered") {
    val path = indexedFolder()
    files(path).foreach(Files.setLastModifiedTime(_, FileTime.fromMillis(System.currentTimeMillis() + 5000)))
    assertReads(8, 8)(table(path).where("upper(name) = 'N250'"))
  }

  test("settings that may change what a reader or an expression finds make another filter", InRest) {
    val path = indexedFolder()
    val t = table(path)
    def query = t.where("upper(name) = 'N250'")
    assertReads(8, 1)(query)
    val others = Seq("session.timeZone" -> "Asia/Tokyo", "caseSensitive" -> "true", "ansi.enabled" -> "false") ++
      Seq("parquet.filterPushdown" -> "false", "unknown.setting" -> "1")
    val same = Seq("shuffle.partitions" -> "3", "adaptive.enabled" -> "false")
    for ((group, files) <- Seq(others -> 8, same -> 1); (key, value) <- group)
      withSettings(s"spark.sql.$key" -> value)(assert(filesRead(query) == files, key))
    withSettings("spark.sql.files.ignoreCorruptFiles" -> "true")(assert(!learns(query) && filesRead(query) == 8))
    assert(!learns(spark.read.option("ignoreMissingFiles", "true").parquet(path).where("upper(name) = 'N250'")))
  }

  test("settings count as they are when the query runs, in the session that runs it", InRest) {
    val path = indexedFolder()
    def query = table(path).where("upper(name) = 'N250'")
    def planned() = {
      val made = query
      made.queryExecution.executedPlan
      made
    }
    val before = planned()
    withSettings("spark.sql.caseSensitive" -> "true")(assert(before.collect().length == 1))
    assert(filesRead(query) == 8)
    val late = planned()
    withSettings("spark.sql.caseSensitive" -> "true")(assert(run(late)._2 == 8))
    // A session of its own has settings of its own, also for a view of another session.
    query.createGlobalTempView("of_another")
    val other = spark.newSession()
    other.conf.set("spark.zorder.memory.enabled", "true")
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    assert(run(other.sql("SELECT * FROM global_temp.of_another"))._2 == 8)
    other.conf.set("spark.zorder.memory.enabled", "false")
    assert(!learns(other.sql("SELECT * FROM global_temp.of_another")))
    spark.catalog.dropGlobalTempView("of_another")
  }

  test("ranges of strings and days imply only themselves, since ORC has another order of them", InRest) {
    val rows = spark.sql("SELECT 1 AS id, '\uD83D\uDE00' AS name, DATE'1582-10-15' AS day")
    val path = saved("orders", rows.write, "id", "orc")
    def count(filter: String) = spark.read.orc(path).where(filter).count()
    // By UTF-16 the first is below the second, and a day that was left out of the calendar becomes the 15th.
    count("name > '\uFF21'")
    count("day > DATE'1582-10-06'")
    assert(count("name = '\uD83D\uDE00'") == 1 && count("name >= '\uD83D\uDE00'") == 1)
    assert(count("day = DATE'1582-10-15'") == 1)
  }

  test("a plan that runs again under other settings teaches only what it found under the first", InRest) {
    val path = indexedFolder()
    def query = table(path).where("date_format(timestamp_seconds(id), 'yyyy') = '1971'")
    val planned = query
    planned.queryExecution.executedPlan
    withSettings("spark.sql.caseSensitive" -> "true") {
      assert(planned.collect().isEmpty)
      assert(filesRead(query) == 8)
    }
    assert(filesRead(query) == 8 && planned.collect().isEmpty && filesRead(query) == 0)
  }

  test("a plan whose files memory chose does not run again where times are read by other rules", InRest) {
    val path = indexedFolder()
    def minutes = table(path).where("date_format(timestamp_seconds(id), 'mm') = '10'")
    assertReads(8, 0)(table(path).where("date_format(timestamp_seconds(id), 'yyyy') = '1971'"))
    assert(minutes.count() > 0)
    val again = minutes
    val rows = again.collect().length
    withSettings("spark.sql.legacy.timeParserPolicy" -> "LEGACY") {
      val e = intercept[Exception](again.collect())
      val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
      assert(causes.exists(_.getMessage.startsWith("[ZORDER_SETTING_CHANGED]")))
      assert(minutes.collect().length == rows)
    }
    assert(again.collect().length == rows)
  }

  test("equal scans are equal, however they are written, if memory knows one of them", InRest) {
    val path = indexedFolder()
    def half(condition: String) = table(path).where(condition).groupBy("k").count()
    half("id + b > 650").collect()
    val both = half("id + b > 650").union(half("b + id > 650"))
    both.collect()
    assert(collectWithSubqueries(both.queryExecution.executedPlan) { case r: ReusedExchangeExec => r }.size == 1)
  }

  test("two scans of the same files that run in one task, in two threads, each learn of their own", InRest) {
    val path = indexedFolder()
    def even = table(path).where("id % 200 = 100 AND length(name) > 0")
    def odd = table(path).where("id % 200 = 0 AND length(name) > 0")
    withSettings("spark.sql.files.openCostInBytes" -> "0", "spark.sql.files.minPartitionNum" -> "1") {
      for (_ <- 1 to 20) {
        spark.sql(s"CLEAR SKIPPING MEMORY ON parquet.`$path`")
        val both = even.queryExecution.toRdd.zipPartitions(odd.queryExecution.toRdd) { (some, others) =>
          var of = 0
          val thread = new Thread(() => of = others.size)
          thread.start()
          val n = some.size
          thread.join()
          Iterator(n, of)
        }
        assert(both.collect().toSeq == Seq(4, 4))
        assert(run(even)._1 == Seq(100, 300, 500, 700).map(i => s"[$i,0,n$i,${i / 100}]").sorted)
        assert(filesRead(even) == 4 && filesRead(odd) == 4)
      }
    }
  }

  test("memory changes neither which rows are in which partition nor what depends on it", InRest) {
    for ((filter, count) <- Seq("id % 200 = 133 AND length(name) > 0" -> 4, "length(name) = 4 AND k < 9" -> 630)) {
      val path = indexedFolder()
      def rows = table(path).where(filter)
      def halves() = {
        val cached = rows.persist()
        val parts = cached.randomSplit(Array(0.5, 0.5), 3)
        val some = parts.head.collect().toSeq
        cached.unpersist(true)
        (some, parts.last.collect().toSeq)
      }
      def split() = rows.randomSplit(Array(0.4, 0.6), 42).map(sortedRows(_)).toSeq
      def sampled() = rows.rdd.sample(withReplacement = false, 0.5, 5).collect().toSeq
      def ids() = rows.selectExpr("id", "monotonically_increasing_id()", "rand(3)").collect().toSeq
      val first = rows.rdd
      val read = math.min(count, 7)
      val expected = withoutMemory((halves(), split(), sampled(), ids()))
      assert(first.count() == count && filesRead(rows) == read)
      assert((halves(), split(), sampled(), ids()) == expected)
      assert(first.zip(rows.selectExpr("id * 2").rdd).collect().length == count)
      assert(filesRead(rows) == read && filesRead(rows.sample(0.5, 1)) == read)
      assert(rows.rdd.getNumPartitions == first.getNumPartitions)
    }
  }

  test("the same values of other partition columns are another partition", InRest) {
    val path = indexedFolder()
    for ((name, by) <- Seq("p1" -> "p, q", "p2" -> "q, p")) {
      spark.sql(s"DROP TABLE IF EXISTS $name")
      spark.sql(s"CREATE TABLE $name (id BIGINT, p INT, q INT) USING parquet PARTITIONED BY ($by) LOCATION '$path'")
    }
    spark.sql(s"ALTER TABLE p1 ADD PARTITION (p = 1, q = 2) LOCATION '$path'")
    spark.sql(s"ALTER TABLE p2 ADD PARTITION (q = 1, p = 2) LOCATION '$path'")
    for (name <- Seq("p1", "p2", "p1")) assert(spark.table(name).where("id + p = 9 AND p < 10").count() == 1)
    Seq("p1", "p2").foreach(name => spark.sql(s"DROP TABLE $name"))
  }

  test("nothing is remembered where the columns that are read decide what the reader finds", InRest) {
    val t = table(indexedFolder())
    withSettings("spark.sql.parquet.recordLevelFilter.enabled" -> "true")(assertReads(8, 8)(t.where("id + k = 2")))
  }

  test("a file of two partitions counts in each of them", InRest) {
    val path = indexedFolder()
    val columns = "id BIGINT, k BIGINT, name STRING, b INT, p STRING"
    spark.sql(s"CREATE TABLE twice ($columns) USING parquet PARTITIONED BY (p)")
    for (p <- Seq("a", "b")) spark.sql(s"ALTER TABLE twice ADD PARTITION (p = '$p') LOCATION '$path'")
    spark.sql("CREATE SKIPPING INDEX ON twice (k)")
    def query(p: String) = spark.table("twice").where(s"concat(p, name) = '${p}n650'")
    withSettings("spark.sql.files.maxPartitionBytes" -> "1000") {
      for (p <- Seq("a", "b"); _ <- 0 to 1) {
        assert(query(p).take(1).length == 1)
        assert(query(p).count() == 1)
      }
    }
    spark.sql("DROP TABLE twice")
  }

  test("the same files under another schema are another filter", InRest) {
    val path = indexedFolder()
    assertReads(8, 1)(table(path).where("concat(name, '') = 'n250'"))
    val other = spark.read.schema("id BIGINT, name BINARY").parquet(path)
    assert(filesRead(other.where("concat(cast(name AS STRING), '') = 'n250'")) == 8)
  }

  test("parts of large files count only together", InRest) {
    val rows = table(indexedFolder()).coalesce(1).sortWithinPartitions("id")
    val one = saved("one", rows.write.option("parquet.block.size", "2000"), "k")
    withSettings("spark.sql.files.maxPartitionBytes" -> "1000") {
      // The first parts are read to their ends, and the one with the row is not.
      assert(table(one).where("upper(name) = 'N650'").take(1).length == 1)
      assert(table(one).where("upper(name) = 'N650'").count() == 1)
      assertReads(1, 1)(table(one).where("upper(name) = 'N250'"))
      assertReads(1, 0)(table(one).where("upper(name) = 'X'"))
    }
  }

  test("joins, unions, subqueries and aggregates over the same scan", InRest) {
    val path = indexedFolder()
    for (aqe <- Seq("true", "false")) withSettings("spark.sql.adaptive.enabled" -> aqe) {
      def eighth(k: Int) = table(path).where(s"length(name) = 3 AND k = $k")
      def join = eighth(7).as("a").join(eighth(7).as("b"), expr("a.id = b.id AND a.b > 0"))
      def union = eighth(7).union(eighth(8)).groupBy("k").count()
      for (query <- Seq(() => join, () => union)) {
        val expected = withoutMemory(sortedRows(query()))
        for (_ <- 0 to 2) assert(sortedRows(query()) == expected)
      }
      assert(filesRead(eighth(7)) == 1)
    }
  }

  test("a table of the catalog with partitions, and no condition on them", InRest) {
    withCatalogTable("partitioned", indexedFolder(partitionedBy = Seq("k"))) {
      def query = spark.table("partitioned").where("upper(name) = 'N250'")
      val before = query.queryExecution.optimizedPlan.stats.sizeInBytes
      assertReads(80, 1)(query)
      assert(query.queryExecution.optimizedPlan.stats.sizeInBytes == before)
    }
  }

  test("a table with more columns than generated code takes", InRest) {
    val columns = "id" +: (0 until 120).map(i => s"id + $i AS c$i")
    val wide = saved("wide", spark.range(0, 400, 1, 4).selectExpr(columns: _*).write, "c8")
    assertReads(4, 1)(table(wide).where("c7 * 2 = 20"))
  }

  for (codegen <- Seq("true", "false")) test(s"two scans that take turns in one thread, codegen $codegen", InRest) {
    val path = indexedFolder()
    withSettings(
      "spark.sql.codegen.wholeStage" -> codegen,
      "spark.sql.files.maxPartitionBytes" -> "1000000000",
      "spark.sql.files.openCostInBytes" -> "1"
    ) {
      val a = table(path).where("k = 3 AND id % 100 < 70")
      val far = table(path).where("k = 4 AND id % 100 < 70 AND b > 3")
      // One of the second scan's files for each row of the first one.
      val pairs = a.queryExecution.toRdd.zipPartitions(far.queryExecution.toRdd) { (x, y) =>
        Iterator(x.zipAll(y, null, null).size)
      }
      pairs.collect()
      assert(a.count() == 56 && far.count() == 28)
    }
  }

  test("a cached relation is built once, and its rows stay", InRest) {
    val t = table(indexedFolder())
    val filtered = t.where("upper(name) = 'N250'").cache()
    assert(filtered.count() == 1)
    assert(filtered.where("k = 0").count() == 1)
    filtered.unpersist()
    assert(filesRead(t.where("upper(name) = 'N250'")) == 1)
  }

  test("plans and what Spark concludes from them are those without memory, while it knows nothing", InRest) {
    val t = indexedFolder()
    def plans() = Seq(
      table(t).filter("name LIKE '%42'").select("id"),
      table(t).filter("id % 7 = 3").groupBy("k").count(),
      table(t).filter("k > id % 5").join(table(t).filter("b + k = 3").select(col("id")), "id")
    ).map(_.queryExecution.explainString(ExplainMode.fromString("formatted")))
      .map(_.replaceAll("#\\d+L?|plan_id=\\d+|[\\d.]+ ms", "#"))
    val cached = table(t).filter("k + b = 5").cache()
    try {
      val relation = cached.queryExecution.withCachedData.collectFirst { case r: InMemoryRelation => r }.get
      assert(collect(relation.cachedPlan) { case f: LearningFilterExec => f }.size == 1)
      assert(relation.hasSelectivePredicate)
      val other = withoutMemory(plans())
      assert(plans() == other)
    } finally cached.unpersist()
  }

  test("plans and metrics say what memory has left out", InRest) {
    val t = table(indexedFolder())
    def query = t.where("upper(name) = 'N250'")
    val (first, again) = (query, query)
    first.collect()
    again.collect()
    assert(again.queryExecution.executedPlan.toString.contains("memory: 7 of 8 files"))
    assert(scans(again).head.metrics("skippingLeftOutByMemory").value == 7)
    // What is estimated is what it was before, and so is the plan.
    assert(again.queryExecution.optimizedPlan.stats == first.queryExecution.optimizedPlan.stats)
  }

  test("EXPLAIN SKIPPING ANALYZE runs a query, and counts the files that it read in vain") {
    val path = indexedFolder()
    def explained(query: String) = spark.sql(s"EXPLAIN SKIPPING ANALYZE $query").collect().toSeq.map { r =>
      (r.getLong(2), r.getLong(3), Option(r.get(8)))
    }
    val some = s"SELECT count(*) FROM parquet.`$path` WHERE id % 200 = 133 AND name LIKE 'n%'"
    assert(explained(some) == Seq((8, 8, Some(4))))
    assert(explained(some) == Seq((8, 4, Some(0))))
    val files = spark.sql(s"EXPLAIN SKIPPING FILES $some").collect()
    assert(files.length == 8 && files.count(_.getAs[Boolean]("kept")) == 4)
    assert(spark.sql(s"EXPLAIN SKIPPING $some").head().getAs[Long]("files_kept") == 4)
    assert(explained(s"SELECT max(name) FROM parquet.`$path`") == Seq((8, 8, None)))
    val join = s"SELECT * FROM ($some) a, (SELECT max(id) FROM parquet.`$path` WHERE k + b = 3) b"
    assert(explained(join) == Seq((8, 4, Some(0)), (8, 8, Some(4))))
    withoutMemory(assert(explained(some) == Seq((8, 8, None))))
  }

  test("OPTIMIZE says how many filters had found something in the files that it replaced", InRest) {
    val path = indexedFolder()
    def optimize() =
      spark.sql(s"OPTIMIZE parquet.`$path` FULL ZORDER BY (k) OPTIONS ('num-files' = '4')").head().getString(2)
    for (n <- 1 to 3) assert(filesRead(table(path).where(s"id + k = ${2 * n}")) == 8)
    assert(optimize().contains(" What 3 filters had found in the old files is forgotten. "))
    assert(!optimize().contains("forgotten"))
  }

  test("CLEAR SKIPPING MEMORY forgets what filters found, and DESCRIBE DETAIL counts it") {
    val path = indexedFolder()
    def known = spark.sql(s"DESCRIBE DETAIL parquet.`$path`").head().getAs[Long]("rememberedFilters")
    assertReads(first = 8, second = 1)(table(path).where("concat(name, k) LIKE '%1333'"))
    assert(known == 1)
    spark.sql(s"CLEAR SKIPPING MEMORY ON parquet.`$path`")
    assert(known == 0 && filesRead(table(path).where("concat(name, k) LIKE '%1333'")) == 8)
  }
}
