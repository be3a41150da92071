package org.sparkzorder.skipping

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.IndexedTables

/** Conditions with scalar subqueries, whose values are known when the query runs. */
class LaterFiltersSuite extends AnyFunSuite with IndexedTables {

  test("files are left out by the values of scalar subqueries", InRest) {
    for (format <- Seq("parquet", "orc"); aqe <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> aqe, "spark.sql.codegen.wholeStage" -> codegen) {
        table(indexed(format), format).createOrReplaceTempView("t")
        spark.range(40, 60).createOrReplaceTempView("other")
        def assertReads(files: Int)(query: String): Unit = {
          val (found, expected) = withAndWithout("skipping")(run(spark.sql(query)))
          assert(found == ((expected._1, files.toLong)), query)
        }
        assertReads(1)("SELECT * FROM t WHERE id = (SELECT max(id) FROM other)")
        assertReads(1)("SELECT * FROM t WHERE id > (SELECT max(id) + 650 FROM other)")
        assertReads(1)("SELECT * FROM t WHERE id > 500 AND id < (SELECT min(id) + 500 FROM other) AND b >= 0")
        // Spark's filters for ORC fail on a null.
        if (format == "parquet")
          assertReads(0)("SELECT * FROM t WHERE id = (SELECT max(id) FROM other WHERE id > 100)")
        assertReads(8)("SELECT * FROM t WHERE k = (SELECT max(id) - 55 FROM other)")
        assertReads(1)("SELECT * FROM t WHERE id IN (SELECT id FROM other)")
        assertReads(2)("SELECT count(*) FROM t WHERE id BETWEEN (SELECT 150) AND (SELECT max(id) + 200 FROM other)")
      }
  }
}
