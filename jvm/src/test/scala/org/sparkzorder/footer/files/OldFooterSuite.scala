package org.sparkzorder.footer.files

import java.nio.ByteBuffer

import scala.jdk.CollectionConverters._

import org.apache.parquet.format.{FileMetaData, Statistics}
import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.footer.{DataFormat, FileFooter, FooterFixture, NotDataFileException}
import org.sparkzorder.stats.ColumnKey

/**
 * Footers of writers of the last ten years, made by changing footers of today: the rows are the same, and the footers
 * describe them in other ways. All trusted statistics must hold for the rows.
 */
class OldFooterSuite extends AnyFunSuite with FooterFixture {
  private val parquet = DataFormat.Parquet

  private def rows: DataFrame = spark.range(40).selectExpr(
    "id", "int(id) - 20 as i", "if(id % 7 = 0, null, if(id % 2 = 0, 'a' || id, 'é' || id)) as s",
    "cast(if(id % 2 = 0, 'a' || id, 'ü' || id) as binary) as b", "if(id = 3, double('NaN'), double(id) - 20) as nan",
    "double(id) - 20 as d", "float(id) as f", "cast((id - 20) * 1.25 as decimal(30, 2)) as wide",
    "cast((id - 20) * 1.25 as decimal(9, 2)) as narrow", "date_add(date'2020-01-01', int(id)) as day",
    "if(id < 40, null, id) as nothing", "id % 2 = 0 as even", "named_struct('x', if(id % 5 = 0, null, id)) as st"
  )

  private def statistics(footer: FileMetaData, columns: String => Boolean = _ => true): Seq[(String, Statistics)] =
    for {
      group <- footer.getRow_groups.asScala.toSeq
      column <- group.getColumns.asScala
      name = column.getMeta_data.getPath_in_schema.asScala.mkString(".") if columns(name)
    } yield name -> column.getMeta_data.getStatistics

  private def unset(s: Statistics): Unit = {
    s.unsetMin_value()
    s.unsetMax_value()
  }

  private def set(s: Statistics, min: Array[Byte], max: Array[Byte]): Unit = {
    s.setMin_value(min)
    s.setMax_value(max)
    ()
  }

  /** The bounds of before 2017, when strings were in the order of signed bytes. */
  private def deprecated(footer: FileMetaData): Unit = statistics(footer).foreach { case (column, s) =>
    val (min, max) = (s.getMin_value, s.getMax_value)
    unset(s)
    s.unsetIs_min_value_exact()
    s.unsetIs_max_value_exact()
    // Of strings, values whose first bit is set came first.
    val (first, last) = if (Set("s", "b", "wide")(column)) (max, min) else (min, max)
    s.setMin(first)
    s.setMax(last)
  }

  private def check(name: String, options: (String, String)*)(change: FileMetaData => Unit): FileFooter = {
    val file = name.replace(' ', '-')
    val original = written(rows, parquet, s"original-$file", options.toMap)
    withClue(s"$name: ")(sound(changed(original, file)(change), parquet, rows.schema))
  }

  private val writers = null +: Seq(
    "", "parquet-mr", "parquet-mr version 1.6.0 (build 6aa21f8776625b5fa6b18059cfebe7549f2e00cb)",
    "parquet-mr version 1.8.1 (build 4aba4dae7bb0d4edbcf7923ae1339f28fd3f7fcf)", "parquet-mr version 1.8.2",
    "parquet-mr version 1.10.1 (build a89df8f9932b6ef6633d06069e50c9b7970bebd1)",
    "parquet-mr version 1.17.0 (build 0)", "parquet-cpp version 1.0.0", "parquet-cpp-arrow version 3.0.0",
    "parquet-cpp-arrow version 21.0.0",
    "impala version 2.2.0-cdh5.4.3 (build 517bb0f71cd604a00369254ac6d88394df83e0f6)", "DuckDB version v1.4.0",
    "fastparquet-python version 0.8.1", "a name without any sense ((("
  )

  for (writer <- writers) {
    def checked(name: String)(change: FileMetaData => Unit): FileFooter =
      check(s"$name-${writers.indexOf(writer)}", "parquet.block.size" -> "2000") { footer =>
        if (writer == null) footer.unsetCreated_by() else footer.setCreated_by(writer)
        change(footer)
      }

    test(s"deprecated bounds by $writer") {
      val f = checked("deprecated") { footer =>
        footer.unsetColumn_orders()
        deprecated(footer)
      }
      // These bounds are not in the order of the values.
      assert(Seq("s", "b", "wide").map(key(rows.schema, _)).forall(k => f.untrusted(k) || !f.stats.contains(k)))
    }

    test(s"bounds of today by $writer", InRest) {
      checked("today")(_ => ())
    }
  }

