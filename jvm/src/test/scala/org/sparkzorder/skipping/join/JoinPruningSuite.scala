package org.sparkzorder.skipping.join

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.DynamicPruning
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.IndexedTables
import org.sparkzorder.skipping.SkippingErrors

/** Scans that leave out files by the keys of a join. The table has eight files with 100 ids each. */
class JoinPruningSuite extends AnyFunSuite with IndexedTables {

  private val Off = "spark.zorder.skipping.enabled" -> "false"

  /** The files that the scans of the folder read. */
  private def filesOf(query: DataFrame, folder: String): Long =
    scans(query).filter(_.relation.location.rootPaths.exists(_.toString.endsWith(folder)))
      .map(_.metrics("numFiles").value).sum

  private def rows(query: DataFrame): Seq[String] = query.collect().map(_.toString).toVector.sorted

  private def assertReads(folder: String, files: Int)(sql: String): Unit = {
    val expected = withSettings(Off)(rows(spark.sql(sql)))
    val before = SkippingErrors.total
    val query = spark.sql(sql)
    assert(rows(query) == expected, sql)
    assert(filesOf(query, folder) == files, s"$sql\n${query.queryExecution.executedPlan}")
    assert(SkippingErrors.total == before)
    // Spark cannot evaluate such a filter in a task.
    assert(collectWithSubqueries(query.queryExecution.executedPlan) {
      case f: FilterExec if f.condition.exists(_.isInstanceOf[DynamicPruning]) => f
    }.isEmpty)
  }

  override protected def indexed(format: String = "parquet", partitionedBy: Seq[String] = Nil): String = {
    val path = super.indexed(format, partitionedBy)
    table(path, format).createOrReplaceTempView("t")
    path
  }

  /** Keys in the first and the last file, and a null. */
  private def keys(): Unit =
    spark.sql("SELECT * FROM VALUES (5L, 1), (720L, 2), (721L, 3), (5000L, 4), (NULL, 5) AS d(id, w)")
      .createOrReplaceTempView("d")

  test("joins that drop rows without a partner", InRest) {
    for (format <- Seq("parquet", "orc"); aqe <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> aqe, "spark.sql.codegen.wholeStage" -> codegen) {
        val t = indexed(format)
        keys()
        assertReads(t, 2)("SELECT t.*, w FROM t JOIN d ON t.id = d.id")
        assertReads(t, 2)("SELECT t.*, w FROM d JOIN t ON t.id = d.id")
        assertReads(t, 1)("SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE w > 1")
        assertReads(t, 1)("SELECT t.*, w FROM t JOIN d ON t.id = d.id AND w + k > 3 WHERE t.id < 300")
        assertReads(t, 0)("SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE w = 4")
        assertReads(t, 0)("SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE w = 5")
        assertReads(t, 2)("SELECT * FROM t WHERE id IN (SELECT id FROM d)")
        assertReads(t, 2)("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM d WHERE d.id = t.id)")
        assertReads(t, 2)("SELECT * FROM t LEFT SEMI JOIN d ON t.id = d.id")
        assertReads(t, 2)("SELECT count(*), sum(k) FROM t JOIN d ON t.id = d.id")
        assertReads(t, 2)("SELECT b, count(*) FROM t JOIN d ON t.id = d.id GROUP BY b")
        assertReads(t, 2)("SELECT x.id FROM (SELECT id + 1 AS y, id FROM t WHERE k >= 0) x JOIN d ON x.y = d.id + 1")
        // Spark's own plan of a null-safe comparison.
        assertReads(t, 2)("SELECT t.*, w FROM t JOIN d ON t.id <=> d.id")
      }
  }

