package org.sparkzorder.table

import java.io.File

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.LocalSpark
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.Encryption

/** Names with backquotes are quoted as in SQL, so that they can be copied from a message into a statement. */
class QuotedNamesSuite extends AnyFunSuite with LocalSpark {
  private lazy val table: String = {
    val folder = new File(dir, "pa`th")
    spark.range(100).selectExpr("id AS `a``b`", "id % 7 AS `c``d`", "id % 2 AS `p``q`")
      .write.partitionBy("p`q").parquet(folder.toString)
    s"parquet.`${folder.toString.replace("`", "``")}`"
  }

  private def message(statement: String): String = intercept[AnalysisException](spark.sql(statement)).getMessage

  private def reason(condition: String): String = {
    val rows = spark.sql(s"EXPLAIN SKIPPING SELECT * FROM $table WHERE $condition").collect()
    rows.map(_.toString).mkString("\n")
  }

  test("columns are quoted in errors") {
    for (
      (clause, parts) <- Seq(
        "ZORDER BY (`no``pe`)" -> Seq("`no``pe`", "`a``b`, `c``d`"),
        "ZORDER BY (`p``q`)" -> Seq("`p``q`"),
        "WHERE `no``pe` = 1" -> Seq("`no``pe`"),
        "WHERE no.`pe` = 1" -> Seq("`no`.`pe`"),
        "WHERE `a``b` = 1" -> Seq("`a``b`", "`p``q`")
      ); part <- parts
    ) assert(message(s"OPTIMIZE $table $clause").contains(part))
  }

  test("columns are quoted in the reasons of EXPLAIN SKIPPING") {
    spark.sql(s"CREATE SKIPPING INDEX ON $table (`a``b`)").collect()
    assert(reason("bin(`a``b`) = '1'").contains("bin of `a``b`"))
    assert(reason("hash(`p``q`, `a``b`) = 1").contains("hash of `a``b`, `p``q`"))
    assert(reason("`c``d` = 3").contains("no statistics of `c``d`"))
  }

  test("folders are quoted in errors") {
    val root = new File(dir, "em`pty")
    FileUtils.forceMkdir(root)
    assert(message(s"OPTIMIZE parquet.`${root.toString.replace("`", "``")}`").contains("/em``pty`"))
    val mixed = new File(dir, "mi`xed")
    spark.range(3).write.parquet(mixed.toString)
    spark.range(3).write.mode("append").orc(mixed.toString)
    assert(message(s"OPTIMIZE '$mixed'").contains("OPTIMIZE parquet.`" + mixed.toString.replace("`", "``") + "`"))
  }

  test("partition columns are quoted in the WHERE that an error suggests") {
    val folder = s"${table.stripSuffix("`")}/p%60q=1`".replace("%60", "``")
    assert(message(s"OPTIMIZE $folder").contains("WHERE `p``q` = '1'"))
  }

  test("columns of structs and encrypted columns are quoted part by part") {
    assert(ZOrderErrors.excludedColumn(Seq("s", "a`b"), "x").getMessage.contains("`s`.`a``b`"))
    val encrypted = Encryption(footer = false, Set(Seq("s", "a`b")))
    assert(encrypted.beyond(Encryption.none).contains("the column `s`.`a``b`"))
  }
}
