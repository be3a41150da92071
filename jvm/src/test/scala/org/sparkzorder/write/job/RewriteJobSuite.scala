package org.sparkzorder.write.job

import java.io.{File, IOException}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.classic.{DataFrame => ClassicFrame}
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.types._
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.sparkzorder.TestAll
import org.sparkzorder.commit.FileNames
import org.sparkzorder.layout.{Cuts, FileBounds, FilesTouched, FrameBudget, LayoutShape, LayoutSpec, UnitLayout}
import org.sparkzorder.stats.{ColumnKey, IndexableColumns, KeyEncoding, NaiveStats}
import org.sparkzorder.write.KeyColumn

@TestAll
class RewriteJobSuite extends AnyFunSuite with RewriteJobs {
  private val formats = Seq("parquet", "orc")

  /** The rows as text in which all values differ that Spark distinguishes. */
  private def texts(df: DataFrame): Seq[String] =
    df.asInstanceOf[ClassicFrame].queryExecution.executedPlan.executeCollect().map(_.toString).toSeq
  private def bag(df: DataFrame): Seq[String] = texts(df).sorted

  private val everything =
    """cast(id % 100 as tinyint) b, cast(id % 1000 as smallint) s, cast(id * 7919 % 3001 as int) i,
      |id * 104729 % 5003 l,
      |cast(id % 77 as decimal(9, 2)) d9, cast(id % 77 as decimal(18, 4)) d18,
      |cast(id * 31 % 997 - 500 as decimal(38, 10)) d38,
      |if(id % 11 = 0, '', concat('name', id * 13 % 211)) str, cast(concat('x', id % 53) as binary) bin,
      |date_add(date'1500-01-01', cast(id * 17 % 300000 as int)) dt,
      |timestamp_seconds(id * 86399 % 2000000000 - 1000000000) ts,
      |cast(timestamp_seconds(id * 3 % 1000000) as timestamp_ntz) ntz,
      |id % 3 = 0 bool,
      |cast(case id % 9 when 0 then 'NaN' when 1 then '-0.0' when 2 then '0.0' else id / 7 end as float) f,
      |cast(case id % 9 when 0 then '-Infinity' when 1 then '-0.0' when 2 then 'NaN' else id / 3 end as double) g,
      |if(id % 5 = 0, null, named_struct('x', cast(id % 19 as int), 'in', named_struct('y', concat('k', id % 23)))) st,
      |array(id, null, id + 1) arr, map(concat('m', id % 3), id) mp, if(id % 4 > 0, null, id) sparse,
      |cast(null as int) nothing""".stripMargin

  test("where the widths of rows go with the key, files have equal bytes; else cuts count rows") {
    // The last of 20,000 keys have long texts, each another. In `same` it is one text for all of them.
    def text(wide: String) = s"if(id >= 19000, $wide, 'short')"
    val other = text("concat_ws('', transform(sequence(1, 40), i -> sha2(concat(id, ':', i), 256)))")
    val same = text("repeat('long text', 300)")
    val orders = Seq(
      LayoutShape(LayoutSpec.Order, aligned = true),
      LayoutShape(LayoutSpec.ZOrder, aligned = true, exact = true),
      LayoutShape(LayoutSpec.Order, aligned = false)
    )
    for (name <- formats; shape <- orders; keyed <- Seq(true, false) if keyed || name == "parquet") {
      val order = if (keyed) "id" else "rand(4)"
      val df = spark.sql(s"select id k, id * 7919 % 20000 j, $other t from range(20000) order by $order")
      val source = written(df.coalesce(3), name)
      val keys = if (shape.curve == LayoutSpec.Order) source.keys("k") else source.keys("k", "j")
      val result = rewrite(source, Seq(source.unit(20)), keys, shape = shape)
      val bytes = result.outputs.map(_.length)
      val sizes = bytes.map(_ * 20d / bytes.sum)
      assert(math.abs(bytes.size - 20) <= 5 && sizes.max <= 1.6 && sizes.min >= 0.15, s"$name $shape: $sizes")
      assert(bag(source.read(result.outputs)) == bag(df))
    }
    // Numbers that only some keys have.
    val numbers = (1 to 30).map(i => s"if(id < 1000, rand($i), null) d$i").mkString(", ")
    val sparse = written(spark.sql(s"select id k, $numbers from range(20000)").coalesce(2))
    val sizes = rewrite(sparse, Seq(sparse.unit(10)), sparse.keys("k")).outputs.map(_.length)
    assert(sizes.max <= 1.8 * sizes.sum / 10, sizes)
    def slots(texts: String, rows: Int) = {
      val source = written(spark.sql(s"select id k, $texts t from range($rows)").coalesce(1))
      rewrite(source, Seq(source.unit(8)), source.keys("k")).outputs.map(_.rows)
    }
    val byRows = slots("7", 20000)
    assert(slots("'text'", 20000) == byRows && slots("sha2(cast(id as string), 256)", 20000) == byRows)
    assert(slots(same, 20000) == byRows, "a text that repeats takes no room in a file")
    val thousand = "concat('a text of a thousand ', id * 7919 % 1000)"
    assert(slots(thousand, 20000) == byRows, "rows come in the order of the key")
    assert(slots(other, 20000) != byRows)
  }

