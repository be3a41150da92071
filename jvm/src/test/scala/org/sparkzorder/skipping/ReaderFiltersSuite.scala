package org.sparkzorder.skipping

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.MemoryTables

/**
 * A reader of files gets the filters that Spark gives it without this product, and no others. It compares them with
 * statistics that the index may not believe. Each table has eight files: `orders` of 100 ids each, and `lines` of 300
 * rows each.
 */
class ReaderFiltersSuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] = super.settings + ("spark.sql.shuffle.partitions" -> "3")

  /** Whether Spark broadcasts sides of joins. */
  private val Joins = Seq(
    Seq("spark.sql.autoBroadcastJoinThreshold" -> "10485760"),
    Seq("spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1")
  )

  /** The rows of a query, and what the readers of each folder are told. */
  private def asked(query: DataFrame): (Seq[String], Seq[(String, String)]) = {
    val rows = sortedRows(query)
    val pushed = scans(query).map { scan =>
      val filters = scan.metadata("PushedFilters").replaceAll("#\\d+", "").stripPrefix("[").stripSuffix("]")
      scan.relation.location.rootPaths.mkString -> filters.split(", (?=[A-Z])").sorted.mkString(", ")
    }
    (rows, pushed.sorted)
  }

  private def indexed(name: String, format: String, partitionedBy: String*)(query: String): Unit = {
    val rows = spark.sql(query).write.mode("overwrite").partitionBy(partitionedBy: _*)
    table(saved(s"$name-$format", rows, format = format), format).createOrReplaceTempView(name)
  }

  private def tables(format: String): Unit = {
    indexed("orders", format)(
      "SELECT id AS o_id, cast(id AS INT) AS o_small, cast(id / 100 AS INT) AS day, " +
        "cast(id AS DECIMAL(12, 2)) AS o_dec, if(id % 10 = 0, NULL, id) AS o_null FROM range(0, 800, 1, 8)"
    )
    indexed("lines", format)(
      "SELECT cast(id / 3 AS BIGINT) AS l_id, cast(id / 3 AS INT) AS l_small, concat('n', id) AS name, " +
        "cast(cast(id / 3 AS INT) AS DECIMAL(12, 2)) AS l_dec, id % 7 AS part FROM range(0, 2400, 1, 8)"
    )
    indexed("days", format, "p")("SELECT id AS d_id, id % 4 AS p, id % 10 AS k FROM range(0, 800, 1, 2)")
  }

  private val queries = Seq(
    "SELECT * FROM lines JOIN orders ON l_id = o_id WHERE day = 3",
    "SELECT * FROM orders JOIN lines ON l_small = o_id WHERE day IN (1, 6)",
    "SELECT * FROM lines JOIN orders ON l_dec = o_dec AND l_id = o_null WHERE day = 3",
    "SELECT * FROM lines WHERE l_id IN (SELECT o_id FROM orders WHERE day = 3)",
    "SELECT * FROM lines LEFT SEMI JOIN orders ON l_id = o_id AND part > day WHERE l_id < 150",
    "SELECT * FROM (SELECT * FROM orders WHERE day = 3) LEFT JOIN lines ON l_id = o_id",
    "SELECT * FROM (SELECT * FROM orders WHERE day = 3) LEFT ANTI JOIN lines ON l_id = o_id",
    "SELECT * FROM lines RIGHT JOIN (SELECT * FROM orders WHERE day = 3) ON l_id = o_id",
    "SELECT * FROM lines FULL JOIN (SELECT * FROM orders WHERE day = 3) ON l_id = o_id",
    "SELECT * FROM orders WHERE day = 3 AND (EXISTS (SELECT 1 FROM lines WHERE l_id = o_id) OR o_id = 1)",
    "SELECT l_id, n FROM (SELECT l_id, count(*) n FROM lines GROUP BY l_id) JOIN orders ON l_id = o_id WHERE day = 3",
    "SELECT * FROM days JOIN orders ON p = day AND d_id = o_id WHERE o_null < 250",
    "SELECT * FROM days JOIN orders ON d_id = o_id WHERE p = 1 AND day = 2",
    "SELECT * FROM lines WHERE l_id > (SELECT cast(avg(o_id) AS BIGINT) FROM orders WHERE day = 5)",
    "SELECT * FROM lines WHERE upper(name) = 'N77'",
    // Memory knows its files the second time.
    "SELECT * FROM lines WHERE upper(name) = 'N77'",
    "SELECT * FROM orders WHERE o_null IS NULL AND o_dec > 700",
    "SELECT * FROM orders WHERE day = 3 UNION ALL SELECT * FROM orders WHERE o_small IN (4, 500)"
  )

  /** Queries that the index may answer in part. Readers of the files that are left may get fewer filters. */
  private val answered = Seq(
    "SELECT * FROM orders WHERE o_null > 20 ORDER BY o_dec LIMIT 3",
    "SELECT * FROM orders WHERE o_id >= 150 LIMIT 250",
    "SELECT count(*), min(o_id), max(o_dec) FROM orders WHERE o_id >= 150",
    "SELECT p, count(*), max(d_id) FROM days WHERE d_id < 333 GROUP BY p"
  )

  for (format <- Seq("parquet", "orc"))
    test(s"readers of $format get no filter that Spark alone would not give them", InRest) {
      tables(format)
      for ((joins, aqe) <- Joins.zip(Seq("true", "false")))
        withSettings(joins :+ ("spark.sql.adaptive.enabled" -> aqe): _*) {
          for (sql <- queries) {
            val plain = withoutSkipping(asked(spark.sql(sql)))
            val query = spark.sql(sql)
            assert(asked(query) == plain, s"$sql\n${query.queryExecution.executedPlan}")
          }
          for (sql <- answered) {
            def filters = asked(spark.sql(sql))._2.flatMap(_._2.split(", ")).toSet
            assert(filters.subsetOf(withoutSkipping(filters) + ""), sql)
          }
        }
    }

  private val narrow = Seq(
    "SELECT id, n FROM narrow JOIN few ON k = f WHERE n < 25",
    "SELECT id FROM narrow WHERE k IN (SELECT f FROM few WHERE n BETWEEN 30 AND 60)",
    "SELECT n, id FROM (SELECT * FROM few WHERE n < 50) LEFT JOIN narrow ON k = f",
    "SELECT n FROM few LEFT ANTI JOIN (SELECT * FROM narrow WHERE id > 120) ON k = f WHERE n < 50",
    "SELECT id FROM narrow WHERE k <= (SELECT max(f) FROM few WHERE n < 20)"
  )

  test("keys that are narrower than in some files, or of another type, have their partners", InRest) {
    val cases = Seq(("SMALLINT", "INT", "65536 + id % 100"), ("TINYINT", "INT", "256 * 1000 + id % 100")) ++
      Seq(("BIGINT", "INT"), ("DECIMAL(9, 2)", "DECIMAL(5, 2)"), ("DOUBLE", "INT")).map(c => (c._1, c._2, "id % 100"))
    for ((declared, own, value) <- cases) {
      val to = s"$dir/narrow-$declared-$own".replaceAll("[(), ]", "_")
      def write(range: String, key: String, dt: String) =
        spark.sql(s"SELECT cast($key AS $dt) AS k, id FROM $range").write.mode("append").parquet(to)
      write("range(0, 100, 1, 2)", "id % 100", declared)
      // Spark cuts or casts these values.
      write("range(100, 200, 1, 2)", value, own)
      withIndex(to)
      spark.read.schema(s"k $declared, id BIGINT").parquet(to).createOrReplaceTempView("narrow")
      indexed("few", "parquet")(s"SELECT cast(id AS $declared) AS f, id AS n FROM range(0, 100, 1, 4)")
      for (joins <- Joins; sql <- narrow) withSettings(joins: _*) {
        val expected = withoutSkipping(sortedRows(spark.sql(sql)))
        assert(expected.nonEmpty && sortedRows(spark.sql(sql)) == expected, s"$declared, $own: $sql")
      }
    }
  }
}
