package org.sparkzorder.skipping

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll
import org.sparkzorder.predicate.OracleCases

/**
 * Hudi's and Iceberg's cases, Delta's strings and bits, over files that Spark has written, through the extension's own
 * rule: no wrong skip, and every skip that Spark's semantics allow.
 */
@TestAll
class RealOracleSuite extends AnyFunSuite with RealTables {
  import OracleCases._
  import RealOracleSuite._

  Seq("parquet", "orc").foreach { format =>
    test(s"Hudi's data skipping cases, $format files") {
      val cases = read("hudi_skipping_cases").get("cases").elements.asScala.toSeq
      val table = new RealTable(format, RealFiles.HudiSchema)
      val toRow = serializer(RealFiles.HudiSchema)
      for (c <- cases; f <- c.get("files").properties.asScala) {
        table.write(
          s"${c.get("id").asText}-${f.getKey}",
          RealFiles.hudi(f.getValue, hudiUnknown.get(c.get("id").asText)).map(toRow)
        )
      }
      table.run(s"CREATE SKIPPING INDEX ON ${table.name} (A, B, C)")
      val reader = table.reader
      cases.foreach { c =>
        val id = c.get("id").asText
        val ansi = Option(c.get("session")).exists(_.get("spark.sql.ansi.enabled").asBoolean)
        spark.conf.set("spark.sql.ansi.enabled", ansi.toString)
        val kept = reader.kept(c.get("predicate").asText).filter(_.startsWith(s"$id-")).map(_.drop(id.length + 1))
        val expected = texts(c.get("expected_keep")).toSet
        val safe = safeToKeep(c)
        val clue = s"$id: ${c.get("predicate")}: $kept"
        if (c.get("kind").asText == "optional_transform") assert(expected.subsetOf(kept) && kept.subsetOf(safe), clue)
        else assert(kept == safe, clue)
      }
      spark.conf.unset("spark.sql.ansi.enabled")
    }

    test(s"Iceberg's inclusive metrics cases, $format files") {
      val oracle = read("iceberg_metrics_cases")
      val files = oracle.get("files").properties.asScala.map(e => e.getKey -> e.getValue).toMap
      val schema = RealFiles.icebergSchema(files.values)
      val table = new RealTable(format, schema)
      val toRow = serializer(schema)
      val cases = oracle.get("cases").elements.asScala.toSeq.map(c => new IcebergCase(c))
      def rows(file: String, column: String): Seq[Row] = {
        val asked = cases.filter(_.file == file).groupMap(_.path)(_.literals).map { case (k, v) => k -> v.flatten }
        RealFiles.iceberg(files(file), column, asked).map(v =>
          Row.fromSeq(schema.names.toSeq.map(n => if (n == column) v else null))
        )
      }
      val made = cases.map(_.key).distinct.map(key => key -> rows(key._1, key._2)).toMap
      val (late, early) = made.partition { case (key, _) => noStatistics(key) }
      def write(some: Map[(String, String), Seq[Row]]): Unit =
        some.foreach { case (key, of) => table.write(name(key), of.map(toRow)) }
      write(early)
      table.run(s"CREATE SKIPPING INDEX ON ${table.name}")
      write(late)
      val reader = table.reader
      cases.foreach { c =>
        val kept = reader.kept(c.sql).contains(name(c.key))
        val matches =
          spark.createDataFrame(made(c.key).asJava, schema).where(c.sql).queryExecution.optimizedPlan match {
            case l: LocalRelation => l.data.nonEmpty
            case other            => fail(s"$other")
          }
        // The rows are made so that one matches wherever Iceberg must keep the file.
        if (c.tight || !c.keep) assert(matches == c.keep, s"${c.clue}: the rows made for it")
        assert(kept == (matches || late.contains(c.key)), c.clue)
      }
    }
  }

  test("Delta's strings that are cut, three times as long as our bounds") {
    val strings = read("delta_string_truncation_cases").get("cases").elements.asScala.map(_.get("input").asText).toSeq
      .distinct.filter(_.nonEmpty)
    val long = strings.map(s => s * (400 / s.length + 1))
    val schema = StructType.fromDDL("s STRING")
    val toRow = serializer(schema)
    Seq("parquet", "orc").foreach { format =>
      val table = new RealTable(format, schema)
      long.zipWithIndex.foreach { case (s, i) => table.write(s"f$i", Seq(s, s + "b").map(v => toRow(Row(v)))) }
      Seq(
        s"CREATE SKIPPING INDEX ON ${table.name}",
        s"OPTIMIZE ${table.name} FULL ZORDER BY (s) OPTIONS ('num-files' = '${long.size}')"
      ).foreach { statement =>
        table.run(statement)
        val reader = table.reader
        long.zip(strings).foreach { case (value, start) =>
          val equal = reader.kept(col("s") === lit(value))
          assert(equal.nonEmpty && equal.size <= long.count(_.startsWith(start)), value)
          assert(reader.kept(col("s") === lit(value + "b")).nonEmpty, value)
          assert(reader.kept(col("s") > lit(value)).nonEmpty, value)
          assert(reader.kept(col("s").startsWith(value)).nonEmpty, value)
        }
        assert(reader.kept(col("s") < lit(" ")).isEmpty)
      }
    }
  }

