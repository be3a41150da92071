package org.sparkzorder.footer.files

import scala.jdk.CollectionConverters._

import org.apache.parquet.format.{FileMetaData, Statistics}
import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.footer.{DataFormat, FileFooter, FooterFixture, NotDataFileException}

/**
 * Footers of writers of the last ten years: the rows are the same, and the footers describe them in
 * other ways. All trusted statistics must hold for the rows.
 */
class OldWritersSuite extends AnyFunSuite with FooterFixture {
  private val parquet = DataFormat.Parquet

  private def rows: DataFrame = spark.range(40).selectExpr(
    "id", "int(id) - 20 as i", "if(id % 7 = 0, null, if(id % 2 = 0, 'a' || id, 'é' || id)) as s",
    "cast(if(id % 2 = 0, 'a' || id, 'ü' || id) as binary) as b", "if(id = 3, double('NaN'), double(id) - 20) as nan",
    "double(id) - 20 as d", "float(id) as f", "cast((id - 20) * 1.25 as decimal(30, 2)) as wide",
    "cast((id - 20) * 1.25 as decimal(9, 2)) as narrow", "date_add(date'2020-01-01', int(id)) as day",
    "if(id < 40, null, id) as nothing", "id % 2 = 0 as even", "named_struct('x', if(id % 5 = 0, null, id)) as st"
  )

  private def statistics(footer: FileMetaData): Seq[(String, Statistics)] = for {
    group <- footer.getRow_groups.asScala.toSeq
    column <- group.getColumns.asScala
  } yield column.getMeta_data.getPath_in_schema.asScala.mkString(".") -> column.getMeta_data.getStatistics

  /** The bounds of before 2017, when strings were in the order of signed bytes. */
  private def deprecated(footer: FileMetaData): Unit = statistics(footer).foreach { case (column, s) =>
    val (min, max) = (s.getMin_value, s.getMax_value)
    s.unsetMin_value()
    s.unsetMax_value()
    s.unsetIs_min_value_exact()
    s.unsetIs_max_value_exact()
    if (Set("s", "b", "wide")(column)) {
      // Values whose first bit is set came first.
      s.setMin(max)
      s.setMax(min)
    } else {
      s.setMin(min)
      s.setMax(max)
    }
  }

  private def check(name: String)(change: FileMetaData => Unit): FileFooter = {
    val frame = rows
    val original = written(frame, parquet, s"original-$name", Map("parquet.block.size" -> "2000"))
    val rewritten = changed(original, name)(change)
    val f = footer(rewritten, parquet, frame.schema)
    withClue(s"$name: ")(assertSound(f, scanned(rewritten, parquet, frame.schema)))
    f
  }

  private val writers = null +: Seq(
    "",
    "parquet-mr",
    "parquet-mr version 1.6.0 (build 6aa21f8776625b5fa6b18059cfebe7549f2e00cb)",
    "parquet-mr version 1.8.1 (build 4aba4dae7bb0d4edbcf7923ae1339f28fd3f7fcf)",
    "parquet-mr version 1.8.2",
    "parquet-mr version 1.10.1 (build a89df8f9932b6ef6633d06069e50c9b7970bebd1)",
    "parquet-mr version 1.17.0 (build 0)",
    "parquet-cpp version 1.0.0",
    "parquet-cpp-arrow version 3.0.0",
    "parquet-cpp-arrow version 21.0.0",
    "impala version 2.2.0-cdh5.4.3 (build 517bb0f71cd604a00369254ac6d88394df83e0f6)",
    "DuckDB version v1.4.0",
    "fastparquet-python version 0.8.1",
    "a name without any sense ((("
  )

  for (writer <- writers) {
    test(s"deprecated bounds by $writer") {
      val f = check(s"deprecated-${writers.indexOf(writer)}") { footer =>
        if (writer == null) footer.unsetCreated_by() else footer.setCreated_by(writer)
        footer.unsetColumn_orders()
        deprecated(footer)
      }
      val schema = rows.schema
      // These bounds are not in the order of the values.
      assert(Seq("s", "b", "wide").forall(c => f.untrusted(key(schema, c)) || !f.stats.contains(key(schema, c))))
    }

    test(s"bounds of today by $writer", InRest) {
      check(s"today-${writers.indexOf(writer)}") { footer =>
        if (writer == null) footer.unsetCreated_by() else footer.setCreated_by(writer)
      }
    }
  }

