package org.sparkzorder.optimize.keep

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.memory.MemoryTables

/** Files whose pages Spark's vectorized reader may misread. */
class PlainPagesSuite extends AnyFunSuite with MemoryTables {

  override protected def settings: Map[String, String] =
    super.settings ++ Map(
      "spark.zorder.memory.enabled" -> "false",
      "spark.sql.parquet.enableVectorizedReader" -> "true"
    )

  test("values encoded as differences in uncompressed pages of version 2 stay as they are", InRest) {
    for (dictionary <- Seq("false", "true"); legacy <- Seq("true", "false")) {
      val path = new File(dir, s"plain-$dictionary-$legacy").toString
      withSettings("spark.sql.parquet.writeLegacyFormat" -> legacy) {
        spark.sql(
          "SELECT id, concat('key-', id) AS s, cast(concat('k', id) AS BINARY) AS b, cast(id * 7 AS DECIMAL(12, 3)) AS d, " +
            "array(concat('e', id), NULL) AS a FROM range(0, 20000, 1, 4)"
        ).write.options(
          Map("parquet.writer.version" -> "v2", "compression" -> "none", "parquet.enable.dictionary" -> dictionary)
        ).parquet(path)
      }
      def rows = withSettings(
        "spark.sql.parquet.enableVectorizedReader" -> "false",
        "spark.zorder.skipping.enabled" -> "false"
      )(spark.read.parquet(path).selectExpr("id", "s", "hex(b)", "d", "a").collect().map(_.toString).toVector.sorted)
      val before = rows
      spark.sql(s"OPTIMIZE parquet.`$path` FULL ZORDER BY (id) OPTIONS ('num-files' = '3')")
      assert(new File(path).listFiles.count(_.getName.endsWith(".parquet")) == 3)
      assert(rows == before)
    }
  }
}