  test("joins that keep rows without a partner, and sides that are not broadcast", InRest) {
    val t = indexed()
    keys()
    assertReads(t, 8)("SELECT t.*, w FROM t LEFT JOIN d ON t.id = d.id")
    assertReads(t, 8)("SELECT t.*, w FROM d RIGHT JOIN t ON t.id = d.id")
    assertReads(t, 8)("SELECT t.*, w FROM t FULL JOIN d ON t.id = d.id")
    assertReads(t, 8)("SELECT * FROM t LEFT ANTI JOIN d ON t.id = d.id")
    assertReads(t, 8)("SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.id = t.id)")
    assertReads(t, 8)("SELECT * FROM t WHERE id IN (SELECT id FROM d) OR k = 3")
    assertReads(t, 8)("SELECT t.*, w FROM t JOIN d ON t.id > d.id")
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      assertReads(t, 8)("SELECT t.*, w FROM t JOIN d ON t.id = d.id")
      assertReads(t, 2)("SELECT /*+ BROADCAST(d) */ t.*, w FROM t JOIN d ON t.id = d.id")
    }
    withSettings("spark.zorder.joins.enabled" -> "false")(assertReads(t, 8)("SELECT w FROM t JOIN d ON t.id = d.id"))
    for (off <- Seq("spark.sql.optimizer.dynamicPartitionPruning.enabled", "spark.sql.exchange.reuse"))
      withSettings(off -> "false")(assertReads(t, 8)("SELECT w FROM t JOIN d ON t.id = d.id"))
  }

  test("several joins of one scan add up, through joins below and with filters", InRest) {
    val t = indexed()
    keys()
    spark.sql("SELECT id AS b, id + 100 AS v FROM range(0, 3)").createOrReplaceTempView("e")
    for (aqe <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> aqe) {
        assertReads(t, 3)("SELECT t.*, v FROM t JOIN e ON t.b = e.b")
        assertReads(t, 1)("SELECT t.*, v, w FROM t JOIN e ON t.b = e.b JOIN d ON t.id = d.id")
        assertReads(t, 3)("SELECT t.*, v, w FROM t JOIN e ON t.b = e.b LEFT JOIN d ON t.id = d.id")
        assertReads(t, 2)("SELECT t.*, v, w FROM t JOIN d ON t.id = d.id LEFT JOIN e ON t.b = e.b")
        assertReads(t, 1)("SELECT t.*, v FROM t JOIN e ON t.b = e.b AND t.id = e.v")
        assertReads(t, 1)("SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE t.id < 500")
        // The rows are shuffled before the second join.
        withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
          val merged = "SELECT /*+ BROADCAST(d), MERGE(u) */ t.*, w FROM t JOIN t u ON t.k = u.id JOIN d ON t.id = d.id"
          assertReads(t, 10)(merged)
        }
      }
  }

  test("through unions, aggregates, windows and generators", InRest) {
    val t = indexed()
    keys()
    assertReads(t, 2)("SELECT * FROM (SELECT id, max(k) FROM t GROUP BY id) x JOIN d ON x.id = d.id")
    assertReads(t, 2)("SELECT * FROM (SELECT id + 1 AS y, count(*) FROM t GROUP BY id + 1) x JOIN d ON x.y = d.id + 1")
    assertReads(t, 2)("SELECT * FROM (SELECT DISTINCT id FROM t) x JOIN d ON x.id = d.id")
    assertReads(t, 8)("SELECT * FROM (SELECT max(id) AS id FROM t GROUP BY b) x JOIN d ON x.id = d.id")
    assertReads(t, 2)("SELECT * FROM (SELECT id, sum(k) OVER (PARTITION BY id) AS s FROM t) x JOIN d ON x.id = d.id")
    assertReads(t, 8)("SELECT * FROM (SELECT id, sum(k) OVER (PARTITION BY k) AS s FROM t) x JOIN d ON x.id = d.id")
    assertReads(t, 2)("SELECT x.id, e FROM (SELECT id, explode(sequence(0, k)) AS e FROM t) x JOIN d ON x.id = d.id")
    assertReads(
      t,
      3
    )("SELECT * FROM (SELECT id FROM t UNION ALL SELECT k FROM t WHERE id < 50) x JOIN d ON x.id = d.id")
  }

  test("keys of other types", InRest) {
    val path = new java.io.File(dir, "typed").toString
    spark.sql(
      """SELECT id, cast(id AS INT) i, cast(id AS DECIMAL(12, 2)) dec, if(id = 0, -0.0D, cast(id AS DOUBLE)) f,
        |  if(id = 799, 'NaN', cast(id AS FLOAT)) g, concat('k', lpad(id, 5, '0')) s, date_add(DATE'2024-01-01', cast(id AS INT)) d,
        |  timestamp_seconds(id * 3600) ts, cast(concat('k', lpad(id, 5, '0')) AS BINARY) bin, id >= 400 flag
        |FROM range(0, 800, 1, 8)""".stripMargin.replace("'NaN'", "float('NaN')")
    ).write.parquet(path)
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$path`")
    table(path).createOrReplaceTempView("typed")
    def dim(values: String): Unit = spark.sql(s"SELECT * FROM VALUES $values AS x(v)").createOrReplaceTempView("x")
    def check(files: Int)(values: String, condition: String): Unit = {
      dim(values)
      assertReads(path, files)(s"SELECT typed.id, cast(v AS STRING) FROM typed JOIN x ON $condition")
    }
    check(1)("(5)", "typed.id = v")
    check(1)("(5L)", "typed.i = v")
    check(1)("(5.5BD), (6.25BD), (7)", "typed.id = v")
    check(2)("(5.00BD), (720BD)", "typed.dec = v")
    check(2)("(5), (720)", "typed.dec = v")
    check(2)("('k00005'), ('k00720'), ('z')", "typed.s = v")
    check(1)("(X'6B3030303035')", "typed.bin = v")
    check(1)("(DATE'2024-01-03'), (DATE'2030-01-01')", "typed.d = v")
    check(1)("(TIMESTAMP'1970-01-02 00:00:00')", "typed.ts = v")
    check(1)("(DATE'1970-01-03')", "cast(typed.ts AS DATE) = v")
    check(4)("(true)", "typed.flag = v")
    check(1)("(2026)", "year(typed.d) = v")
    // Zero and NaN have several forms.
    check(1)("(0.0D)", "typed.f = v")
    check(1)("(-0.0D)", "typed.f = v")
    check(1)("(double('NaN'))", "typed.g = v")
    check(2)("(float('NaN')), (1.0F)", "typed.g = v")
  }

  test("rows that depend on others are not dropped below", InRest) {
    indexed()
    keys()
    Seq(
      "SELECT * FROM (SELECT id, monotonically_increasing_id() AS m FROM t) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS m FROM t) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT id, count(*) OVER (PARTITION BY b) AS m FROM t) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT max(id) AS id FROM t GROUP BY k) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT id FROM t ORDER BY k, id LIMIT 75) x JOIN d ON x.id = d.id",
      "SELECT x.id FROM (SELECT t.id FROM t FULL JOIN (SELECT id FROM t) u ON t.id = u.id + 1) x JOIN d ON x.id = d.id"
    ).foreach { sql =>
      val expected = withSettings(Off)(rows(spark.sql(sql)))
      assert(rows(spark.sql(sql)) == expected, sql)
    }
    val all = spark.table("t")
    val both = all.join(spark.table("d").select("id"), "id").select("id").union(all.select("id"))
    assert(both.count() == 803)
  }

  test("the plan is not worse than Spark's own", InRest) {
    val t = indexed(partitionedBy = Seq("k"))
    keys()
    spark.sql("SELECT id AS k FROM range(0, 10) WHERE id < 2").createOrReplaceTempView("parts")
    def exchanges(sql: String) = {
      val query = spark.sql(sql)
      query.collect()
      val plan = query.queryExecution.executedPlan
      def count[T](of: PartialFunction[org.apache.spark.sql.execution.SparkPlan, T]) =
        collectWithSubqueries(plan)(of).size
      (count { case e: Exchange => e }, count { case e: ReusedExchangeExec => e })
    }
    def same(sql: String): Unit = {
      val own = withSettings(Off)(exchanges(sql))
      val (ours, reused) = exchanges(sql)
      assert(ours - reused <= own._1 - own._2 && reused >= own._2, s"$sql: $own, now ${(ours, reused)}")
    }
    val cte =
      "WITH c AS (SELECT k, count(*) AS n FROM t JOIN d ON t.id = d.id GROUP BY k) SELECT * FROM c UNION ALL SELECT * FROM c"
    same(cte)
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      same("SELECT /*+ MERGE(u), BROADCAST(d) */ * FROM t JOIN d ON t.id = d.id JOIN t u ON u.id = t.id")
      same(
        "SELECT /*+ MERGE(a, u), BROADCAST(d) */ a.id FROM (SELECT id FROM t) a JOIN (SELECT id FROM t) u ON u.id = a.id JOIN d ON a.id = d.id"
      )
    }
    same("SELECT (SELECT max(w) FROM t JOIN d ON t.id = d.id), (SELECT count(*) FROM t JOIN d ON t.id = d.id)")
    // Spark prunes partitions by the one key and we prune files by the other.
    assertReads(t, 4)("SELECT * FROM t JOIN parts ON t.k = parts.k JOIN d ON t.id = d.id")
    def ofJoin = {
      val query = spark.sql("SELECT * FROM t JOIN d ON t.id = d.id")
      jobs(query.collect())
    }
    assert(ofJoin == withSettings(Off)(ofJoin))
  }

  test("plans that Spark copies, merges or does not broadcast", InRest) {
    val t = indexed()
    keys()
    spark.sql("SELECT id AS x, id * 2 AS y FROM range(0, 3)").createOrReplaceTempView("e")
    spark.sql("SELECT id, id + 1 AS w FROM range(0, 30) WHERE id % 7 = 5").write.mode("overwrite").saveAsTable("small")
    for (aqe <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> aqe) {
        // A CTE that is not put into each place has copies with other ids.
        assertReads(t, 8)(
          "WITH c AS (SELECT t.id, rand() AS r FROM t JOIN d ON t.id = d.id) SELECT count(*) FROM c a JOIN c b ON a.id = b.id"
        )
        assertReads(t, 2)("SELECT t.id FROM t CROSS JOIN d WHERE t.id = d.id")
        assertReads(t, 2)("SELECT t.id FROM t JOIN d ON t.id = d.id AND d.w < (SELECT max(y) FROM e)")
        // One file of the query, and two of its subquery.
        assertReads(t, 3)(
          "SELECT t.id, small.w FROM t JOIN small ON t.id = small.id WHERE w > (SELECT max(b) - 5 FROM t JOIN d ON t.id = d.id)"
        )
        // Two subqueries with one scan, of which Spark may make one.
        assertReads(
          t,
          16
        )("SELECT (SELECT max(w) FROM t JOIN d USING (id)), (SELECT count(*) FROM t JOIN d USING (id))")
        // The side that is broadcast has no index that may leave out files.
        assertReads(t, 2)(
          "SELECT /*+ BROADCAST(x) */ * FROM range(20) u JOIN (SELECT t.* FROM t JOIN d ON t.id = d.id) x ON u.id = x.k"
        )
        assertReads(t, 8)("SELECT /*+ MERGE(t) */ t.id FROM t JOIN d ON t.id = d.id")
        assertReads(t, 2)("SELECT t.id FROM t JOIN d ON t.id = d.id JOIN d c ON t.id = c.id")
      }
    val commands = spark.sql("SHOW TABLES").selectExpr("5L AS id")
    assert(rows(table(t).join(commands, "id")).distinct.size == 1)
    spark.sql("DROP TABLE small")
  }

  test("an equal scan in a subquery") {
    val t = indexed()
    keys()
    val sql = "SELECT * FROM (SELECT k, count(*) c FROM t GROUP BY k) x JOIN e ON x.k = e.x " +
      "WHERE x.c > (SELECT avg(c) - 1 FROM (SELECT k, count(*) c FROM t GROUP BY k) y)"
    spark.sql("SELECT id AS x FROM range(0, 3)").createOrReplaceTempView("e")
    def exchanges = {
      val query = spark.sql(sql)
      query.collect()
      val all = collectWithSubqueries(query.queryExecution.executedPlan) {
        case e: Exchange => e
      }
      (all.size, filesOf(query, t))
    }
    assert(exchanges == withSettings(Off)(exchanges))
  }

  test("a side with buckets, of which a filter's copy would not be equal", InRest) {
    val t = indexed()
    spark.sql(
      "CREATE TABLE bucketed USING parquet CLUSTERED BY (id) INTO 4 BUCKETS AS SELECT id, id % 7 AS w FROM range(40)"
    )
    try
      for (aqe <- Seq("true", "false"))
        withSettings("spark.sql.adaptive.enabled" -> aqe) {
          val sql = "SELECT t.b, sum(w) FROM t JOIN bucketed d ON t.id = d.id WHERE d.w = 2 GROUP BY t.b"
          assertReads(t, 8)(sql)
          def scansOf(q: DataFrame) = { q.collect(); scans(q).size }
          assert(scansOf(spark.sql(sql)) == 2)
        }
    finally spark.sql("DROP TABLE bucketed")
  }

  test("many keys, and keys of a wider type", InRest) {
    val path = new java.io.File(dir, "many").toString
    spark.range(0, 1000000, 1, 20).selectExpr("id", "cast(id AS INT) AS i").write.parquet(path)
    spark.sql(s"CREATE SKIPPING INDEX ON parquet.`$path`")
    table(path).createOrReplaceTempView("many")
    def check(files: Int)(keys: String, on: String): Unit =
      assertReads(path, files)(s"SELECT count(*), sum(many.id) FROM many JOIN ($keys) d ON $on")
    // Between the keys of two files are others.
    val far = "SELECT id AS v FROM range(0, 150) UNION ALL SELECT 5000000000L UNION ALL SELECT 999999L"
    check(2)(far, "many.id = v")
    check(2)(far, "many.i = v")
    check(20)("SELECT if(id = 0, 999999L, id) AS v FROM range(0, 210000)", "many.id = v")
    check(5)("SELECT id AS v FROM range(0, 210000)", "many.id = v")
    check(5)("SELECT id AS v FROM range(0, 210000)", "many.i = v")
  }

  test("the plan, EXPLAIN SKIPPING and its ANALYZE tell of joins") {
    indexed()
    keys()
    val query = spark.sql("SELECT t.*, w FROM t JOIN d ON t.id = d.id")
    query.collect()
    assert(query.queryExecution.executedPlan.toString.contains("Joins: 2 of 8 files (t.id IN (keys of a join): 2)"))
    val explained = spark.sql("EXPLAIN SKIPPING SELECT t.*, w FROM t JOIN d ON t.id = d.id").collect().mkString
    assert(explained.contains("JOIN: files are left out when the query runs"), explained)
    def why(sql: String) = spark.sql(s"EXPLAIN SKIPPING $sql").collect().mkString
    assert(why("SELECT * FROM t LEFT JOIN d ON t.id = d.id").contains(
      "t.id IN (keys of a join),null,JOIN: rows without a partner stay in a LEFT OUTER join"
    ))
    assert(why(
      "SELECT /*+ MERGE(d) */ * FROM t JOIN d ON t.id = d.id"
    ).contains("Spark does not broadcast the other side, of about"))
    assert(
      why("SELECT * FROM t JOIN d ON reverse(t.name) = d.w").contains("JOIN: the index has no bounds for this key")
    )
    val twice = "SELECT a.id FROM t a JOIN t b ON a.k = b.id JOIN d ON a.id = d.id"
    assert(!why(s"SELECT id FROM ($twice)").contains("stay in"))
    val analyzed = spark.sql("EXPLAIN SKIPPING ANALYZE SELECT t.*, w FROM t JOIN d ON t.id = d.id").collect()
    assert(analyzed.mkString.contains("id IN (keys of a join),2,"), analyzed.mkString)
    assert(analyzed.head.getAs[Long]("files_kept") == 2)
  }

  test("EXPLAIN SKIPPING tells of a broadcast table of files once") {
    indexed()
    val other = folder("parquet", Nil)
    table(other, "parquet").createOrReplaceTempView("files")
    val explained = spark.sql("EXPLAIN SKIPPING SELECT t.* FROM t JOIN files ON t.id = files.id WHERE files.k = 3")
    assert(explained.collect().map(_.getAs[String]("relation")).distinct.length == 2)
    assert(explained.count() == 2)
  }
}