  private val wrong = Map[String, Statistics => Unit](
    "no counts of nulls" -> (_.unsetNull_count()),
    "counts of nulls of -1" -> (_.setNull_count(-1)),
    "more nulls than values" -> (_.setNull_count(1000)),
    "an upper bound only" -> (_.unsetMin_value()),
    "a lower bound only" -> (_.unsetMax_value()),
    "no bounds" -> { s => s.unsetMin_value(); s.unsetMax_value(); () },
    "bounds exchanged" -> { s =>
      if (s.isSetMin_value) {
        val (min, max) = (s.getMin_value, s.getMax_value)
        s.setMin_value(max)
        s.setMax_value(min)
      }
      ()
    }
  )

  for ((what, change) <- wrong) test(s"statistics with $what") {
    val frame = rows
    val original = written(frame, parquet, s"wrong-$what".replace(' ', '-'))
    val rewritten = changed(original, what.replace(' ', '-'))(statistics(_).foreach(s => change(s._2)))
    val f = footer(rewritten, parquet, frame.schema)
    val truth = scanned(rewritten, parquet, frame.schema)
    if (what.contains("more nulls") || what.contains("-1") || what.contains("no counts")) {
      // Nothing is known of columns that may have nulls.
      assert(Seq("s", "st.x", "nothing").forall(c => !f.stats.contains(key(frame.schema, c.split('.').toSeq: _*))))
    }
    assertSound(f, truth)
  }

  private def empty(s: Statistics): Unit = {
    s.setMin_value(Array.emptyByteArray)
    s.setMax_value(Array.emptyByteArray)
    ()
  }

  test("strings with empty bounds") {
    val frame = rows
    val original = written(frame, parquet, "empty")
    val rewritten =
      changed(original, "empty-bounds")(statistics(_).filter(c => Set("s", "b")(c._1)).foreach(s => empty(s._2)))
    val f = footer(rewritten, parquet, frame.schema)
    assert(f.untrusted(key(frame.schema, "s")) && f.stats.contains(key(frame.schema, "id")))
    assertSound(f, scanned(rewritten, parquet, frame.schema))
  }

  test("Spark cannot read a file with empty bounds of numbers") {
    val original = written(rows, parquet, "empty-numbers")
    val rewritten =
      changed(original, "empty-bounds-of-numbers")(statistics(_).filter(_._1 == "id").foreach(s => empty(s._2)))
    intercept[NotDataFileException](footer(rewritten, parquet, rows.schema))
    intercept[SparkException](spark.read.schema(rows.schema).parquet(rewritten.getPath.toString).collect())
  }

  test("truncated bounds are still bounds") {
    val frame = rows
    val original = written(frame, parquet, "cut")
    val rewritten = changed(original, "cut-short") { footer =>
      statistics(footer).filter(c => Set("s", "b")(c._1)).foreach { case (_, s) =>
        s.setMin_value(s.getMin_value.take(1))
        s.setMax_value(Array[Byte](-1))
        s.setIs_min_value_exact(false)
        s.setIs_max_value_exact(false)
      }
    }
    val f = footer(rewritten, parquet, frame.schema)
    assertSound(f, scanned(rewritten, parquet, frame.schema))
  }

  test("one of several row groups has no statistics") {
    val frame = spark.range(20000).selectExpr("id", "repeat(cast(id as string), 20) as pad")
    val original = written(frame, parquet, "several", Map("parquet.block.size" -> "20000"))
    val rewritten = changed(original, "one-without") { footer =>
      assert(footer.getRow_groups.size > 2)
      footer.getRow_groups.get(1).getColumns.asScala.foreach(_.getMeta_data.unsetStatistics())
    }
    val f = footer(rewritten, parquet, frame.schema)
    assert(f.stats.isEmpty && f.untrusted.size == 2)
  }
}
