package org.sparkzorder.write.job

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.execution.datasources.{FileFormat, OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types._
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.sparkzorder.TestAll
import org.sparkzorder.LocalSpark
import org.sparkzorder.commit.FileNames
import org.sparkzorder.layout.{FileBounds, FilesTouched, FrameBudget, LayoutShape, LayoutSpec, UnitLayout}
import org.sparkzorder.stats.{ColumnKey, IndexableColumns, IndexedColumns, KeyEncoding, OrderedValue}
import org.sparkzorder.write.rows.RowPlan
import org.sparkzorder.write.{FileGroup, KeyColumn}

@TestAll
class RewriteJobSuite extends AnyFunSuite with LocalSpark {
  private val formats = Seq("parquet" -> new ParquetFileFormat, "orc" -> new OrcFileFormat)
  private var folders = 0

  private def folder(): Path = {
    folders += 1
    new Path(new java.io.File(dir, s"f$folders").toURI)
  }

  private def written(df: org.apache.spark.sql.DataFrame, format: String): Path = {
    val path = folder()
    df.write.format(format).save(path.toString)
    path
  }

  /** A unit of all data files of a folder, in the order of their names. */
  private def unit(path: Path, format: String, outputFiles: Int): FileGroup = {
    val fs = path.getFileSystem(spark.sparkContext.hadoopConfiguration)
    val files = fs.listStatus(path).filter(_.getPath.getName.startsWith("part-")).sortBy(_.getPath.getName)
    FileGroup(files.toSeq.map(f => f -> spark.read.format(format).load(f.getPath.toString).count()), outputFiles)
  }

  private def rewrite(
      format: (String, FileFormat),
      schema: StructType,
      units: Seq[FileGroup],
      keys: Seq[KeyColumn],
      conf: Map[String, String] = Map.empty,
      sampleRows: Option[Long] = None,
      shape: LayoutShape = LayoutShape(LayoutSpec.ZOrder, aligned = false),
      maxRecords: Long = 0
  ): RewriteResult = {
    val result = new RewriteJob(
      spark,
      RewriteSpec(
        format._2,
        schema,
        Map.empty,
        _ => Map.empty,
        conf,
        units,
        keys,
        folder(),
        IndexedColumns(IndexableColumns.of(schema)),
        "OPTIMIZE test",
        shape,
        sampleRows,
        maxRecords = maxRecords
      )
    ).run()
    assert(result.read == result.written && result.read.map(_.rows) == units.map(_.rows))
    result
  }

  private def read(format: String, schema: StructType, files: Seq[StagedFile]): DataFrame =
    spark.read.format(format).schema(schema).load(files.map(_.path.toString): _*).asInstanceOf[DataFrame]

  private def readOne(format: String, schema: StructType, file: StagedFile): Seq[Row] =
    read(format, schema, Seq(file)).collect().toSeq

  // Values as text, since arrays of bytes with the same content are not equal, and NaN is not equal
  // to itself.
  private def text(v: Any): String = v match {
    case b: Array[Byte]                => b.map(x => f"$x%02x").mkString("0x", "", "")
    case r: Row                        => r.toSeq.map(text).mkString("{", ",", "}")
    case s: scala.collection.Seq[_]    => s.map(text).mkString("[", ",", "]")
    case m: scala.collection.Map[_, _] =>
      m.toSeq.map { case (k, x) => text(k) + ":" + text(x) }.sorted.mkString("<", ",", ">")
    case other => String.valueOf(other)
  }
  private def bag(rows: Seq[Row]): Seq[String] = rows.map(text).sorted

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
    for ((name, format) <- formats; shape <- orders; keyed <- Seq(true, false) if keyed || name == "parquet") {
      val order = if (keyed) "id" else "rand(4)"
      val df = spark.sql(s"select id k, id * 7919 % 20000 j, $other t from range(20000) order by $order")
      val path = written(df.coalesce(3), name)
      val schema = spark.read.format(name).load(path.toString).schema
      val keys =
        (if (shape.curve == LayoutSpec.Order) Seq("k") else Seq("k", "j")).map(c => KeyColumn(Seq(c), LongType, 1d))
      val result = rewrite(name -> format, schema, Seq(unit(path, name, 20)), keys, shape = shape)
      val bytes = result.outputs.map(_.length)
      val mean = bytes.sum.toDouble / 20
      val sizes = bytes.map(_ / mean)
      info(
        f"$name ${shape.curve} aligned ${shape.aligned}: ${bytes.size} files of ${sizes.min}%.2f to ${sizes.max}%.2f"
      )
      assert(math.abs(bytes.size - 20) <= 5 && sizes.max <= 1.6 && sizes.min >= 0.15)
      assert(bag(read(name, schema, result.outputs).collect().toSeq) == bag(df.collect().toSeq))
    }
    // Numbers that only some keys have.
    val numbers = (1 to 30).map(i => s"if(id < 1000, rand($i), null) d$i").mkString(", ")
    val sparse = written(spark.sql(s"select id k, $numbers from range(20000)").coalesce(2), "parquet")
    val keys = Seq(KeyColumn(Seq("k"), LongType, 1d))
    val sizes =
      rewrite(formats.head, spark.read.parquet(sparse.toString).schema, Seq(unit(sparse, "parquet", 10)), keys)
        .outputs.map(_.length)
    assert(sizes.max <= 1.8 * sizes.sum / 10, sizes)
    def slots(texts: String, rows: Int) = {
      val df = spark.sql(s"select id k, $texts t from range($rows)")
      val path = written(df.coalesce(1), "parquet")
      val schema = spark.read.parquet(path.toString).schema
      rewrite(
        formats.head,
        schema,
        Seq(unit(path, "parquet", 8)),
        Seq(KeyColumn(Seq("k"), LongType, 1d))
      ).outputs.map(_.rows)
    }
    val byRows = slots("7", 20000)
    assert(slots("'text'", 20000) == byRows && slots("sha2(cast(id as string), 256)", 20000) == byRows)
    assert(slots(same, 20000) == byRows, "a text that repeats takes no room in a file")
    assert(
      slots("concat('a text of a thousand ', id * 7919 % 1000)", 20000) == byRows,
      "rows come in the order of the key"
    )
    assert(slots(other, 20000) != byRows)
  }

  test("rows of every type are the same before and after, for every key type, in Parquet and ORC") {
    formats.foreach { case format @ (name, _) =>
      val df = spark.sql(s"select ${everything.replace("\n", " ")} from range(0, 3000, 1, 3)")
      val path = written(df, name)
      val schema = spark.read.format(name).load(path.toString).schema
      val before = bag(df.collect().toSeq)
      val keyed = IndexableColumns.of(schema)
      assert(keyed.length == 19)
      // All columns, three at a time, then all at once.
      (keyed.grouped(3).toSeq :+ keyed).foreach { keys =>
        val n = 7
        val result = rewrite(format, schema, Seq(unit(path, name, n)), keys.map(k => KeyColumn(k.path, k.dataType, 1d)))
        assert(result.outputs.length == n, keys)
        assert(result.rows == 3000 && result.outputs.forall(o => o.rows > 0))
        assert(result.outputs.map(_.slot) == (0 until n))
        assert(result.outputs.forall(_.path.getName.endsWith(FileNames.StagedSuffix)))
        assert(bag(read(name, schema, result.outputs).collect().toSeq) == before)
        checkStats(name, schema, result.outputs.head)
        result.outputs.foreach { o =>
          val status = o.path.getFileSystem(spark.sparkContext.hadoopConfiguration).getFileStatus(o.path)
          assert(status.getLen == o.length && status.getModificationTime == o.modificationTime)
        }
      }
    }
  }

  test("around 64 columns, where the null bits of a row take another word") {
    Seq(61, 62, 65).foreach { n =>
      val columns = (0 until n).map(c => s"if(id % ${c + 2} = 0, null, id * ${c + 3} % 101) c$c").mkString(", ")
      val df = spark.sql(s"select $columns from range(500)")
      val path = written(df, "parquet")
      val keys = Seq("c1", s"c${n - 1}").map(c => KeyColumn(Seq(c), LongType, 1d))
      val result = rewrite(formats.head, df.schema, Seq(unit(path, "parquet", 3)), keys)
      assert(result.outputs.length == 3)
      assert(bag(read("parquet", df.schema, result.outputs).collect().toSeq) == bag(df.collect().toSeq), n)
      result.outputs.foreach(checkStats("parquet", df.schema, _))
    }
  }

  /** Compares statistics with the rows read back. */
  private def checkStats(format: String, schema: StructType, file: StagedFile): Unit = {
    val rows = read(format, schema, Seq(file)).queryExecution.executedPlan.executeCollect()
    assert(file.stats.rows == rows.length)
    IndexableColumns.of(schema).filter(_.path.length == 1).foreach { key =>
      val i = schema.fieldIndex(key.path.head)
      val known = rows.toSeq.filterNot(_.isNullAt(i))
      val values = known.map(r => OrderedValue.encode(key.dataType, r.get(i, key.dataType)))
      val stats = file.stats.columns(key)
      assert(stats.nullCount == rows.length - values.length, key)
      val nan = OrderedValue.ofDouble(Double.NaN)
      val bounded = if (OrderedValue.hasNaN(key.dataType)) values.filter(_ != nan) else values
      if (bounded.isEmpty) assert(!stats.hasBounds, key)
      else {
        val sorted = bounded.sortWith(less)
        assert(text(stats.min) == text(sorted.head) && text(stats.max) == text(sorted.last), key)
      }
    }
  }

  private def less(a: Any, b: Any): Boolean = (a, b) match {
    case (x: Long, y: Long)               => x < y
    case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y) < 0
    case _                                => false
  }

  test("exactly the requested number of files for skew, nulls, a boolean, and a single value") {
    val format = formats.head
    val cases = Seq("if(rand(1) < 0.9, 42, id)", "if(rand(2) < 0.8, null, id)", "id % 2 = 0", "7L")
    cases.foreach { expression =>
      val path = written(spark.range(0, 20000, 1, 4).selectExpr(s"$expression as k", "id"), "parquet")
      val schema = spark.read.parquet(path.toString).schema
      val key = KeyColumn(Seq("k"), schema("k").dataType, 1d)
      val result = rewrite(format, schema, Seq(unit(path, "parquet", 25)), Seq(key))
      assert(result.outputs.length == 25, expression)
      assert(result.outputs.map(_.rows).sum == 20000)
      assert(result.outputs.forall(o => o.rows > 400 && o.rows < 1300), (expression, result.outputs.map(_.rows)))
    }
  }

  test("with one key, files are ranges of it, and rows are sorted within files") {
    formats.foreach { case format @ (name, _) =>
      val path = written(spark.range(0, 30000, 1, 3).selectExpr("cast(hash(id) as string) k", "id"), name)
      val schema = spark.read.format(name).load(path.toString).schema
      val result = rewrite(format, schema, Seq(unit(path, name, 12)), Seq(KeyColumn(Seq("k"), StringType, 1d)))
      val keys = result.outputs.map(o => readOne(name, schema, o).map(_.getString(0)))
      assert(keys.length == 12 && keys.flatten == keys.flatten.sorted)
    }
  }

  test("rows follow the curve within files and from file to file, and lookups touch few files") {
    val format = formats.head
    val path = written(spark.range(0, 40000, 1, 4).selectExpr("hash(id) a", "hash(id, 1) c", "id"), "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val keys = Seq("a", "c").map(k => KeyColumn(Seq(k), IntegerType, 1d))
    // All rows are sampled, so the model that placed the rows can be computed again from them.
    for {
      (curve, aligned, most) <- Seq(
        (LayoutSpec.ZOrder, false, 1.7),
        (LayoutSpec.ZOrder, true, 1.1),
        (LayoutSpec.Hilbert, false, 1.4),
        (LayoutSpec.Hilbert, true, 1.1)
      )
      shape = LayoutShape(curve, aligned)
    } withClue(s"$shape: ") {
      val result =
        rewrite(format, schema, Seq(unit(path, "parquet", 64)), keys, sampleRows = Some(1000000L), shape = shape)
      assert(result.sampledRows == 40000)
      val boundaries = FrameBudget.fit(result.samples.head, FrameBudget.of(64), 64)
      val layout =
        new UnitLayout(boundaries, shape.curveOf(Seq(1d, 1d), boundaries, 64), org.sparkzorder.layout.Cuts.none)
      val zs = result.outputs.flatMap(readOne("parquet", schema, _).map(r =>
        layout.z(Seq(r.getInt(0).toLong, r.getInt(1).toLong))
      ))
      assert(zs.length == 40000 && zs == zs.sorted)
      keys.indices.foreach { c =>
        val bounds =
          result.outputs.map(o => FileBounds.of(o.stats.columns(ColumnKey(keys(c).path, IntegerType)), o.rows))
        assert(FilesTouched.mean(result.samples.head(c), bounds) <= most * 8)
      }
    }
  }

  test("a key in a struct, and names that we use ourselves or that have dots and spaces") {
    val format = formats.head
    val df = spark.range(0, 5000, 1, 2).selectExpr(
      "id as z",
      "id % 10 as `__zorder_unit`",
      "id % 7 as `__zorder_file`",
      "id % 5 as `slot`",
      "id % 3 as `tie`",
      "named_struct('a.b', named_struct('c d', cast(hash(id) as string))) as `s.t u`"
    )
    val path = written(df, "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val keys = Seq(KeyColumn(Seq("s.t u", "a.b", "c d"), StringType, 1d), KeyColumn(Seq("__zorder_file"), LongType, 1d))
    val result = rewrite(format, schema, Seq(unit(path, "parquet", 8)), keys)
    assert(result.outputs.length == 8)
    assert(bag(read("parquet", schema, result.outputs).collect().toSeq) == bag(df.collect().toSeq))
    assert(spark.read.parquet(result.outputs.head.path.toString).schema == schema)
    assert(result.outputs.forall(_.stats.columns(ColumnKey(keys.head.path, StringType)).hasBounds))
  }

  test("a missing key, or one of another type, is an error with its name") {
    val path = written(spark.range(10).toDF(), "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val wrong = Seq(Seq("nope") -> LongType, Seq("id") -> IntegerType, Seq("id", "x") -> LongType)
    wrong.map { case (path, dataType) => KeyColumn(path, dataType, 1d) }.foreach { key =>
      val e = intercept[IllegalArgumentException](
        rewrite(formats.head, schema, Seq(unit(path, "parquet", 1)), Seq(key))
      )
      assert(e.getMessage.contains(key.path.mkString("`", "`.`", "`")))
    }
    assertThrows[IllegalArgumentException](new KeyEncoding(ArrayType(IntegerType)))
  }

  test("packing keeps the order of arrival over files and their splits") {
    formats.foreach { case format @ (name, _) =>
      // The files have different sizes, since the scan takes the largest first.
      val df = spark.range(0, 20000, 1, 6).selectExpr("id", "repeat(cast(id as string), int(id / 4000) + 1) s")
      val path = written(df, name)
      val schema = spark.read.format(name).load(path.toString).schema
      Seq(1, 3).foreach { n =>
        val conf = Map("spark.sql.files.maxPartitionBytes" -> "20000", "spark.sql.files.openCostInBytes" -> "1000")
        val result = rewrite(format, schema, Seq(unit(path, name, n)), Nil, conf)
        assert(result.outputs.length == n)
        assert(result.outputs.flatMap(readOne(name, schema, _).map(_.getLong(0))) == (0L until 20000L))
      }
    }
  }

  test("no row leaves its unit, and units may have no rows") {
    val paths = Seq(0 -> 10000, 10000 -> 10050, 20000 -> 23000).map { case (a, b) =>
      written(spark.range(a.toLong, b.toLong, 1, 2).toDF(), "parquet")
    }
    val empty = written(spark.range(0).toDF(), "parquet")
    val schema = spark.read.parquet(paths.head.toString).schema
    val units = paths.zip(Seq(5, 1, 2)).map { case (p, n) => unit(p, "parquet", n) } :+ unit(empty, "parquet", 3)
    val result = rewrite(formats.head, schema, units, Seq(KeyColumn(Seq("id"), LongType, 1d)))
    assert(result.outputs.map(_.unit) == Seq(0, 0, 0, 0, 0, 1, 2, 2, 3))
    assert(result.outputs.last.rows == 0)
    paths.zipWithIndex.foreach { case (p, u) =>
      val now = result.outputs.filter(_.unit == u).flatMap(readOne("parquet", schema, _).map(_.getLong(0)))
      assert(now == spark.read.parquet(p.toString).collect().map(_.getLong(0)).toSeq.sorted)
    }
  }

  test("two runs give the same rows in the same order in each file") {
    val path = written(spark.range(0, 20000, 1, 5).selectExpr("id % 7 k", "hash(id) h", "id"), "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val keys = Seq(KeyColumn(Seq("k"), LongType, 1d), KeyColumn(Seq("h"), IntegerType, 2d))
    def run() = rewrite(formats.head, schema, Seq(unit(path, "parquet", 9)), keys, sampleRows = Some(500L))
      .outputs.map(readOne("parquet", schema, _))
    assert(run() == run())
  }

  test("a file with too many rows becomes several, which together have the rows in the same order") {
    val columns = (0 until 61).map(i => s"id + $i c$i")
    val (parquet, orc) = (formats.head, formats.last)
    for (
      (format @ (name, _), wide, keys, shape) <- Seq(
        // With the columns that 64 columns are sorted by, the null bits of a row take another word.
        (parquet, true, Seq("k", "h"), LayoutShape(LayoutSpec.ZOrder, aligned = true)),
        (parquet, false, Seq("k", "h"), LayoutShape(LayoutSpec.Order, aligned = true)),
        (parquet, false, Seq("h"), LayoutShape(LayoutSpec.ZOrder, aligned = false)),
        (orc, false, Seq("k", "h"), LayoutShape(LayoutSpec.Hilbert, aligned = true)),
        (orc, true, Nil, LayoutShape.Packed)
      )
    ) {
      val data =
        spark.range(0, 6000, 1, 5).selectExpr((Seq("id % 50 k", "hash(id) h", "id") ++ columns.filter(_ => wide)): _*)
      val path = written(data, name)
      val none = written(data.limit(0), name)
      val schema = spark.read.format(name).load(path.toString).schema
      val by = keys.map(k => KeyColumn(Seq(k), schema(k).dataType, 1d))
      def run(most: Long) =
        rewrite(format, schema, Seq(unit(path, name, 4), unit(none, name, 1)), by, shape = shape, maxRecords = most)
      def rows(files: Seq[StagedFile]) = files.map(readOne(name, schema, _).map(_.getLong(2)))
      val whole = run(0).outputs
      val parts = run(500).outputs
      assert(parts.map(_.path).distinct.length == parts.length && parts.map(_.rows).sum == 6000)
      assert(parts.last.rows == 0 && parts.last.unit == 1)
      assert(parts.forall(_.rows <= 500) && parts.init.forall(_.rows > 0))
      assert(parts.length <= 4 + 6000 / 250 + 1)
      val ofSlot = parts.groupBy(_.slot)
      assert(whole.forall(w => rows(ofSlot(w.slot)).flatten == rows(Seq(w)).flatten), s"$name $keys $shape")
      assert(run(1000000).outputs.map(_.rows) == whole.map(_.rows))
      parts.init.foreach(checkStats(name, schema, _))
      // With a single key, no value is in two files.
      if (keys == Seq("h")) {
        val ranges = parts.init.map(p => readOne(name, schema, p).map(_.getInt(1)))
        assert(ranges.zip(ranges.tail).forall { case (a, b) => a.max < b.min })
      }
    }
  }

  test("interpreted code does the same, and adaptive execution does not merge files") {
    val df = spark.sql(s"select ${everything.replace("\n", " ")} from range(0, 2000, 1, 2)")
    val path = written(df, "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val names = Seq("d18", "d38", "f", "str", "bin", "sparse", "dt", "bool")
    val keys = names.map(k => KeyColumn(Seq(k), schema(k).dataType, 1d))
    val interpreted = Map(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
      "spark.sql.adaptive.enabled" -> "true"
    )
    for (curve <- Seq(LayoutSpec.ZOrder, LayoutSpec.Hilbert, LayoutSpec.Order)) {
      def run(conf: Map[String, String]) =
        rewrite(formats.head, schema, Seq(unit(path, "parquet", 6)), keys, conf, shape = LayoutShape(curve, false))
          .outputs.map(o => readOne("parquet", schema, o).map(text))
      val generated = run(Map.empty)
      assert(generated.length == 6 && generated == run(interpreted), curve)
    }
  }

  test("the numbers of partitions are those of slots") {
    Seq(1, 2, 7, 200, 1000).foreach { n =>
      import org.apache.spark.sql.functions.{col, spark_partition_id}
      val keys = RowPlan.slotKeys(n)
      assert(keys.distinct.length == n)
      spark.conf.set("spark.sql.adaptive.enabled", "false")
      val session = spark
      import session.implicits._
      val found = keys.toSeq.zipWithIndex.toDF("key", "slot").repartition(n, col("key"))
        .select(col("slot"), spark_partition_id()).collect()
      assert(found.forall(r => r.getInt(0) == r.getInt(1)))
      spark.conf.unset("spark.sql.adaptive.enabled")
    }
  }

  test("a missing input fails the job, whatever the caller's settings are, and the session does not change") {
    val path = written(spark.range(0, 1000, 1, 2).toDF(), "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val u = unit(path, "parquet", 2)
    u.files.head._1.getPath.getFileSystem(spark.sparkContext.hadoopConfiguration).delete(u.files.head._1.getPath, false)
    spark.sparkContext.setJobDescription("mine")
    assertThrows[org.apache.spark.SparkException](
      rewrite(
        formats.head,
        schema,
        Seq(u),
        Seq(KeyColumn(Seq("id"), LongType, 1d)),
        Map("spark.sql.files.ignoreMissingFiles" -> "true")
      )
    )
    assert(spark.sparkContext.getLocalProperty("spark.job.description") == "mine")
    assert(spark.conf.get("spark.sql.files.ignoreMissingFiles") == "false")
    spark.sparkContext.setJobDescription(null)
  }

  test("a task that fails while writing reports its error and removes its file") {
    val path = written(spark.range(0, 1000, 1, 2).toDF(), "parquet")
    val schema = spark.read.parquet(path.toString).schema
    val staging = folder()
    val job = new RewriteJob(
      spark,
      RewriteSpec(
        new FailingFormat,
        schema,
        Map.empty,
        _ => Map.empty,
        Map.empty,
        Seq(unit(path, "parquet", 2)),
        Seq(KeyColumn(Seq("id"), LongType, 1d)),
        staging,
        IndexedColumns(Nil),
        "OPTIMIZE test",
        LayoutShape(LayoutSpec.ZOrder, aligned = true)
      )
    )
    val e = intercept[org.apache.spark.SparkException](job.run())
    val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).map(_.getMessage).toSeq
    assert(causes.exists(_.contains("disk full")), causes)
    val fileSystem = staging.getFileSystem(spark.sparkContext.hadoopConfiguration)
    // The job fails with its first task. The others are killed, and clean up a moment later.
    eventually(timeout(Span(30, Seconds))) {
      val left = fileSystem.listStatus(staging).map(_.getPath.getName)
      assert(left.isEmpty, left.toSeq)
    }
  }
}

/** Parquet on a disk that fills up after some rows, so that not even closing works. */
private class FailingFormat extends ParquetFileFormat {
  override def prepareWrite(
      session: org.apache.spark.sql.SparkSession,
      job: Job,
      options: Map[String, String],
      schema: StructType
  ): OutputWriterFactory = {
    val real = super.prepareWrite(session, job, options, schema)
    new OutputWriterFactory {
      override def getFileExtension(context: TaskAttemptContext): String = real.getFileExtension(context)
      override def newInstance(path: String, schema: StructType, context: TaskAttemptContext): OutputWriter = {
        val writer = real.newInstance(path, schema, context)
        new OutputWriter {
          private var rows = 0
          override def write(row: InternalRow): Unit = {
            rows += 1
            if (rows > 100) throw new java.io.IOException("disk full")
            writer.write(row)
          }
          override def close(): Unit = {
            writer.close()
            throw new java.io.IOException("cannot close")
          }
          override def path(): String = writer.path()
        }
      }
    }
  }
}
