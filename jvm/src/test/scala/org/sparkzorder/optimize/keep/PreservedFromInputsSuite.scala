package org.sparkzorder.optimize.keep

import java.io.File
import java.nio.ByteBuffer

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.exec.vector.{BytesColumnVector, LongColumnVector}
import org.apache.orc.{CompressionKind, OrcFile, OrcProto, TypeDescription}
import org.apache.orc.impl.RecordReaderImpl
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroup
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.apache.parquet.schema.Type.Repetition
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.FileSourceScanExec
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/**
 * Files of other writers keep their schema and their footers' entries, and Spark reads the same rows from them. New
 * files get Bloom filters that the writers of parquet-java and ORC make, and that Spark's own readers use.
 */
class PreservedFromInputsSuite extends AnyFunSuite with LocalSpark {

  private val conf = new Configuration

  private def data(folder: File): Seq[Path] = folder.listFiles.toSeq
    .filter(f => f.isFile && f.getName.matches("[^._].*")).sortBy(_.getName).map(f => new Path(f.toString))

  private def footer(file: Path): ParquetMetadata = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(file, conf))
    try reader.getFooter
    finally reader.close()
  }

  /** The columns of an ORC file that have a filter in its stripes, for each stripe. */
  private def filteredOrc(file: Path): Seq[Set[Int]] = {
    val reader = OrcFile.createReader(file, OrcFile.readerOptions(conf))
    val rows = reader.rows().asInstanceOf[RecordReaderImpl]
    try reader.getStripes.asScala.toSeq.map { stripe =>
        val streams = rows.readStripeFooter(stripe).getStreamsList.asScala
        streams.filter(_.getKind == OrcProto.Stream.Kind.BLOOM_FILTER_UTF8).map(_.getColumn).toSet
      }
    finally rows.close()
  }

  /** Two files of forty rows together; `fill` gets the number of each row. */
  private def parquet(name: String, schema: String, metadata: Map[String, String] = Map.empty)(
      fill: (Group, Int) => Unit
  ): File = {
    val folder = new File(dir, name)
    val message: MessageType = MessageTypeParser.parseMessageType(schema)
    (0 until 2).foreach { f =>
      val writer = ExampleParquetWriter.builder(new Path(folder.toString, s"in-$f.parquet")).withConf(conf)
        .withType(message).withExtraMetaData(metadata.asJava).build()
      try (0 until 20).foreach { i =>
          val group = new SimpleGroup(message)
          group.add("a", (f * 20 + i) * 7919 % 101)
          fill(group, f * 20 + i)
          writer.write(group)
        }
      finally writer.close()
    }
    folder
  }

  private def rows(format: String, folder: File): Seq[String] =
    spark.read.format(format).load(folder.toString).collect().map(_.toString).toSeq.sorted

  /** What was not kept, as the history says it. */
  private def optimize(format: String, folder: File): String = {
    val before = rows(format, folder)
    assert(before.nonEmpty)
    val table = s"$format.`$folder`"
    spark.sql(s"OPTIMIZE $table FULL ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()
    assert(rows(format, folder) == before)
    withSettings("spark.sql.parquet.enableVectorizedReader" -> "false")(assert(rows(format, folder) == before))
    val history = spark.sql(s"DESCRIBE HISTORY $table").orderBy("version").collect().last
    history.getAs[scala.collection.Map[String, String]]("operationMetrics").getOrElse("notKept", "")
  }

  private def schemas(folder: File): Seq[MessageType] = data(folder).map(footer(_).getFileMetaData.getSchema).distinct

  private def keepsSchema(folder: File): Unit = {
    val before = schemas(folder)
    assert(optimize("parquet", folder) == "")
    assert(schemas(folder) == before)
  }

  test("required columns, ids and Avro's schema stay", InRest) {
    val avro = """{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}"""
    val folder = parquet(
      "ids",
      """message avro.r {
        required int32 a = 4;
        required binary Text (STRING) = 9;
        required group s = 10 { required int64 t (TIMESTAMP(MILLIS,true)) = 11; optional double x = 12; }
        optional group l (LIST) = 13 { repeated group list { required int32 element = 14; } }
      }""",
      Map("parquet.avro.schema" -> avro, "mine" -> "yes")
    ) { (group, i) =>
      group.add("Text", s"t$i")
      group.addGroup("s").add("t", 1600000000000L + i)
      val list = group.addGroup("l")
      (0 until i % 3).foreach(n => list.addGroup("list").add("element", n))
    }
    keepsSchema(folder)
    data(folder).map(footer(_).getFileMetaData.getKeyValueMetaData.asScala).foreach { keys =>
      assert(keys("parquet.avro.schema") == avro && keys("mine") == "yes" && !keys.contains("writer.model.name"))
    }
  }

  test("lists in two levels stay, and repeated fields become lists of three levels", InRest) {
    val folder = parquet(
      "lists",
      """message old {
        required int32 a;
        optional group l (LIST) { repeated int32 array; }
        optional group t (LIST) { repeated group t_tuple { required int32 x; optional binary y (STRING); } }
        optional group n (LIST) { repeated group array (LIST) { repeated int32 array; } }
        optional group hive (LIST) { repeated group bag { optional binary array_element (STRING); } }
        optional group m (MAP) { repeated group map (MAP_KEY_VALUE) { required binary key (STRING); optional int32 value; } }
      }"""
    ) { (group, i) =>
      if (i % 4 > 0) {
        val Seq(list, tuples, nested, hive) = Seq("l", "t", "n", "hive").map(name => group.addGroup(name)): @unchecked
        (0 until i % 3).foreach { n =>
          tuples.addGroup("t_tuple").append("x", n)
          val inner = nested.addGroup("array")
          (0 until n).foreach(k => inner.add("array", k))
          val bag = hive.addGroup("bag")
          if (n != 1) bag.append("array_element", "x")
          list.add("array", n)
        }
        group.addGroup("m").addGroup("map").append("key", s"k$i").append("value", i)
      }
    }
    keepsSchema(folder)
    val groups = "message p { required int32 a; repeated group groups { repeated int64 x; } }"
    val bare =
      parquet("bare", groups)((row, i) => (0 until i % 3).foreach(n => row.addGroup("groups").append("x", n.toLong)))
    assert(optimize("parquet", bare) == "list encoding of `groups`; list encoding of `groups`.`element`.`x`")
    assert(schemas(bare).forall(_.getType(1).isRepetition(Repetition.OPTIONAL)))
  }

  test("decimals stay in the type that the files have") {
    val folder = parquet(
      "decimals",
      """message m {
        required int32 a;
        required fixed_len_byte_array(12) f (DECIMAL(9,2));
        optional int64 l (DECIMAL(5,1));
        optional binary wide (DECIMAL(30,1));
      }"""
    ) { (group, i) =>
      def bytes(n: Int, length: Int) = {
        val all = BigInt(n).toByteArray
        Binary.fromConstantByteArray(Array.fill[Byte](length - all.length)(if (n < 0) -1 else 0) ++ all)
      }
      group.add("f", bytes(i - 20, 12))
      group.add("l", (i - 20).toLong)
      if (i % 2 == 0) group.add("wide", bytes(i - 20, 3))
    }
    // Spark reads plain values in another way than those of a dictionary.
    withSettings("parquet.enable.dictionary" -> "false")(keepsSchema(folder))
  }

  test("new files keep the spelling of names that the old files have, and case-sensitive sessions get right answers") {
    val folder = parquet("spelling", "message m { required int32 a; optional int32 MixedCase; }") { (group, i) =>
      if (i % 2 == 0) group.add("MixedCase", i)
    }
    spark.sql(s"CREATE TABLE spelled (a INT, mixedcase INT) USING parquet LOCATION '$folder'")
    spark.sql("OPTIMIZE spelled FULL ZORDER BY (mixedcase) OPTIONS ('num-files' = '2')").collect()
    assert(schemas(folder).map(_.getType(1).getName).distinct == Seq("MixedCase"))
    assert(spark.read.parquet(folder.toString).columns.toSeq == Seq("a", "MixedCase"))
    def count = spark.sql("SELECT count(*) FROM spelled WHERE mixedcase IS NULL AND a >= 0").head().getLong(0)
    assert(count == 20)
    assert(spark.sql("SELECT count(*) FROM spelled WHERE mixedcase = 10").head().getLong(0) == 1)
    withSettings("spark.sql.caseSensitive" -> "true") {
      assert(count == 40)
      withSettings("spark.zorder.skipping.enabled" -> "false")(assert(count == 40))
    }
  }

  // Spark's vectorized reader may misread such pages.
  test("values encoded as differences in uncompressed pages of version 2 stay as they are", InRest) {
    def values(path: String) = withSettings(
      "spark.sql.parquet.enableVectorizedReader" -> "false",
      "spark.zorder.skipping.enabled" -> "false"
    )(spark.read.parquet(path).selectExpr("id", "s", "hex(b)", "d", "a").collect().map(_.toString).toVector.sorted)
    for (dictionary <- Seq("false", "true"); legacy <- Seq("true", "false")) {
      val path = new File(dir, s"plain-$dictionary-$legacy").toString
      val plain = Map("parquet.writer.version" -> "v2", "compression" -> "none")
      withSettings("spark.sql.parquet.writeLegacyFormat" -> legacy) {
        spark.range(0, 20000, 1, 4).selectExpr(
          "id", "concat('key-', id) AS s", "cast(concat('k', id) AS BINARY) AS b",
          "cast(id * 7 AS DECIMAL(12, 3)) AS d", "array(concat('e', id), NULL) AS a"
        ).write.options(plain + ("parquet.enable.dictionary" -> dictionary)).parquet(path)
      }
      val before = values(path)
      withSettings("spark.zorder.memory.enabled" -> "false", "spark.sql.parquet.enableVectorizedReader" -> "true") {
        spark.sql(s"OPTIMIZE parquet.`$path` FULL ZORDER BY (id) OPTIONS ('num-files' = '3')")
      }
      assert(new File(path).listFiles.count(_.getName.endsWith(".parquet")) == 3 && values(path) == before)
    }
  }

  test("ORC: user metadata, names, Bloom filters and compression stay") {
    val folder = new File(dir, "orc")
    val schema = TypeDescription.fromString("struct<a:int,Text:string>")
    (0 until 2).foreach { f =>
      val options =
        OrcFile.writerOptions(conf).setSchema(schema).bloomFilterColumns("Text").compress(CompressionKind.ZLIB)
      val writer = OrcFile.createWriter(new Path(folder.toString, s"in-$f.orc"), options)
      writer.addUserMetadata("mine", ByteBuffer.wrap(Array[Byte](0, -1, 65)))
      writer.addUserMetadata("differs", ByteBuffer.wrap(Array[Byte](f.toByte)))
      val batch = schema.createRowBatch()
      (0 until 20).foreach { i =>
        batch.cols(0).asInstanceOf[LongColumnVector].vector(i) = (f * 20 + i) * 7919 % 101
        batch.cols(1).asInstanceOf[BytesColumnVector].setVal(i, s"t$i".getBytes)
        batch.size += 1
      }
      writer.addRowBatch(batch)
      writer.close()
    }
    assert(optimize("orc", folder) == "key-value metadata `differs` (the files differ)")
    data(folder).foreach { f =>
      val reader = OrcFile.createReader(f, OrcFile.readerOptions(conf))
      assert(reader.getSchema.getFieldNames.asScala.toSeq == Seq("a", "Text"))
      assert(reader.getCompressionKind == CompressionKind.ZLIB)
      assert(reader.getMetadataValue("mine") == ByteBuffer.wrap(Array[Byte](0, -1, 65)))
      assert(!reader.hasMetadataValue("differs"))
      assert(reader.hasMetadataValue("org.apache.spark.version"))
      assert(filteredOrc(f).head.contains(2))
    }
  }

  // If a dictionary holds all values of a chunk, readers use that, and no filter is written.
  private def withoutDictionaries(work: => Unit): Unit = withSettings("parquet.enable.dictionary" -> "false")(work)

  /** 20,000 rows: `k` has few values, `u` is even and unique, and `s.v` is `u` as text. */
  private def table(name: String, format: String): String = {
    val folder = new File(dir, name)
    val struct = "struct(concat('v', id) AS v, id % 2 = 0 AS b) AS s"
    spark.range(0, 20000, 1, 4).selectExpr("id % 40 AS k", "id * 7919 % 20000 * 2 AS u", struct, "id AS `x.y`")
      .write.format(format).save(folder.toString)
    s"$format.`$folder`"
  }

  private def optimize(target: String, by: String, columns: String): Unit =
    spark.sql(s"OPTIMIZE $target FULL ZORDER BY ($by) OPTIONS ('num-files' = '4', 'bloom-filter-columns' = '$columns')")
      .collect()

  /** The columns that have a filter in every row group of every Parquet file. */
  private def filtered(name: String): Set[String] = data(new File(dir, name)).map { file =>
    footer(file).getBlocks.asScala.flatMap(_.getColumns.asScala).groupBy(_.getPath.toDotString)
      .collect { case (column, chunks) if chunks.forall(_.getBloomFilterOffset > 0) => column }.toSet
  }.reduce(_ & _)

  private def rowsRead(query: String, settings: (String, String)*): Long = withSettings(
    settings :+ ("spark.sql.adaptive.enabled" -> "false"): _*
  ) {
    val frame = spark.sql(query)
    frame.collect()
    frame.queryExecution.executedPlan
      .collect { case scan: FileSourceScanExec => scan.metrics("numOutputRows").value }.sum
  }

  test("the named columns of a Parquet table get Bloom filters, which readers use", InRest)(withoutDictionaries {
    val target = table("named", "parquet")
    optimize(target, "k", "u, `s`.v")
    assert(filtered("named") == Set("u", "s.v"))
    val lookup = s"SELECT * FROM $target WHERE u = 12345"
    assert(rowsRead(lookup) == 0)
    assert(rowsRead(lookup, "parquet.filter.bloom.enabled" -> "false") > 0)
    assert(spark.sql(s"SELECT * FROM $target WHERE u = 12346").count() == 1)
    assert(spark.sql(s"SELECT * FROM $target WHERE s.v = 'v77'").count() == 1)
  })

  test("the named columns of an ORC table get Bloom filters, which readers use", InRest) {
    val target = table("filtered-orc", "orc")
    optimize(target, "k", "u,s.v")
    data(new File(dir, "filtered-orc")).foreach { file =>
      val schema = OrcFile.createReader(file, OrcFile.readerOptions(conf)).getSchema
      assert(filteredOrc(file).toSet == Set(Set("u", "s.v").map(schema.findSubtype(_).getId)))
    }
    assert(spark.sql(s"SELECT * FROM $target WHERE u = 12346").count() == 1)
  }

  test("auto chooses the keys whose values have fewer rows than there are files that may contain them", InRest) {
    withoutDictionaries {
      val target = table("auto", "parquet")
      // Few files may contain a value of a sorted column, so it needs no filter.
      val sorted = ("u", "auto", Set.empty[String])
      Seq(("k, u", "auto", Set("u")), ("k, s.v", "AUTO", Set("s.v")), sorted, ("k, u", "none", Set.empty[String]))
        .foreach { case (by, columns, expected) =>
          optimize(target, by, columns)
          assert(filtered("auto") == expected, by)
        }
    }
  }

  test("columns that do not exist or cannot have a filter are refused, and no file changes") {
    val target = table("refused", "parquet")
    val before = data(new File(dir, "refused"))
    val refused = Seq("u, nothing" -> "ZORDER_COLUMN_NOT_FOUND", "u, U" -> "ZORDER_INVALID_COLUMN.DUPLICATE") ++
      Seq("s.b", "`x.y`", "u,,k", "").map(_ -> "ZORDER_INVALID_OPTION.VALUE")
    refused.foreach { case (columns, condition) =>
      assert(intercept[SparkThrowable](optimize(target, "k", columns)).getCondition == condition, columns)
    }
    assert(data(new File(dir, "refused")) == before)
  }

  test("the error names what the format cannot have in a column's name") {
    for ((format, commas) <- Seq("parquet" -> "", "orc" -> ", commas")) {
      val folder = new File(dir, s"names-$format")
      spark.range(10).selectExpr("id", "id AS `e.f`").write.format(format).save(folder.toString)
      val e = intercept[SparkThrowable](optimize(s"$format.`$folder`", "id", "`e.f`")).asInstanceOf[Exception]
      assert(e.getMessage.contains(s"columns without dots$commas and blanks at the end in their names"))
    }
  }

  test("filters that old files have take a bounded part of a writer's memory") {
    def most(columns: Int) =
      BloomFilters.kept("parquet", (1 to columns).map(i => Seq(s"c$i"))).get("parquet.bloom.filter.max.bytes")
    assert(most(0).isEmpty && most(1).isEmpty && most(32).isEmpty)
    assert(most(33).contains((512 << 10).toString) && most(300).contains((64 << 10).toString))
    assert(most(100000).contains("4096"))
    assert(BloomFilters.kept("orc", Seq.fill(300)(Seq("c"))).keySet == Set("orc.bloom.filter.columns"))
  }
}
