package org.sparkzorder.optimize.keep

import java.io.File
import java.nio.file.{Path => LocalPath}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.{OrcFile, OrcProto}
import org.apache.orc.impl.RecordReaderImpl
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.FileSourceScanExec
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}

/** Bloom filters that the writers of parquet-java and ORC make, and that Spark's own readers use. */
class BloomFilterSuite extends AnyFunSuite with LocalSpark {

  // If a dictionary holds all values of a chunk, readers use that, and no filter is written.
  override protected def settings: Map[String, String] =
    super.settings ++ Map("spark.sql.adaptive.enabled" -> "false", "parquet.enable.dictionary" -> "false")

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

  private def files(name: String): Seq[LocalPath] =
    new File(dir, name).listFiles.toSeq.map(_.toPath).filter(_.getFileName.toString.matches("[^._].*"))

  /** The columns that have a filter in every row group of every Parquet file. */
  private def filtered(name: String): Set[String] = files(name).map { file =>
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(file.toUri), new Configuration()))
    try reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala).groupBy(_.getPath.toDotString)
        .collect { case (column, chunks) if chunks.forall(_.getBloomFilterOffset > 0) => column }.toSet
    finally reader.close()
  }.reduce(_ & _)

  private def rowsRead(query: String, settings: (String, String)*): Long = withSettings(settings: _*) {
    val frame = spark.sql(query)
    frame.collect()
    frame.queryExecution.executedPlan
      .collect { case scan: FileSourceScanExec => scan.metrics("numOutputRows").value }.sum
  }

  test("the named columns of a Parquet table get Bloom filters, which readers use", InRest) {
    val target = table("named", "parquet")
    optimize(target, "k", "u, `s`.v")
    assert(filtered("named") == Set("u", "s.v"))
    val lookup = s"SELECT * FROM $target WHERE u = 12345"
    assert(rowsRead(lookup) == 0)
    assert(rowsRead(lookup, "parquet.filter.bloom.enabled" -> "false") > 0)
    assert(spark.sql(s"SELECT * FROM $target WHERE u = 12346").count() == 1)
    assert(spark.sql(s"SELECT * FROM $target WHERE s.v = 'v77'").count() == 1)
  }

  test("the named columns of an ORC table get Bloom filters, which readers use", InRest) {
    val target = table("orc", "orc")
    optimize(target, "k", "u,s.v")
    files("orc").foreach { file =>
      val reader = OrcFile.createReader(new Path(file.toUri), OrcFile.readerOptions(new Configuration()))
      val wanted = Set("u", "s.v").map(reader.getSchema.findSubtype(_).getId)
      val rows = reader.rows().asInstanceOf[RecordReaderImpl]
      try
        reader.getStripes.asScala.foreach { stripe =>
          val streams = rows.readStripeFooter(stripe).getStreamsList.asScala
          val found = streams.filter(_.getKind == OrcProto.Stream.Kind.BLOOM_FILTER_UTF8).map(_.getColumn).toSet
          assert(found == wanted)
        }
      finally rows.close()
    }
    assert(spark.sql(s"SELECT * FROM $target WHERE u = 12346").count() == 1)
  }

  test("auto chooses the keys whose values have fewer rows than there are files that may contain them", InRest) {
    val target = table("auto", "parquet")
    // Few files may contain a value of a sorted column, so it needs no filter.
    val sorted = ("u", "auto", Set.empty[String])
    Seq(("k, u", "auto", Set("u")), ("k, s.v", "AUTO", Set("s.v")), sorted, ("k, u", "none", Set.empty[String]))
      .foreach { case (by, columns, expected) =>
        optimize(target, by, columns)
        assert(filtered("auto") == expected, by)
      }
  }

  test("columns that do not exist or cannot have a filter are refused, and no file changes") {
    val target = table("refused", "parquet")
    val before = files("refused")
    val refused = Seq("u, nothing" -> "ZORDER_COLUMN_NOT_FOUND", "u, U" -> "ZORDER_INVALID_COLUMN.DUPLICATE") ++
      Seq("s.b", "`x.y`", "u,,k", "").map(_ -> "ZORDER_INVALID_OPTION.VALUE")
    refused.foreach { case (columns, condition) =>
      assert(intercept[SparkThrowable](optimize(target, "k", columns)).getCondition == condition, columns)
    }
    assert(files("refused") == before)
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
