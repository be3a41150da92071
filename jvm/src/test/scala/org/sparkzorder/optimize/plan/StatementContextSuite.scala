package org.sparkzorder.optimize.plan

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}
import org.sparkzorder.command.OptimizeCommand
import org.sparkzorder.optimize.options.OptionsOfTable
import org.sparkzorder.scan.AskedFs
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.table.PlainTables

/** Options that count how often they are gone through. */
private final class CountedOptions(options: Seq[(String, String)]) extends Seq[(String, String)] {
  var times = 0
  override def apply(i: Int): (String, String) = options(i)
  override def length: Int = options.length
  override def iterator: Iterator[(String, String)] = {
    times += 1
    options.iterator
  }
}

/** How often a statement asks for what it should know already. */
class StatementContextSuite extends AnyFunSuite with LocalSpark {

  override protected def settings: Map[String, String] =
    super.settings + ("spark.hadoop.fs.asked.impl" -> classOf[AskedFs].getName)

  private def statement(sql: String): OptimizeStatement =
    spark.sessionState.sqlParser.parsePlan(sql).asInstanceOf[OptimizeCommand].statement

  /** How often the side folder is listed while a statement runs. */
  private def looks(sql: String): Int = {
    AskedFs.paths.clear()
    spark.sql(sql).collect()
    AskedFs.paths.asScala.count(_.endsWith("/_zorder"))
  }

  test("the options of a statement are parsed once", InRest) {
    spark.range(100).repartition(8).write.parquet(s"$dir/once")
    val sql = s"OPTIMIZE parquet.`$dir/once` ZORDER BY (id) OPTIONS ('num-files' = '2')"
    val written = statement(sql)
    val table = PlainTables.open(PlainTables.locate(spark, written.target))
    val single = new CountedOptions(written.options)
    OptionsOfTable.merged(table, single)
    assert(single.times > 0)
    for (dryRun <- Seq(true, false)) {
      val counted = new CountedOptions(written.options)
      val rows = OptimizeCommand(written.copy(options = counted, dryRun = dryRun)).run(spark)
      assert(rows.size == 1 && counted.times == single.times)
    }
    assert(spark.read.parquet(s"$dir/once").inputFiles.length == 2)
  }

  test("a dry run lists the side folder five times") {
    spark.range(100).repartition(8).write.parquet(s"$dir/looks")
    assert(looks(s"OPTIMIZE parquet.`asked://$dir/looks` ZORDER BY (id) DRY RUN") == 5)
  }
}
