package org.sparkzorder.footer.files

import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.orc.{OrcFile, TypeDescription}
import org.apache.parquet.format.{FileMetaData, Statistics}
import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.footer._
import org.sparkzorder.stats.{ColumnKey, ColumnStats, IndexableColumns}

/**
 * Footers of ORC files, and of Parquet writers of the last ten years. These are made by changing footers of today: the
 * rows are the same, and the footers describe them in other ways. All trusted statistics must hold for the rows.
 */
class OtherFootersSuite extends AnyFunSuite with FooterFixture {
  private val (parquet, orc) = (DataFormat.Parquet, DataFormat.Orc)

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
    "more nulls than values" -> (_.setNull_count(1000)),
    "an upper bound only" -> (_.unsetMin_value()),
    "a lower bound only" -> (_.unsetMax_value()),
    "no bounds" -> (unset(_)),
    "bounds exchanged" -> (s => if (s.isSetMin_value) set(s, s.getMax_value, s.getMin_value))
  )

  for ((what, change) <- wrong) test(s"statistics with $what") {
    val f = check(what)(statistics(_).foreach(s => change(s._2)))
    if (what.contains("nulls")) Seq("s", "nothing").foreach(c => assert(!f.stats.contains(key(rows.schema, c)), c))
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

  test("statistics of columns of every type hold for the rows") {
    val df = Samples.all(spark)
    val f = sound(written(df, orc, "all"), orc, df.schema)
    assert(f.unreadable.isEmpty && f.schema.catalogString == df.schema.catalogString && f.codec.contains("zstd"))
    val trusted = Seq("bool", "i8", "i16", "i32", "i64", "d", "ntz", "str", "str2", "dti", "ymi", "nothing")
    assert(trusted.map(key(df.schema, _)).filterNot(f.stats.contains).isEmpty)
    assert(Set("f32", "f64", "ancient", "dec7", "dec38", "bin").map(key(df.schema, _)).subsetOf(f.untrusted))
    assert(f.stats.contains(key(df.schema, "s", "x")) && f.stats.contains(key(df.schema, "s", "in", "y")))
    // ORC stores instants as wall clock, so only their null counts hold.
    Seq("ts", "ancient_ts").map(key(df.schema, _)).foreach { ts =>
      assert(f.stats(ts) == ColumnStats(null, null, 15, 0) && f.sessionBound(ts) == SessionBound.ButForNulls)
    }
  }

  test("bounds of long strings, which the writer cuts, and of invalid UTF-8 are not trusted") {
    val df = spark.range(3).selectExpr("repeat(cast(id as string), 5000) as s", "cast(X'FF61' as string) as broken")
    val f = footer(written(df, orc, "long"), orc, df.schema)
    assert(f.untrusted == Set("s", "broken").map(key(df.schema, _)))
  }

  test("the nulls of a type without order are known if the file has the same type") {
    val rows = spark.range(9).selectExpr("if(id < 4, null, cast(id as string)) as s", "if(id < 4, null, id) as n")
    val status = written(rows, orc, "nulls")
    val table = StructType.fromDDL("s string collate UTF8_LCASE, n string collate UTF8_LCASE")
    val f = footer(status, orc, table, IndexableColumns.all(table))
    assert(f.stats == Map(ColumnKey(Seq("s"), table("s").dataType) -> ColumnStats(null, null, 4, 0)))
    // Text that is not an instant becomes null when it is read as one.
    val instants = StructType.fromDDL("s timestamp, n timestamp")
    assert(footer(status, orc, instants).stats.isEmpty)
  }

  test("columns that are read by position") {
    val df = spark.range(3).selectExpr("id as _col0", "id + 10 as _col1")
    val status = written(df, orc, "positional")
    val table = StructType.fromDDL("a bigint, b bigint")
    val f = footer(status, orc, table)
    assert(f.positional && f.stats.isEmpty && f.untrusted.size == 2)
    assert(SchemaCheck.exactlyReadable(table, Seq(f), settingsOfFooters).isLeft)
    assert(SchemaCheck.exactlyReadable(df.schema, Seq(footer(status, orc, df.schema)), settingsOfFooters).isRight)
  }

  test("a file that is not an ORC file") {
    val schema = StructType.fromDDL("id bigint")
    val whole = written(spark.range(1000).toDF(), orc, "whole")
    val bytes = Files.readAllBytes(Paths.get(whole.getPath.toUri.getPath))
    val damaged = bytes.clone()
    (bytes.length - 60 until bytes.length - 24).foreach(i => damaged(i) = (damaged(i) ^ 0x5a).toByte)
    // The postscript's fourth field is the version of the format, 0.12.
    val at = bytes.lastIndexOfSlice(Seq[Byte](0x22, 2, 0, 12))
    val future = bytes.clone()
    future(at + 2) = 19
    val files = Seq("future" -> future, "text" -> "this is no data file at all".getBytes, "damaged" -> damaged)
    (files :+ ("cut" -> bytes.take(bytes.length / 2))).foreach { case (name, content) =>
      val file = Files.write(folder.resolve(s"$name.orc"), content)
      val e = intercept[NotDataFileException](footer(statusOf(file), orc, schema))
      assert(e.getMessage.contains(s"$name.orc"))
      if (name == "future") assert(e.reason.contains("future ORC version"))
    }
  }

  test("a file whose rows are not structs is no file of a table") {
    val file = folder.resolve("numbers.orc")
    val options = OrcFile.writerOptions(conf).setSchema(TypeDescription.createLong())
    val writer = OrcFile.createWriter(new Path(file.toString), options)
    val batch = options.getSchema.createRowBatch()
    batch.size = 2
    writer.addRowBatch(batch)
    writer.close()
    val e = intercept[NotDataFileException](footer(statusOf(file), orc, StructType.fromDDL("k bigint")))
    assert(e.reason.contains("its rows have the type bigint"))
  }
}