  private val wrong = Map[String, Statistics => Unit](
    "no counts of nulls" -> (_.unsetNull_count()),
    "counts of nulls of -1" -> (_.setNull_count(-1)),
    "more nulls than values" -> (_.setNull_count(1000)),
    "an upper bound only" -> (_.unsetMin_value()),
    "a lower bound only" -> (_.unsetMax_value()),
    "no bounds" -> (unset(_)),
    "bounds exchanged" -> (s => if (s.isSetMin_value) set(s, s.getMax_value, s.getMin_value))
  )

  for ((what, change) <- wrong) test(s"statistics with $what") {
    val f = check(what)(statistics(_).foreach(s => change(s._2)))
    if (what.contains("more nulls") || what.contains("-1") || what.contains("no counts")) {
      // Nothing is known of columns that may have nulls.
      assert(Seq("s", "st.x", "nothing").forall(c => !f.stats.contains(key(rows.schema, c.split('.').toSeq: _*))))
    }
  }

  private def empty(footer: FileMetaData, columns: String*): Unit =
    statistics(footer, columns.contains(_)).foreach(s => set(s._2, Array.emptyByteArray, Array.emptyByteArray))

  test("strings with empty bounds") {
    val f = check("empty bounds")(empty(_, "s", "b"))
    assert(f.untrusted(key(rows.schema, "s")) && f.stats.contains(key(rows.schema, "id")))
  }

  test("Spark cannot read a file with empty bounds of numbers") {
    val rewritten = changed(written(rows, parquet, "empty-numbers"), "empty-bounds-of-numbers")(empty(_, "id"))
    intercept[NotDataFileException](footer(rewritten, parquet, rows.schema))
    intercept[SparkException](spark.read.schema(rows.schema).parquet(rewritten.getPath.toString).collect())
  }

  test("truncated bounds are still bounds") {
    check("cut short")(statistics(_, Set("s", "b")).foreach { case (_, s) =>
      set(s, s.getMin_value.take(1), Array[Byte](-1))
      s.setIs_min_value_exact(false)
      s.setIs_max_value_exact(false)
    })
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

  test("deprecated bounds of strings are in the order of signed bytes, and never used") {
    val today = written(spark.sql("SELECT * FROM VALUES ('a'), ('c\u00e9'), ('cz') AS t(s)"), parquet, "signed")
    val schema = StructType.fromDDL("s string")
    def isUnused(by: Option[String]): Unit = {
      val old = changed(today, "old") { metadata =>
        by.foreach(metadata.setCreated_by)
        metadata.unsetColumn_orders()
        statistics(metadata).foreach { case (_, s) =>
          unset(s)
          s.setMin(ByteBuffer.wrap("a".getBytes))
          s.setMax(ByteBuffer.wrap("cz".getBytes))
        }
      }
      assert(!footer(old, parquet, schema).stats.get(key(schema, "s")).exists(_.hasBounds), by)
    }
    // The writer of today is believed otherwise. With the setting, Spark's own reader uses these bounds for row groups.
    for (by <- Seq(Some("parquet-mr version 1.8.2 (build c6522788629e590a53eb79874b95f6c3ff11f16c)"), None)) {
      withSettings("parquet.strings.signed-min-max.enabled" -> "true")(isUnused(by))
      isUnused(by)
    }
  }

  test("bounds of binary decimals are used only if the writer is known to order them by value") {
    val df = spark.sql("SELECT CAST(id - 5 AS DECIMAL(30, 2)) AS d, id FROM range(10)")
    val status = written(df, parquet, "decimals")
    val (d, id) = (key(df.schema, "d"), key(df.schema, "id"))
    assert(footer(status, parquet, df.schema).stats.keySet == Set(d, id))
    Seq(
      "parquet-mr version 1.9.0 (build 38262e2c80015d0935dad20f8e18f2d6f9fbd03c)" -> Set(d, id),
      "parquet-mr version 1.10.1 (build a89df8f9932b6ef6633d06069e50c9b7970bebd1)" -> Set.empty[ColumnKey],
      "other version 1.0" -> Set(d, id)
    ).foreach { case (by, untrusted) =>
      val f = footer(changed(status, "old")(_.setCreated_by(by)), parquet, df.schema)
      assert(f.untrusted == untrusted && f.stats.keySet == Set(d, id) -- untrusted, by)
    }
  }
}
