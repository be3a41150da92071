package org.sparkzorder.skipping.answer

import java.nio.file.{Files, StandardCopyOption}

import scala.util.Random

import org.apache.spark.sql.{classic, DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Literal}
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.apache.spark.sql.functions.{col, count, lit, max, min, when}
import org.apache.spark.sql.types.IntegerType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.IndexedTables
import org.sparkzorder.skipping.SkippingStrategy

class AggregatesSuite extends AnyFunSuite with IndexedTables {

  private val Answered = """answered from the index: (\d+) files""".r

  /** The answers, how many files the index has answered for, and how many are read. */
  private def asked(query: DataFrame): (Seq[Row], Int, Long) = {
    val rows = query.collect().toSeq
    val plan = query.queryExecution.executedPlan.toString.split("== Initial Plan ==").head
    (rows.sortBy(_.toString), Answered.findAllMatchIn(plan).map(_.group(1).toInt).sum, filesOf(query))
  }

  private def assertAnswers(answered: Int, read: Int)(query: => DataFrame): Unit = {
    val (found, expected) = withAndWithout("aggregates")(asked(query))
    assert(found == ((expected._1, answered, read.toLong)))
  }

  private def assertSame(feature: String)(query: String): Unit = {
    val (found, expected) = withAndWithout(feature)(sortedRows(spark.sql(query)))
    assert(found == expected, query)
  }

  /** The exchanges of a query that has run. */
  private def exchanges(query: DataFrame): Int =
    collectWithSubqueries(query.queryExecution.executedPlan) { case e: Exchange => e }.size

  test("a whole table is answered without a job") {
    // Spark reads a footer in a job for the schema.
    val t = table(indexed())
    assertAnswers(8, 0)(t.agg(count(lit(1)), count("name"), min("id"), max("b")))
    assertAnswers(8, 0)(t.groupBy().count())
    assert(jobs { assert(t.count() == 800) } == 0)
    assert(jobs { assert(t.agg(max("id") - min("id") + 1).collect().toSeq == Seq(Row(800))) } == 0)
    assert(jobs { t.agg(max("id")).show() } == 0)
  }

  test("a filter reads the files at its ends only", InRest) {
    for (format <- Seq("parquet", "orc")) {
      val path = indexed(format)
      def t = table(path, format)
      assertAnswers(4, 2)(t.where("id BETWEEN 150 AND 650").agg(count(lit(1)), min("id"), max("id"), min("k")))
      val filters = Seq((2, 0, "id >= 600"), (0, 0, "id >= 6000"), (0, 1, "id = 5"), (0, 8, "k = 5")) ++
        Seq((0, 2, "id >= 600 AND name LIKE '%7'"))
      for ((answered, read, filter) <- filters)
        assertAnswers(answered, read)(t.where(filter).groupBy().count())
    }
  }

  test("count_if, FILTER and functions of answers", InRest) {
    table(indexed()).createOrReplaceTempView("t")
    assertAnswers(7, 1)(spark.sql("SELECT count_if(id > 450), count(*) FROM t"))
    assertAnswers(7, 1)(spark.sql("SELECT count(*) FILTER (WHERE id > 450), max(b) FILTER (WHERE id > 450) FROM t"))
    assertAnswers(8, 0)(spark.sql("SELECT count(*) + max(id) * 2 AS x, max(id) FROM t"))
    // Spark folds the condition into the rows, and they do not say any more where they are from.
    assertAnswers(0, 0)(spark.sql("SELECT max(id) FROM t HAVING count(*) > 3"))
    for (columns <- Seq("count(*), sum(id)", "count(DISTINCT id)", "max(name)", "max(id + 1)"))
      assertAnswers(0, 8)(spark.sql(s"SELECT $columns FROM t"))
    assertAnswers(0, 8)(spark.sql("SELECT b, count(*) FROM t GROUP BY b"))
    assertAnswers(8, 0)(spark.sql("SELECT (SELECT max(id) FROM t) AS m"))
    // One scan for both.
    val some = "FROM t WHERE id > 150"
    assertAnswers(0, 7)(spark.sql(s"SELECT (SELECT max(id) $some), (SELECT count(*) $some)"))
    assertAnswers(8, 1)(spark.sql("SELECT id FROM t WHERE id + 0 = (SELECT max(id) FROM t)"))
    assertAnswers(16, 0)(spark.sql("SELECT count(*) FROM t UNION ALL SELECT max(id) FROM t"))
  }

