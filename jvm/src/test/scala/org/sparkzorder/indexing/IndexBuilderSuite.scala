package org.sparkzorder.indexing

import java.nio.file.{Files, Paths, StandardOpenOption}

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.footer.{DataFormat, FooterFixture, Samples}
import org.sparkzorder.index.{IndexContents, IndexFile, Indexes}
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.stats._

class IndexBuilderSuite extends AnyFunSuite with FooterFixture {
  private val quiet = IndexBuilder.Setting(leftOut = (_, _) => ())

  private def built(files: Seq[FileStatus], schema: StructType, setting: IndexBuilder.Setting = quiet) =
    IndexBuilder.build(spark, files, DataFormat.Parquet, schema, IndexableColumns.of(schema), id, setting)

  private def id(s: FileStatus) = FileId(s.getPath.getName, s.getLen, s.getModificationTime)

  test("footers and rows together give statistics of all columns of all types") {
    Seq(DataFormat.Parquet, DataFormat.Orc).foreach { format =>
      val df = Samples.all(spark)
      val dir = folder.resolve(s"all-${format.name}").toString
      df.repartition(3).write.format(format.name).save(dir)
      val files = dataFiles(dir)
      val columns = IndexableColumns.of(df.schema)
      val built = IndexBuilder.build(spark, files, format, df.schema, columns, id)
      assert(built.map(_._1) == files.map(id) && built.map(_._2.rows).sum == 100)
      built.zip(files).foreach { case ((_, stats), file) =>
        val truth = scanned(file, format, df.schema)
        assert(stats.columns.keySet == columns.toSet)
        stats.columns.foreach { case (k, s) =>
          assert(s.nullCount == truth.columns(k).nullCount && s.nanCount == truth.columns(k).nanCount, k)
          val mayLack = format == DataFormat.Orc && Set("ancient", "ts", "ancient_ts")(k.path.head)
          if (s.hasBounds) withClue(s"$k: ")(encloses(s, truth.columns(k)))
          assert(s.hasBounds || !truth.columns(k).hasBounds || mayLack, k)
        }
      }
    }
  }

  test("a column that the reader refuses in one file is unknown there, and the others are known") {
    Seq(DataFormat.Parquet, DataFormat.Orc).foreach { format =>
      val dir = folder.resolve(s"refused-${format.name}").toString
      val schema = StructType.fromDDL("day date, n double, s struct<x: int, y: double>")
      val first = spark.range(9).selectExpr("date_from_unix_date(int(id)) day", "double(id) n")
      val second = spark.range(9).selectExpr("timestamp_ntz '2020-01-01 01:02:03' day", "double('NaN') n")
      Seq(first -> "int(id)", second -> "'text'").foreach { case (rows, x) =>
        rows.selectExpr("day", "n", s"struct(${x.replace("id", "n")} x, n y) s").coalesce(1)
          .write.mode("append").format(format.name).save(dir)
      }
      val files = dataFiles(dir)
      val columns = IndexableColumns.of(schema)
      val built = IndexBuilder.build(spark, files, format, schema, columns, id)
      val (old, drifted) = built.map(_._2).partition(_.columns.get(key(schema, "day")).exists(_.hasBounds))
      assert(old.size == 1 && drifted.size == 1, format)
      assert(drifted.head.columns(key(schema, "n")).nanCount == 9, format)
      assert(drifted.head.columns.get(columns.find(_.path == Seq("s", "x")).get).forall(!_.hasBounds), format)
    }
  }

  test("changed and vanished files are left out, the others stay") {
    val dir = folder.resolve("left").toString
    spark.range(0, 40, 1, 4).selectExpr("id", "double('NaN') as n").write.parquet(dir)
    val files = dataFiles(dir).sortBy(_.getPath.getName)
    val schema = StructType.fromDDL("id bigint, n double")
    Files.delete(Paths.get(files(1).getPath.toUri.getPath))
    // Somebody is writing this file.
    val growing = statusOf(Files.writeString(folder.resolve("left").resolve("growing.parquet"), "no data"))
    Files.writeString(Paths.get(growing.getPath.toUri.getPath), "no data yet")
    val reasons = mutable.Map.empty[String, String]
    // The third file is changed after its footer was read and before the last check.
    val touched = Paths.get(files(2).getPath.toUri.getPath)
    def leftOut(file: FileStatus, why: String): Unit = reasons.synchronized {
      if (reasons.isEmpty) Files.setLastModifiedTime(touched, java.nio.file.attribute.FileTime.fromMillis(12345))
      reasons(file.getPath.getName) = why
    }
    val made = built(files :+ growing, schema, IndexBuilder.Setting(leftOut = leftOut))
    assert(made.map(_._1) == Seq(files(0), files(3)).map(id))
    assert(reasons.keySet == Set(files(1), files(2), growing).map(_.getPath.getName))
    assert(made.forall(_._2.columns(key(schema, "n")).nanCount == 10))
  }