  // Of `delta_zorder_cases` the ranges, partitions and noise are Delta's way of dividing rows, which we do otherwise:
  // ids are mid-points of a distribution, cut points are aligned, no byte is random. What the statement says, and what
  // it refuses, is in sql-tests.
  test("Delta's interleaved bits") {
    val cases = read("delta_zorder_cases").get("interleave_bits").elements.asScala.filter(interleavesIntegers).toSeq
    val calls = cases.map { c =>
      // A null of Delta's is 0; an integer is four bytes.
      texts(c.get("inputs")).map(i => if (i == "null") "0x0" else i)
        .map(i => f"X'${java.lang.Long.parseLong(i.drop(2), 16)}%08X'").mkString("hex(interleave_bits(", ", ", "))")
    }
    val bits = spark.sql(calls.mkString("SELECT ", ", ", "")).head().toSeq.map(_.toString.toLowerCase)
    assert(bits == cases.map(_.get("hex").asText))
  }

  test("Delta's hundred rows in four files: a lookup touches no more of ours") {
    val delta = read("delta_zorder_cases").get("optimize_zorder_stats").get("after").elements.asScala.toSeq
    def touched(bounds: Seq[(Int, Int)]): Int = bounds.map { case (lo, hi) => hi - lo + 1 }.sum
    val schema = StructType.fromDDL("c1 INT, c2 INT, c3 INT")
    val table = new RealTable("parquet", schema)
    val toRow = serializer(schema)
    table.write("f", (0 until 100).map(i => toRow(Row(i, 99 - i, (i + 50) % 100))))
    table.run(s"OPTIMIZE ${table.name} ZORDER BY (c1, c2, c3) OPTIONS ('num-files' = '4', 'rewrite-all' = 'true')")
    val bounds = spark.sql(s"DESCRIBE SKIPPING INDEX ON ${table.name}").collect().toSeq
      .map(r => (r.getAs[String]("min").toInt, r.getAs[String]("max").toInt))
    assert(bounds.size == 3 * delta.size)
    val theirs = delta.flatMap(f => (0 until 3).map(i => (f.get(1).get(i).asInt, f.get(2).get(i).asInt)))
    info(
      s"lookups of every value of three columns touch ${touched(bounds)} files of ours, ${touched(theirs)} of Delta's"
    )
    assert(touched(bounds) <= touched(theirs))
  }

  private def serializer(schema: StructType): Row => InternalRow = {
    val encode = ExpressionEncoder(schema).resolveAndBind().createSerializer()
    row => encode(row).copy()
  }
}

object RealOracleSuite {

  /** One case, over the file of one column. */
  private final class IcebergCase(c: JsonNode) {
    val id: String = c.get("id").asText
    val file: String = c.get("file").asText
    val sql: String = OracleCases.icebergSql(c)
    val path: String = c.get("predicate").findValuesAsText("col").get(0).toLowerCase
    val key: (String, String) = (file, path.takeWhile(_ != '.'))
    val keep: Boolean = c.get("expected_keep_spark").asBoolean

    /** Else Iceberg keeps a file that no row of it asks for. */
    val tight: Boolean = c.get("tight").asBoolean
    val literals: Seq[JsonNode] = c.get("predicate").findValues("value").asScala.toSeq ++
      c.get("predicate").findValues("values").asScala.flatMap(_.elements.asScala)
    def clue: String = s"$id: ${c.get("sql").asText}"
  }

  private def name(key: (String, String)): String = s"${key._1}-${key._2}"

  /** Files of which nothing is known: here, those that were written after the index. */
  private def noStatistics(key: (String, String)): Boolean = key._1 == "missingStats" || key._2 == "no_stats"

  /**
   * Of Hudi's cases those over files without statistics of B, and rows by which the files that it keeps must be kept.
   * An index of ours knows B of all files.
   */
  private val hudiUnknown: Map[String, String] = Map("hudi.26" -> "abc", "hudi.28" -> "b")

  /** `x` stands for any integer, and no input for no column: the function takes at least one. */
  private def interleavesIntegers(c: JsonNode): Boolean =
    c.get("inputs").size > 0 && c.get("inputs").elements.asScala.forall(i =>
      i.asText == "null" || i.asText.startsWith("0x")
    )
}