  test("an answer that a plan has twice is the same answer", InRest) {
    val t = table(indexed(partitionedBy = Seq("k")))
    def counts = t.groupBy("k").count()
    def reuses(query: DataFrame): Boolean =
      collectWithSubqueries(query.queryExecution.executedPlan) { case e: ReusedExchangeExec => e }.nonEmpty
    val joined = counts.as("a").join(counts.as("b"), col("a.count") === col("b.count")).select(col("a.k") + col("b.k"))
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      joined.collect()
      assert(reuses(joined))
      t.createOrReplaceTempView("parts")
      def twice = spark.sql(
        "WITH c AS (SELECT k, count(*), max(id), k AS again FROM parts WHERE id >= 150 GROUP BY k) " +
          "SELECT * FROM c UNION ALL SELECT * FROM c"
      )
      val expected = withSettings("spark.zorder.aggregates.enabled" -> "false")(asked(twice)._1)
      for (openCost <- Seq("4194304", "1"))
        withSettings("spark.sql.files.openCostInBytes" -> openCost) {
          val query = twice
          val (rows, answered, _) = asked(query)
          assert(answered > 0 && rows == expected)
          // Few rows may be put together without an exchange.
          assert(reuses(query) || exchanges(query) == 0 && openCost != "1")
        }
    }
  }

  test("without groups the plan has no more exchanges than Spark's own, and none for few bytes", InRest) {
    val t = table(indexed())
    def query = t.where("id BETWEEN 150 AND 650").agg(count(lit(1)), min("id"))
    for ((cost, most) <- Seq("4194304" -> 0, "1" -> 1)) withSettings("spark.sql.files.openCostInBytes" -> cost) {
      val made = query
      made.collect()
      assert(exchanges(made) == most)
      assertAnswers(4, 2)(query)
    }
  }

  test("partitions are pruned by a join with the answers", InRest) {
    table(indexed(partitionedBy = Seq("k"))).createOrReplaceTempView("parts")
    spark.sql("SELECT id AS k, id % 2 AS odd FROM range(0, 10)").write.saveAsTable("names")
    val grouped = "SELECT k, count(*) FROM parts WHERE id < 600 OR name LIKE '%7' GROUP BY k"
    val sql = s"SELECT g.*, odd FROM ($grouped) g JOIN names ON g.k = names.k WHERE names.k * 2 = 6"
    def pruned = {
      val query = spark.sql(sql)
      val rows = query.collect().toSeq
      (rows, scans(query).filter(_.relation.partitionSchema.nonEmpty).map(_.metrics("numFiles").value).sum)
    }
    val (expected, all) = withoutSkipping(pruned)
    val (rows, read) = pruned
    assert(rows == expected && read < all && all == 8, s"$read of $all")
    assert(Answered.findFirstIn(spark.sql(sql).queryExecution.executedPlan.toString).isDefined)
    // Spark relies on an index for filters about partitions alone, whenever it finds them.
    val left = scans(spark.sql(grouped)).head.relation
    def ofPartition(k: Int) =
      left.location.listFiles(Seq(EqualTo(AttributeReference("k", IntegerType)(), Literal(k))), Nil)
    val each = (0 until 10).map(ofPartition(_).map(_.values.getInt(0)))
    assert(each.flatten.nonEmpty && each.zipWithIndex.forall { case (found, k) => found.forall(_ == k) })
    spark.sql("DROP TABLE names")
  }

  test("files that change between planning and run, or between two runs, are not mixed with answers", InRest) {
    for (twice <- Seq(false, true)) {
      val path = indexed()
      val t = table(path)
      val queries = Seq(
        t.where("id >= 50").agg(count(lit(1)), min("id"), max("id")),
        t.orderBy("id").limit(150),
        t.where("id >= 0").limit(50)
      )
      if (twice) queries.foreach(_.collect()) else queries.foreach(_.queryExecution.executedPlan)
      spark.range(3).selectExpr("id", "id AS k", "'n' AS name", "0 AS b").coalesce(1).write.parquet(s"$path-new")
      files(path).foreach(f => Files.copy(files(s"$path-new").head, f, StandardCopyOption.REPLACE_EXISTING))
      queries.foreach { q =>
        val e = intercept[Exception](q.collect())
        val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
        assert(causes.exists(_.getMessage.contains("ZORDER_FILE_CHANGED")), e)
      }
      assert(table(path).count() == 24)
    }
  }

  test("a partition of a catalog table that gets another folder, and two partitions of one folder", InRest) {
    val path = indexed(partitionedBy = Seq("k"))
    withCatalogTable("moved", path) {
      def move(k: Int, to: Int) = spark.sql(s"ALTER TABLE moved PARTITION (k = $k) SET LOCATION '$path/k=$to'")
      def check(): Unit = Seq(
        "SELECT count(*), count(k), min(id) FROM moved WHERE k = 3 OR id >= 650",
        "SELECT k, count(*) FROM moved WHERE k + b < 9 GROUP BY k ORDER BY k",
        "SELECT id, k FROM moved WHERE (k = 3 AND id < 50) OR (k = 4 AND id > 750) ORDER BY 1, 2"
      ).foreach { q =>
        val (found, expected) = withAndWithout("skipping")(spark.sql(q).collect().toSeq)
        assert(found == expected, q)
      }
      check()
      move(3, to = 4)
      check()
      def late = spark.sql("SELECT id, k FROM moved WHERE k * 1000 + id BETWEEN 5000 AND 5049 ORDER BY 1")
      val before = late.collect().toSeq
      val planned = late
      planned.queryExecution.executedPlan
      move(5, to = 7)
      move(6, to = 5)
      check()
      val rows = withoutSkipping(late.collect().toSeq)
      assert(rows.nonEmpty && rows != before && late.collect().toSeq == rows)
      // Files are those of the moment of planning, or of the run.
      assert(Set(before, rows)(planned.collect().toSeq))
    }
  }

  test("groups of partition columns", InRest) {
    val path = indexed(partitionedBy = Seq("k"))
    table(path).createOrReplaceTempView("parts")
    assertAnswers(80, 0)(spark.sql("SELECT k, count(*), max(id), max(k) FROM parts GROUP BY k"))
    assertAnswers(80, 0)(spark.sql("SELECT DISTINCT k FROM parts"))
    assertAnswers(80, 0)(spark.sql("SELECT count(k), min(k), count(*) FILTER (WHERE k > 5) FROM parts"))
    assertAnswers(48, 0)(spark.sql("SELECT count(*) FROM parts WHERE (k > 5 AND id >= 0) OR (k < 2 AND b >= 0)"))
    // All of k = 9, and of the others the files of ids from 600 on; the files with ids around 650 are read.
    assertAnswers(17, 9)(spark.sql("SELECT count(*), max(k) FROM parts WHERE k = 9 OR id >= 650"))
    // Tasks get the plan above the answers.
    for (codegen <- Seq("true", "false")) withSettings("spark.sql.codegen.wholeStage" -> codegen) {
      val groups = "(SELECT k, count(*) AS n FROM parts GROUP BY k)"
      assertAnswers(80, 0)(spark.sql(s"SELECT k, sum(n) OVER (ORDER BY k) FROM $groups ORDER BY n, k"))
      assertAnswers(80, 16)(spark.sql("SELECT id FROM parts WHERE k + 0 > (SELECT max(k) - 2 FROM parts)"))
    }
    assertAnswers(60, 10)(spark.sql("SELECT k + 1 AS l, count(*) FROM parts WHERE id > 150 GROUP BY k"))
    assertAnswers(16, 0)(spark.sql("SELECT count(*), min(k), max(k) FROM parts WHERE k IN (3, 4)"))
    assertAnswers(0, 80)(spark.sql("SELECT b, k, count(*) FROM parts GROUP BY b, k"))
    withCatalogTable("catalogued", path) {
      assertAnswers(80, 0)(spark.sql("SELECT count(*), max(id) FROM catalogued"))
      assertAnswers(80, 0)(spark.sql("SELECT k, count(*) FROM catalogued GROUP BY k ORDER BY k"))
    }
  }

  test("what bounds do not know is read", InRest) {
    val rows = spark.range(0, 400, 1, 4).selectExpr(
      "id", "if(id >= 100 AND id < 200, NULL, id) AS gap", "if(id < 100, NULL, id % 3) AS holes",
      "CASE WHEN id = 7 THEN double('NaN') WHEN id >= 300 THEN -0.0D ELSE double(id) END AS d",
      "timestamp_seconds(id) AS ts", "cast(id AS DECIMAL(30, 2)) AS wide", "cast(id AS STRING) AS s"
    )
    val path = saved("odd", rows.write)
    def t = table(path)
    assertAnswers(4, 0)(t.agg(count("gap"), min("gap"), max("gap"), max("ts"), count("s"), max("wide")))
    assertAnswers(2, 2)(t.agg(max("d")))
    assertAnswers(4, 0)(t.agg(count("d")))
    assertAnswers(1, 0)(t.where("gap IS NULL AND id < 200").agg(count(lit(1)), min("gap")))
    assertAnswers(3, 1)(t.where("holes IS NOT NULL OR id < 50").agg(count(lit(1)), min("id")))
    assertAnswers(0, 4)(t.agg(count(when(col("id") % 2 === 0, 1))))
  }

  test("files that the index does not know, and those that have changed, are read") {
    val path = indexed()
    val file = files(path).head
    def hundred(id: Long) = spark.range(id, id + 100, 1, 1).selectExpr("id", "1L AS k", "'x' AS name", "9 AS b").write
    hundred(800).mode("append").parquet(path)
    assertAnswers(8, 1)(table(path).agg(count(lit(1)), max("id")))
    // The listing of this relation is older than the change.
    val listed = table(path)
    hundred(5000).parquet(s"$dir/other")
    Files.copy(files(s"$dir/other").head, file, StandardCopyOption.REPLACE_EXISTING)
    assert(asked(listed.agg(max("id"))) == (Seq(Row(5099)), 0, 9L))
  }

  test("subqueries that Spark makes joins of", InRest) {
    table(indexed(partitionedBy = Seq("k"))).createOrReplaceTempView("parts")
    spark.range(8, 13).toDF("k").createOrReplaceTempView("o")
    Seq(
      "SELECT k, (SELECT count(*) FROM parts p WHERE p.k = o.k) FROM o",
      "SELECT k FROM o WHERE (SELECT count(*) FROM parts p WHERE p.k = o.k) = 0",
      "SELECT s.* FROM o, LATERAL (SELECT k, count(*) c FROM parts WHERE id > 150 GROUP BY k) s WHERE s.k = 3",
      "SELECT s.* FROM o, LATERAL (SELECT count(*) c FROM parts p WHERE id > 150 AND p.k = o.k) s",
      "SELECT * FROM (SELECT k, max(id) FROM parts WHERE id > 150 GROUP BY k) WHERE k > 7",
      "SELECT k FROM o WHERE EXISTS (SELECT 1 FROM parts p WHERE p.k = o.k LIMIT 1)",
      "SELECT k, (SELECT max(id) FROM parts p WHERE p.k = o.k AND id < 450) FROM o"
    ).foreach(assertSame("aggregates"))
  }

  test("a session from which somebody took our strategy gets no answers, and the same rows") {
    val path = indexed()
    val methods = spark.asInstanceOf[classic.SparkSession].experimental
    val before = methods.extraStrategies
    assert(before.contains(SkippingStrategy))
    for (of <- Seq("max(id) FROM t", "id FROM t ORDER BY id LIMIT 3", "count(*) FROM t WHERE id > 450")) {
      def found = {
        table(path).createOrReplaceTempView("t")
        asked(spark.sql(s"SELECT $of"))
      }
      val (rows, _, read) = found
      methods.extraStrategies = Nil
      try assert(found == ((rows, 0, 8L)) && read < 8, of)
      finally methods.extraStrategies = before
    }
  }

  test("EXPLAIN SKIPPING says what is answered, and what is read") {
    val of = s"FROM parquet.`${indexed()}`"
    for ((query, kept, answered) <- Seq((s"count(*) $of", 0, 8), (s"max(id) $of WHERE id > 450", 1, 3))) {
      val Array(row) = spark.sql(s"EXPLAIN SKIPPING SELECT $query").collect(): @unchecked
      assert((row.getAs[Long]("files_total"), row.getAs[Long]("files_kept")) == ((8, kept)), query)
      val last = row.getSeq[Row](row.fieldIndex("conjuncts")).last.getString(2)
      assert(last == s"ANSWERED: the index answers for $answered files")
    }
    val files = spark.sql(s"EXPLAIN SKIPPING FILES SELECT max(id) $of WHERE id > 450").collect().toSeq
    assert(files.size == 8 && files.count(_.getAs[Boolean]("kept")) == 1)
  }

  test("random tables and queries", InRest) {
    val random = new Random(7)
    def one(of: Seq[String]): String = of(random.nextInt(of.size))
    for (round <- 0 until 6) {
      randomTable(round, random).createOrReplaceTempView("r")
      val conditions = Seq(
        "id > {n}", "a < {m}", "a IS NULL", "d >= DATE'2024-02-01'", "f > 0", "even", "s >= 'd'", "p = 1",
        "NOT (id BETWEEN {n} AND {m})", "a IN (1, 2, {m})", "f IS NOT NULL OR a = 3"
      )
      def condition = {
        val parts = Seq.fill(1 + random.nextInt(2))(one(conditions))
        parts.mkString(if (random.nextBoolean()) " AND " else " OR ").replace("{n}", s"${random.nextInt(600)}")
          .replace("{m}", s"${random.nextInt(90)}")
      }
      val functions =
        Seq(s"count_if($condition)", s"min(a) FILTER (WHERE $condition)", "count(d) FILTER (WHERE even)") ++
          Seq("count(*)", "count(a)", "min(a)", "max(d)", "max(f)", "min(even)", "count(f)", "min(id)", "max(p)")
      for (_ <- 0 until 15) {
        val list = Seq.fill(1 + random.nextInt(3))(one(functions))
        val group = if (round % 2 == 1 && random.nextInt(3) == 0) Some("p") else None
        val by = group.fold("")(g => s"GROUP BY $g")
        assertSame("skipping")(s"SELECT ${(group.toSeq ++ list).mkString(", ")} FROM r WHERE $condition $by")
      }
    }
  }
}