  test("a file appended to after the listing is left out") {
    val schema = StructType.fromDDL("id bigint")
    val status = written(spark.range(5).toDF(), DataFormat.Parquet, "grown")
    val stale = new FileStatus(status.getLen - 1, false, 1, 1, status.getModificationTime, status.getPath)
    assert(built(Seq(stale), schema).isEmpty)
    Files.write(Paths.get(status.getPath.toUri.getPath), Array[Byte](1), StandardOpenOption.APPEND)
    assert(built(Seq(status), schema).isEmpty)
  }

  test("missing columns are all null unless they have a default, and names that differ in case are unknown") {
    val status = written(spark.range(5).selectExpr("id", "id as Upper"), DataFormat.Parquet, "missing")
    val default = new MetadataBuilder().putString("EXISTS_DEFAULT", "7").putString("CURRENT_DEFAULT", "7").build()
    val schema = StructType.fromDDL("id bigint, upper bigint, gone int")
      .add("added", IntegerType, nullable = true, default)
    val stats = built(Seq(status), schema).head._2
    assert(stats.columns.keySet == Set("id", "gone").map(key(schema, _)))
    assert(stats.columns(key(schema, "gone")).nullCount == 5)
  }

  test("damaged data is an error even if the session ignores it") {
    val rows = spark.range(1000).selectExpr("id", "double(id) / 0.7 + if(id = 1, double('NaN'), 0) as n")
    val status = written(rows, DataFormat.Parquet, "rotten")
    val path = Paths.get(status.getPath.toUri.getPath)
    val bytes = Files.readAllBytes(path)
    (4 until bytes.length / 2).foreach(i => bytes(i) = (bytes(i) ^ 0x5a).toByte)
    Files.write(path, bytes)
    val schema = StructType.fromDDL("id bigint, n double")
    withSettings("spark.sql.files.ignoreCorruptFiles" -> "true") {
      val (files, columns) = (Seq((0, statusOf(path))), IndexedColumns(IndexableColumns.of(schema)))
      val options = Map("ignorecorruptfiles" -> "true")
      intercept[Exception](FileScan.scan(spark, files, DataFormat.Parquet, schema, columns, options))
      assert(spark.conf.get("spark.sql.files.ignoreCorruptFiles") == "true")
    }
  }

  test("the bounds of two keys load only two columns of an index, and columns that it lacks are unknown") {
    def key(c: Int) = ColumnKey(Seq(s"c$c"), LongType)
    def id(f: Int) = FileId(s"f$f", 100L, 5L)
    val files = (0 until 10).map { f =>
      val columns = (0 until 50).map(c => key(c) -> ColumnStats(Long.box(f.toLong), Long.box(f + c.toLong), 0L, 0L))
      id(f) -> FileStats(10L, columns.toMap)
    }
    val source = new Indexes.BytesSource(Indexes.written(IndexContents(files)))
    val snapshot = IndexFile.open(source, 64L << 20)
    source.reads = 0
    val bounds = new IndexedBounds(Some(snapshot), IndexedSeq(key(3), key(40)))
    (0 until 10).foreach { f =>
      assert(bounds.of(id(f)) == Seq(FileBounds.Longs(f.toLong, f + 3L), FileBounds.Longs(f.toLong, f + 40L)))
    }
    assert(source.reads == 2)
    for (other <- Seq(id(99), id(3).copy(length = 101L)))
      assert(bounds.of(other) == Seq(FileBounds.Unknown, FileBounds.Unknown))
    val lacking = new IndexedBounds(Some(snapshot), IndexedSeq(key(77), key(1)))
    assert(lacking.of(id(2)) == Seq(FileBounds.Unknown, FileBounds.Longs(2, 3)))
    assert(new IndexedBounds(None, IndexedSeq(key(1))).of(id(1)) == Seq(FileBounds.Unknown))
  }

  test("time stamps in the past: only for a young one is there a wait, of a tick, or two seconds for whole seconds") {
    // Whether the files of these times are past after the wait, and the time then.
    def waited(now: Long, times: Long*): (Seq[Boolean], Long) = {
      var clock = now
      val past = new PastTime(() => clock, ms => { assert(ms > 0); clock += ms })
      (past.wait(times.map(new FileStatus(1, false, 1, 1, _, new Path("/f")))), clock)
    }
    val (found, time) = waited(1000000123, 1000000000, 999990007)
    assert(found == Seq(false, true) || time > 1000000123)
    assert(waited(1000010000, 1000000000, 999990007) == ((Seq(true, true), 1000010000L)))
    assert(waited(1000010000)._1.isEmpty)
    assert(waited(1000000123, 1000000121) == ((Seq(true), 1000000142L)))
    assert(waited(1000000123, 1000000000) == ((Seq(true), 1000002001L)))
    // One far in the future is not waited for, but others are.
    assert(waited(1000000123, 2000000001, 1000000121) == ((Seq(false, true), 1000000142L)))
  }
}
