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
  private def quoted(folder: File): String = s"parquet.`${folder.toString.replace("`", "``")}`"

  private lazy val table: String = {
    val folder = new File(dir, "pa`th")
    spark.range(100).selectExpr("id AS `a``b`", "id % 7 AS `c``d`", "id % 2 AS `p``q`")
      .write.partitionBy("p`q").parquet(folder.toString)
    quoted(folder)
  }

  private def message(statement: String): String = intercept[AnalysisException](spark.sql(statement)).getMessage

  private def reason(condition: String): String =
    spark.sql(s"EXPLAIN SKIPPING SELECT * FROM $table WHERE $condition").collect().map(_.toString).mkString("\n")

  test("columns are quoted in the reasons of EXPLAIN SKIPPING") {
    spark.sql(s"CREATE SKIPPING INDEX ON $table (`a``b`)").collect()
    assert(reason("bin(`a``b`) = '1'").contains("bin of `a``b`"))
    assert(reason("hash(`p``q`, `a``b`) = 1").contains("hash of `a``b`, `p``q`"))
    assert(reason("`c``d` = 3").contains("no statistics of `c``d`"))
  }

  test("columns and folders are quoted in errors, and those of structs part by part") {
    val (empty, mixed) = (new File(dir, "em`pty"), new File(dir, "mi`xed"))
    FileUtils.forceMkdir(empty)
    spark.range(3).write.parquet(mixed.toString)
    spark.range(3).write.mode("append").orc(mixed.toString)
    val refused = Seq(
      s"$table ZORDER BY (`no``pe`)" -> Seq("`no``pe`", "`a``b`, `c``d`"),
      s"$table ZORDER BY (`p``q`)" -> Seq("`p``q`"),
      s"$table WHERE `no``pe` = 1" -> Seq("`no``pe`"),
      s"$table WHERE no.`pe` = 1" -> Seq("`no`.`pe`"),
      s"$table WHERE `a``b` = 1" -> Seq("`a``b`", "`p``q`"),
      s"${table.stripSuffix("`")}/p``q=1`" -> Seq("WHERE `p``q` = '1'"),
      quoted(empty) -> Seq("/em``pty`"),
      s"'$mixed'" -> Seq(s"OPTIMIZE ${quoted(mixed)}")
    )
    for ((words, parts) <- refused; part <- parts) assert(message(s"OPTIMIZE $words").contains(part))
    assert(ZOrderErrors.excludedColumn(Seq("s", "a`b"), "x").getMessage.contains("`s`.`a``b`"))
    val encrypted = Encryption(footer = false, Set(Seq("s", "a`b")))
    assert(encrypted.beyond(Encryption.none).contains("the column `s`.`a``b`"))
  }
}
