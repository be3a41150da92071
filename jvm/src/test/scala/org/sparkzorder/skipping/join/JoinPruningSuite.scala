package org.sparkzorder.skipping.join

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.DynamicPruning
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.IndexedTables
import org.sparkzorder.skipping.SkippingErrors

/** Scans that leave out files by the keys of a join. The table has eight files with 100 ids each. */
class JoinPruningSuite extends AnyFunSuite with IndexedTables {

  private def assertReads(folder: String, files: Int)(queries: String*): Unit = queries.foreach { sql =>
    val expected = withoutSkipping(sortedRows(spark.sql(sql)))
    val before = SkippingErrors.total
    val query = spark.sql(sql)
    assert(sortedRows(query) == expected, sql)
    assert(filesOf(query, folder) == files, s"$sql\n${query.queryExecution.executedPlan}")
    assert(SkippingErrors.total == before)
    // Spark cannot evaluate such a filter in a task.
    assert(nodes(query) { case f: FilterExec if f.condition.exists(_.isInstanceOf[DynamicPruning]) => f } == 0)
  }

  private def nodes(query: DataFrame)(of: PartialFunction[SparkPlan, SparkPlan]): Int =
    collectWithSubqueries(query.queryExecution.executedPlan)(of).size

  private def withAndWithoutAqe(work: => Unit): Unit =
    for (aqe <- Seq("true", "false")) withSettings("spark.sql.adaptive.enabled" -> aqe)(work)

  /** The view `t` of such a table, and `d` with keys in its first and its last file, and a null. */
  override protected def indexed(format: String = "parquet", partitionedBy: Seq[String] = Nil): String = {
    val path = super.indexed(format, partitionedBy)
    table(path, format).createOrReplaceTempView("t")
    spark.sql("SELECT * FROM VALUES (5L, 1), (720L, 2), (721L, 3), (5000L, 4), (NULL, 5) AS d(id, w)")
      .createOrReplaceTempView("d")
    path
  }

  test("joins that drop rows without a partner", InRest) {
    for (format <- Seq("parquet", "orc"); codegen <- Seq("true", "false"))
      withSettings("spark.sql.codegen.wholeStage" -> codegen)(withAndWithoutAqe {
        val t = indexed(format)
        assertReads(t, 2)(
          "SELECT t.*, w FROM t JOIN d ON t.id = d.id", "SELECT t.*, w FROM d JOIN t ON t.id = d.id",
          "SELECT * FROM t WHERE id IN (SELECT id FROM d)",
          "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM d WHERE d.id = t.id)",
          "SELECT * FROM t LEFT SEMI JOIN d ON t.id = d.id", "SELECT count(*), sum(k) FROM t JOIN d ON t.id = d.id",
          "SELECT b, count(*) FROM t JOIN d ON t.id = d.id GROUP BY b",
          "SELECT x.id FROM (SELECT id + 1 AS y, id FROM t WHERE k >= 0) x JOIN d ON x.y = d.id + 1",
          // Spark's own plan of a null-safe comparison.
          "SELECT t.*, w FROM t JOIN d ON t.id <=> d.id"
        )
        assertReads(t, 1)(
          "SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE w > 1",
          "SELECT t.*, w FROM t JOIN d ON t.id = d.id AND w + k > 3 WHERE t.id < 300"
        )
        for (w <- Seq(4, 5)) assertReads(t, 0)(s"SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE w = $w")
      })
  }