  test("rows of every type are the same before and after, for every key type, in Parquet and ORC") {
    formats.foreach { name =>
      val df = spark.sql(s"select ${everything.replace("\n", " ")} from range(0, 3000, 1, 3)")
      val source = written(df, name)
      val before = bag(df)
      val keyed = IndexableColumns.of(source.schema)
      assert(keyed.length == 19)
      // All columns, three at a time, then all at once.
      (keyed.grouped(3).toSeq :+ keyed).foreach { keys =>
        val n = 7
        val result = rewrite(source, Seq(source.unit(n)), keys.map(k => KeyColumn(k.path, k.dataType, 1d)))
        assert(result.outputs.length == n, keys)
        assert(result.rows == 3000 && result.outputs.forall(o => o.rows > 0))
        assert(result.outputs.map(_.slot) == (0 until n))
        assert(result.outputs.forall(_.path.getName.endsWith(FileNames.StagedSuffix)))
        assert(bag(source.read(result.outputs)) == before)
        checkStats(source, result.outputs.head)
        result.outputs.foreach { o =>
          val status = o.path.getFileSystem(spark.sparkContext.hadoopConfiguration).getFileStatus(o.path)
          assert(status.getLen == o.length && status.getModificationTime == o.modificationTime)
        }
      }
    }
  }

  /** Compares statistics with the rows read back. */
  private def checkStats(source: Source, file: StagedFile): Unit = {
    assert(IndexableColumns.of(source.schema).forall(file.stats.columns.contains))
    val rows = source.read(Seq(file)).queryExecution.executedPlan.executeCollect()
    NaiveStats.check(source.schema, rows.toSeq, file.stats)
  }

  test("exactly the requested number of files for skew, nulls, a boolean, and a single value") {
    val cases = Seq("if(rand(1) < 0.9, 42, id)", "if(rand(2) < 0.8, null, id)", "id % 2 = 0", "7L")
    cases.foreach { expression =>
      val source = written(spark.range(0, 20000, 1, 4).selectExpr(s"$expression as k", "id"))
      val result = rewrite(source, Seq(source.unit(25)), source.keys("k"))
      assert(result.outputs.length == 25, expression)
      assert(result.outputs.map(_.rows).sum == 20000)
      assert(result.outputs.forall(o => o.rows > 400 && o.rows < 1300), (expression, result.outputs.map(_.rows)))
    }
  }

