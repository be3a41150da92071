package org.sparkzorder.footer.orc

import org.apache.hadoop.fs.Path
import org.apache.orc.{OrcFile, TypeDescription}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.footer.{DataFormat, FooterFixture, NotDataFileException, Samples, SchemaCheck, SessionBound}
import org.sparkzorder.stats.{ColumnKey, ColumnStats, IndexableColumns}

class OrcFooterSuite extends AnyFunSuite with FooterFixture {
  private val orc = DataFormat.Orc

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
    val bytes = java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(whole.getPath.toUri.getPath))
    val damaged = bytes.clone()
    (bytes.length - 60 until bytes.length - 24).foreach(i => damaged(i) = (damaged(i) ^ 0x5a).toByte)
    // The postscript's fourth field is the version of the format, 0.12.
    val at = bytes.lastIndexOfSlice(Seq[Byte](0x22, 2, 0, 12))
    val future = bytes.clone()
    future(at + 2) = 19
    val files = Seq("future" -> future, "text" -> "this is no data file at all".getBytes, "damaged" -> damaged)
    (files :+ ("cut" -> bytes.take(bytes.length / 2))).foreach { case (name, content) =>
      val file = java.nio.file.Files.write(folder.resolve(s"$name.orc"), content)
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