  test("joins that keep rows without a partner, and sides that are not broadcast", InRest) {
    val t = indexed()
    assertReads(t, 8)(
      "SELECT t.*, w FROM t LEFT JOIN d ON t.id = d.id", "SELECT t.*, w FROM d RIGHT JOIN t ON t.id = d.id",
      "SELECT t.*, w FROM t FULL JOIN d ON t.id = d.id", "SELECT * FROM t LEFT ANTI JOIN d ON t.id = d.id",
      "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.id = t.id)",
      "SELECT * FROM t WHERE id IN (SELECT id FROM d) OR k = 3", "SELECT t.*, w FROM t JOIN d ON t.id > d.id"
    )
    val off = Seq("zorder.joins.enabled", "sql.optimizer.dynamicPartitionPruning.enabled", "sql.exchange.reuse")
    for (setting <- off.map(key => s"spark.$key" -> "false") :+ ("spark.sql.autoBroadcastJoinThreshold" -> "-1"))
      withSettings(setting)(assertReads(t, 8)("SELECT t.*, w FROM t JOIN d ON t.id = d.id"))
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      assertReads(t, 2)("SELECT /*+ BROADCAST(d) */ t.*, w FROM t JOIN d ON t.id = d.id")
    }
  }

  test("several joins of one scan add up, through joins below and with filters", InRest) {
    val t = indexed()
    spark.sql("SELECT id AS b, id + 100 AS v FROM range(0, 3)").createOrReplaceTempView("e")
    withAndWithoutAqe {
      assertReads(t, 3)(
        "SELECT t.*, v FROM t JOIN e ON t.b = e.b",
        "SELECT t.*, v, w FROM t JOIN e ON t.b = e.b LEFT JOIN d ON t.id = d.id"
      )
      assertReads(t, 2)("SELECT t.*, v, w FROM t JOIN d ON t.id = d.id LEFT JOIN e ON t.b = e.b")
      assertReads(t, 1)(
        "SELECT t.*, v, w FROM t JOIN e ON t.b = e.b JOIN d ON t.id = d.id",
        "SELECT t.*, v FROM t JOIN e ON t.b = e.b AND t.id = e.v",
        "SELECT t.*, w FROM t JOIN d ON t.id = d.id WHERE t.id < 500"
      )
      // The rows are shuffled before the second join.
      withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
        val hints = "/*+ BROADCAST(d), MERGE(u) */"
        assertReads(t, 10)(s"SELECT $hints t.*, w FROM t JOIN t u ON t.k = u.id JOIN d ON t.id = d.id")
      }
    }
  }

  test("through unions, aggregates, windows and generators", InRest) {
    val t = indexed()
    assertReads(t, 2)(
      "SELECT * FROM (SELECT id, max(k) FROM t GROUP BY id) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT id + 1 AS y, count(*) FROM t GROUP BY id + 1) x JOIN d ON x.y = d.id + 1",
      "SELECT * FROM (SELECT DISTINCT id FROM t) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT id, sum(k) OVER (PARTITION BY id) AS s FROM t) x JOIN d ON x.id = d.id",
      "SELECT x.id, e FROM (SELECT id, explode(sequence(0, k)) AS e FROM t) x JOIN d ON x.id = d.id"
    )
    assertReads(t, 8)(
      "SELECT * FROM (SELECT max(id) AS id FROM t GROUP BY b) x JOIN d ON x.id = d.id",
      "SELECT * FROM (SELECT id, sum(k) OVER (PARTITION BY k) AS s FROM t) x JOIN d ON x.id = d.id"
    )
    val union = "SELECT id FROM t UNION ALL SELECT k FROM t WHERE id < 50"
    assertReads(t, 3)(s"SELECT * FROM ($union) x JOIN d ON x.id = d.id")
  }

  test("keys of other types", InRest) {
    val rows = spark.range(0, 800, 1, 8).selectExpr(
      "id", "cast(id AS INT) i", "cast(id AS DECIMAL(12, 2)) dec", "if(id = 0, -0.0D, cast(id AS DOUBLE)) f",
      "if(id = 799, float('NaN'), cast(id AS FLOAT)) g", "concat('k', lpad(id, 5, '0')) s",
      "date_add(DATE'2024-01-01', cast(id AS INT)) d", "timestamp_seconds(id * 3600) ts",
      "cast(concat('k', lpad(id, 5, '0')) AS BINARY) bin", "id >= 400 flag"
    )
    val path = saved("typed", rows.write)
    table(path).createOrReplaceTempView("typed")
    def check(files: Int)(keys: String*): Unit = keys.foreach { text =>
      val Array(key, values) = text.split(" = "): @unchecked
      spark.sql(s"SELECT * FROM VALUES $values AS x(v)").createOrReplaceTempView("x")
      assertReads(path, files)(s"SELECT typed.id, cast(v AS STRING) FROM typed JOIN x ON $key = v")
    }
    check(1)(
      "typed.id = (5)", "typed.i = (5L)", "typed.id = (5.5BD), (6.25BD), (7)", "typed.bin = (X'6B3030303035')",
      "typed.d = (DATE'2024-01-03'), (DATE'2030-01-01')", "typed.ts = (TIMESTAMP'1970-01-02 00:00:00')",
      "cast(typed.ts AS DATE) = (DATE'1970-01-03')", "year(typed.d) = (2026)"
    )
    check(2)("typed.dec = (5.00BD), (720BD)", "typed.dec = (5), (720)", "typed.s = ('k00005'), ('k00720'), ('z')")
    check(4)("typed.flag = (true)")
    // Zero and NaN have several forms.
    check(1)("typed.f = (0.0D)", "typed.f = (-0.0D)", "typed.g = (double('NaN'))")
    check(2)("typed.g = (float('NaN')), (1.0F)")
  }

  test("rows that depend on others are not dropped below", InRest) {
    indexed()
    Seq(
      "SELECT id, monotonically_increasing_id() AS m FROM t", "SELECT id, row_number() OVER (ORDER BY id) AS m FROM t",
      "SELECT id, count(*) OVER (PARTITION BY b) AS m FROM t", "SELECT max(id) AS id FROM t GROUP BY k",
      "SELECT id FROM t ORDER BY k, id LIMIT 75",
      "SELECT t.id FROM t FULL JOIN (SELECT id FROM t) u ON t.id = u.id + 1"
    ).foreach { below =>
      def found = sortedRows(spark.sql(s"SELECT * FROM ($below) x JOIN d ON x.id = d.id"))
      assert(found == withoutSkipping(found), below)
    }
    val all = spark.table("t")
    val both = all.join(spark.table("d").select("id"), "id").select("id").union(all.select("id"))
    assert(both.count() == 803)
  }

  test("the plan is not worse than Spark's own", InRest) {
    val t = indexed(partitionedBy = Seq("k"))
    spark.sql("SELECT id AS k FROM range(0, 10) WHERE id < 2").createOrReplaceTempView("parts")
    def exchanges(sql: String) = {
      val query = spark.sql(sql)
      query.collect()
      (nodes(query) { case e: Exchange => e }, nodes(query) { case e: ReusedExchangeExec => e })
    }
    def same(sql: String): Unit = {
      val own = withoutSkipping(exchanges(sql))
      val (ours, reused) = exchanges(sql)
      assert(ours - reused <= own._1 - own._2 && reused >= own._2, s"$sql: $own, now ${(ours, reused)}")
    }
    val counts = "SELECT k, count(*) AS n FROM t JOIN d ON t.id = d.id GROUP BY k"
    same(s"WITH c AS ($counts) SELECT * FROM c UNION ALL SELECT * FROM c")
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      same("SELECT /*+ MERGE(u), BROADCAST(d) */ * FROM t JOIN d ON t.id = d.id JOIN t u ON u.id = t.id")
      val merged = "(SELECT id FROM t) a JOIN (SELECT id FROM t) u ON u.id = a.id"
      same(s"SELECT /*+ MERGE(a, u), BROADCAST(d) */ a.id FROM $merged JOIN d ON a.id = d.id")
    }
    same("SELECT (SELECT max(w) FROM t JOIN d ON t.id = d.id), (SELECT count(*) FROM t JOIN d ON t.id = d.id)")
    // Spark prunes partitions by the one key and we prune files by the other.
    assertReads(t, 4)("SELECT * FROM t JOIN parts ON t.k = parts.k JOIN d ON t.id = d.id")
    def ofJoin = {
      val query = spark.sql("SELECT * FROM t JOIN d ON t.id = d.id")
      jobs(query.collect())
    }
    assert(ofJoin == withoutSkipping(ofJoin))
  }

  test("plans that Spark copies, merges or does not broadcast", InRest) {
    val t = indexed()
    spark.sql("SELECT id AS x, id * 2 AS y FROM range(0, 3)").createOrReplaceTempView("e")
    spark.sql("SELECT id, id + 1 AS w FROM range(0, 30) WHERE id % 7 = 5").write.mode("overwrite").saveAsTable("small")
    withAndWithoutAqe {
      // A CTE that is not put into each place has copies with other ids.
      val cte = "WITH c AS (SELECT t.id, rand() AS r FROM t JOIN d ON t.id = d.id)"
      assertReads(t, 8)(
        s"$cte SELECT count(*) FROM c a JOIN c b ON a.id = b.id",
        "SELECT /*+ MERGE(t) */ t.id FROM t JOIN d ON t.id = d.id"
      )
      assertReads(t, 2)(
        "SELECT t.id FROM t CROSS JOIN d WHERE t.id = d.id",
        "SELECT t.id FROM t JOIN d ON t.id = d.id AND d.w < (SELECT max(y) FROM e)",
        // The side that is broadcast has no index that may leave out files.
        "SELECT /*+ BROADCAST(x) */ * FROM range(20) u JOIN (SELECT t.* FROM t JOIN d ON t.id = d.id) x ON u.id = x.k",
        "SELECT t.id FROM t JOIN d ON t.id = d.id JOIN d c ON t.id = c.id"
      )
      // One file of the query, and two of its subquery.
      val scalar = "(SELECT max(b) - 5 FROM t JOIN d ON t.id = d.id)"
      assertReads(t, 3)(s"SELECT t.id, small.w FROM t JOIN small ON t.id = small.id WHERE w > $scalar")
      // Two subqueries with one scan, of which Spark may make one.
      val joined = "FROM t JOIN d USING (id)"
      assertReads(t, 16)(s"SELECT (SELECT max(w) $joined), (SELECT count(*) $joined)")
    }
    val commands = spark.sql("SHOW TABLES").selectExpr("5L AS id")
    assert(sortedRows(table(t).join(commands, "id")).distinct.size == 1)
    spark.sql("DROP TABLE small")
  }

  test("an equal scan in a subquery") {
    val t = indexed()
    val counts = "SELECT k, count(*) c FROM t GROUP BY k"
    spark.sql("SELECT id AS x FROM range(0, 3)").createOrReplaceTempView("e")
    def exchanges = {
      val of = s"SELECT * FROM ($counts) x JOIN e ON x.k = e.x WHERE x.c > (SELECT avg(c) - 1 FROM ($counts) y)"
      val query = spark.sql(of)
      query.collect()
      (nodes(query) { case e: Exchange => e }, filesOf(query, t))
    }
    assert(exchanges == withoutSkipping(exchanges))
  }

  test("a side with buckets, of which a filter's copy would not be equal", InRest) {
    val t = indexed()
    spark.sql(
      "CREATE TABLE bucketed USING parquet CLUSTERED BY (id) INTO 4 BUCKETS AS SELECT id, id % 7 AS w FROM range(40)"
    )
    try
      withAndWithoutAqe {
        val sql = "SELECT t.b, sum(w) FROM t JOIN bucketed d ON t.id = d.id WHERE d.w = 2 GROUP BY t.b"
        assertReads(t, 8)(sql)
        val query = spark.sql(sql)
        query.collect()
        assert(scans(query).size == 2)
      }
    finally spark.sql("DROP TABLE bucketed")
  }

  test("many keys, and keys of a wider type", InRest) {
    val rows = spark.range(0, 1000000, 1, 20).selectExpr("id", "cast(id AS INT) AS i")
    val path = saved("many", rows.write)
    table(path).createOrReplaceTempView("many")
    def check(files: Int)(keys: String, on: String*): Unit = on.foreach { column =>
      assertReads(path, files)(s"SELECT count(*), sum(many.id) FROM many JOIN ($keys) d ON many.$column = v")
    }
    // Between the keys of two files are others.
    check(2)("SELECT id AS v FROM range(0, 150) UNION ALL SELECT 5000000000L UNION ALL SELECT 999999L", "id", "i")
    check(20)("SELECT if(id = 0, 999999L, id) AS v FROM range(0, 210000)", "id")
    check(5)("SELECT id AS v FROM range(0, 210000)", "id", "i")
  }

  test("the plan, EXPLAIN SKIPPING and its ANALYZE tell of joins") {
    indexed()
    val join = "SELECT t.*, w FROM t JOIN d ON t.id = d.id"
    val query = spark.sql(join)
    query.collect()
    assert(query.queryExecution.executedPlan.toString.contains("Joins: 2 of 8 files (t.id IN (keys of a join): 2)"))
    def why(sql: String) = spark.sql(s"EXPLAIN SKIPPING $sql").collect().mkString
    val reasons = Seq(
      join -> "JOIN: files are left out when the query runs",
      "SELECT * FROM t LEFT JOIN d ON t.id = d.id" ->
        "t.id IN (keys of a join),null,JOIN: rows without a partner stay in a LEFT OUTER join",
      "SELECT /*+ MERGE(d) */ * FROM t JOIN d ON t.id = d.id" -> "Spark does not broadcast the other side, of about",
      "SELECT * FROM t JOIN d ON reverse(t.name) = d.w" -> "JOIN: the index has no bounds for this key"
    )
    for ((sql, reason) <- reasons) assert(why(sql).contains(reason), sql)
    val twice = "SELECT a.id FROM t a JOIN t b ON a.k = b.id JOIN d ON a.id = d.id"
    assert(!why(s"SELECT id FROM ($twice)").contains("stay in"))
    val analyzed = spark.sql(s"EXPLAIN SKIPPING ANALYZE $join").collect()
    assert(analyzed.mkString.contains("id IN (keys of a join),2,"), analyzed.mkString)
    assert(analyzed.head.getAs[Long]("files_kept") == 2)
    // A broadcast table of files has one row.
    table(folder()).createOrReplaceTempView("files")
    val explained = spark.sql("EXPLAIN SKIPPING SELECT t.* FROM t JOIN files ON t.id = files.id WHERE files.k = 3")
    assert(explained.collect().map(_.getAs[String]("relation")).distinct.length == 2)
    assert(explained.count() == 2)
  }
}