  test("rows follow the curve within files and from file to file, and lookups touch few files") {
    val source = written(spark.range(0, 40000, 1, 4).selectExpr("hash(id) a", "hash(id, 1) c", "id"))
    val keys = source.keys("a", "c")
    // All rows are sampled, so the model that placed the rows can be computed again from them.
    for {
      (curve, aligned, most) <- Seq((LayoutSpec.ZOrder, false, 1.7), (LayoutSpec.Hilbert, false, 1.4)) ++
        Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert).map((_, true, 1.1))
      shape = LayoutShape(curve, aligned)
    } withClue(s"$shape: ") {
      val result = rewrite(source, Seq(source.unit(64)), keys, sampleRows = Some(1000000L), shape = shape)
      assert(result.sampledRows == 40000)
      val boundaries = FrameBudget.fit(result.samples.head, FrameBudget.of(64), 64)
      val layout = new UnitLayout(boundaries, shape.curveOf(Seq(1d, 1d), boundaries, 64), Cuts.none)
      val zs = result.outputs.flatMap(source.rowsOf(_).map(r => layout.z(Seq(r.getInt(0).toLong, r.getInt(1).toLong))))
      assert(zs.length == 40000 && zs == zs.sorted)
      keys.indices.foreach { c =>
        val bounds =
          result.outputs.map(o => FileBounds.of(o.stats.columns(ColumnKey(keys(c).path, IntegerType)), o.rows))
        assert(FilesTouched.mean(result.samples.head(c), bounds) <= most * 8)
      }
    }
  }

  test("a key in a struct, and names that we use ourselves or that have dots and spaces") {
    val df = spark.range(0, 5000, 1, 2).selectExpr(
      "id as z", "id % 10 as `__zorder_unit`", "id % 7 as `__zorder_file`", "id % 5 as `slot`", "id % 3 as `tie`",
      "named_struct('a.b', named_struct('c d', cast(hash(id) as string))) as `s.t u`"
    )
    val source = written(df)
    val keys = KeyColumn(Seq("s.t u", "a.b", "c d"), StringType, 1d) +: source.keys("__zorder_file")
    val result = rewrite(source, Seq(source.unit(8)), keys)
    assert(result.outputs.length == 8)
    assert(bag(source.read(result.outputs)) == bag(df))
    assert(spark.read.parquet(result.outputs.head.path.toString).schema == source.schema)
    assert(result.outputs.forall(_.stats.columns(ColumnKey(keys.head.path, StringType)).hasBounds))
  }

  test("a missing key, or one of another type, is an error with its name") {
    val source = written(spark.range(10).toDF())
    val wrong = Seq(Seq("nope") -> LongType, Seq("id") -> IntegerType, Seq("id", "x") -> LongType)
    wrong.map { case (path, dataType) => KeyColumn(path, dataType, 1d) }.foreach { key =>
      val e = intercept[IllegalArgumentException](rewrite(source, Seq(source.unit(1)), Seq(key)))
      assert(e.getMessage.contains(key.path.mkString("`", "`.`", "`")))
    }
    assertThrows[IllegalArgumentException](new KeyEncoding(ArrayType(IntegerType)))
  }

  test("packing keeps the order of arrival over files and their splits") {
    formats.foreach { name =>
      // The files have different sizes, since the scan takes the largest first.
      val df = spark.range(0, 20000, 1, 6).selectExpr("id", "repeat(cast(id as string), int(id / 4000) + 1) s")
      val source = written(df, name)
      Seq(1, 3).foreach { n =>
        val conf = Map("spark.sql.files.maxPartitionBytes" -> "20000", "spark.sql.files.openCostInBytes" -> "1000")
        val result = rewrite(source, Seq(source.unit(n)), Nil, conf)
        assert(result.outputs.length == n)
        assert(result.outputs.flatMap(source.rowsOf(_).map(_.getLong(0))) == (0L until 20000L))
      }
    }
  }

  test("a file with too many rows becomes several, which together have the rows in the same order") {
    val columns = (0 until 61).map(i => s"if(id % ${i + 2} = 0, null, id + $i) c$i")
    Seq(
      // With the columns that 64 columns are sorted by, the null bits of a row take another word.
      ("parquet", true, Seq("k", "h"), LayoutShape(LayoutSpec.ZOrder, aligned = true)),
      ("parquet", false, Seq("k", "h"), LayoutShape(LayoutSpec.Order, aligned = true)),
      ("parquet", false, Seq("h"), LayoutShape(LayoutSpec.ZOrder, aligned = false)),
      ("orc", false, Seq("k", "h"), LayoutShape(LayoutSpec.Hilbert, aligned = true)),
      ("orc", true, Nil, LayoutShape.Packed)
    ).foreach { case (name, wide, keys, shape) =>
      val data =
        spark.range(0, 6000, 1, 5).selectExpr((Seq("id % 50 k", "hash(id) h", "id") ++ columns.filter(_ => wide)): _*)
      val (source, none) = (written(data, name), written(data.limit(0), name))
      val units = Seq(source.unit(4), none.unit(1))
      def run(most: Long) = rewrite(source, units, source.keys(keys: _*), shape = shape, maxRecords = most)
      def rows(files: Seq[StagedFile]) = files.map(source.rowsOf(_).map(_.getLong(2)))
      val whole = run(0).outputs
      val parts = run(500).outputs
      assert(parts.map(_.path).distinct.length == parts.length && parts.map(_.rows).sum == 6000)
      assert(parts.last.rows == 0 && parts.last.unit == 1)
      assert(parts.forall(_.rows <= 500) && parts.init.forall(_.rows > 0))
      assert(parts.length <= 4 + 6000 / 250 + 1)
      val ofSlot = parts.groupBy(_.slot)
      assert(whole.forall(w => rows(ofSlot(w.slot)).flatten == rows(Seq(w)).flatten), s"$name $keys $shape")
      assert(run(1000000).outputs.map(_.rows) == whole.map(_.rows))
      parts.init.foreach(checkStats(source, _))
      // With a single key, no value is in two files.
      if (keys == Seq("h")) {
        val ranges = parts.init.map(source.rowsOf(_).map(_.getInt(1)))
        assert(ranges.zip(ranges.tail).forall { case (a, b) => a.max < b.min } && ranges.forall(r => r == r.sorted))
      }
    }
  }

  test("interpreted code does the same, and adaptive execution does not merge files") {
    val df = spark.sql(s"select ${everything.replace("\n", " ")} from range(0, 2000, 1, 2)")
    val source = written(df)
    val keys = source.keys("d18", "d38", "f", "str", "bin", "sparse", "dt", "bool")
    val interpreted = Map(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
      "spark.sql.adaptive.enabled" -> "true"
    )
    for (curve <- Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order)) {
      def run(conf: Map[String, String]) =
        rewrite(source, Seq(source.unit(6)), keys, conf, shape = LayoutShape(curve, false))
          .outputs.map(o => texts(source.read(Seq(o))))
      val generated = run(Map.empty)
      assert(generated.length == 6 && generated == run(interpreted), curve)
    }
  }

  test("a missing input fails the job, whatever the caller's settings are, and the session does not change") {
    val source = written(spark.range(0, 1000, 1, 2).toDF())
    val unit = source.unit(2)
    val gone = unit.files.head._1.getPath
    gone.getFileSystem(spark.sparkContext.hadoopConfiguration).delete(gone, false)
    spark.sparkContext.setJobDescription("mine")
    val ignores = Map("spark.sql.files.ignoreMissingFiles" -> "true")
    assertThrows[org.apache.spark.SparkException](rewrite(source, Seq(unit), source.keys("id"), ignores))
    assert(spark.sparkContext.getLocalProperty("spark.job.description") == "mine")
    assert(spark.conf.get("spark.sql.files.ignoreMissingFiles") == "false")
    spark.sparkContext.setJobDescription(null)
  }

  test("a task that fails while writing reports its error and removes its file") {
    val source = written(spark.range(0, 1000, 1, 2).toDF())
    val staging = folder()
    // A disk that fills up after some rows, so that not even closing works.
    val failing = new OtherParquet {
      override protected def writer(real: => OutputWriter): OutputWriter = new HookedWriter(
        real,
        row => if (row > 100) throw new IOException("disk full"),
        () => throw new IOException("cannot close")
      )
    }
    val e = intercept[org.apache.spark.SparkException] {
      rewrite(source, Seq(source.unit(2)), source.keys("id"), by = Some(failing), staging = staging)
    }
    val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).map(_.getMessage).toSeq
    assert(causes.exists(_.contains("disk full")), causes)
    // The job fails with its first task. The others are killed, and clean up a moment later.
    eventually(timeout(Span(30, Seconds)))(assert(new File(staging.toUri).list.isEmpty))
  }
}
