package org.sparkzorder.command

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** Another session renames or drops a table as soon as the catalog names its new folder, and the history says so. */
class RenamedSuite extends AnyFunSuite with LocalSpark {
  override protected def settings: Map[String, String] = super.settings + OtherDisk.setting

  private def after(change: => Unit)(statement: String): Array[Row] = {
    @volatile var changes = 0
    // The record of an operation under way goes last.
    OtherDisk.deleted = path =>
      if (path.getName.endsWith(".moving")) {
        changes += 1
        change
      }
    try spark.sql(statement).collect()
    finally {
      OtherDisk.deleted = _ => ()
      assert(changes == 1, statement)
    }
  }

  private def rows(name: String): Seq[Any] = spark.sql(s"SELECT count(DISTINCT id), count(*) FROM $name").head().toSeq

  for (isCached <- Seq(false, true))
    test(s"a statement succeeds although the table has another name at its end, cached: $isCached", InRest) {
      val (one, other) = (s"one_$isCached", s"other_$isCached")
      val catalog = spark.sharedState.externalCatalog.unwrapped
      spark.range(0, 400, 1, 4).selectExpr("id", "id % 7 AS a").write.parquet(s"other:$dir/$one")
      spark.sql(s"CREATE TABLE $one (id LONG, a LONG) USING parquet LOCATION 'other:$dir/$one'")
      if (isCached) spark.sql(s"CACHE TABLE $one")
      val optimize = s"OPTIMIZE $one FULL ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '2')"
      val done = after(catalog.renameTable("default", one, other))(optimize)
      assert(done.head.getAs[Row]("metrics").getAs[Long]("numFilesAdded") == 2)
      assert(rows(other) == Seq(400, 400))
      val back = after(catalog.renameTable("default", other, one))(s"RESTORE $other TO VERSION AS OF 0")
      assert(back.head.getAs[Long]("num_restored_files") == 4)
      assert(rows(one) == Seq(400, 400))
      after(catalog.dropTable("default", one, ignoreIfNotExists = false, purge = false))(optimize)
    }
}
