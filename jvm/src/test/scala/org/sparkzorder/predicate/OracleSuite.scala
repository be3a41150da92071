package org.sparkzorder.predicate

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, OrderedValue}

/**
 * The cases of Delta, Hudi and Iceberg. We never skip a file that they say must be read. We skip
 * what they skip, except where a comment here says why not.
 */
class OracleSuite extends AnyFunSuite with OptimizedConditions {
  import OracleCases._

  private def kept(schema: StructType, condition: String, files: Seq[FileStats]): Seq[Int] =
    Evaluation.keep(predicate(schema, condition), new ModelTable(files)).stream.toArray.toSeq

  test("Delta's data skipping cases", InRest) {
    var prunable = 0
    val worse = read("delta_skipping_cases").elements.asScala.toSeq.flatMap { c =>
      val files = deltaFiles(spark, c)
      val schema = files.head.schema
      val stats = files.map(f =>
        ModelFile(schema, f.queryExecution.toRdd.map(_.copy()).collect().toSeq).exact
      )
      def count(condition: String) = kept(schema, condition, stats).size
      val must = texts(c.get("hits_must_read"))
      must.foreach { condition =>
        assert(
          count(condition) >= c.get("files_with_matching_rows").get(condition).asInt,
          s"${c.get("id")}: $condition"
        )
      }
      prunable += texts(c.get("hits_prunable_in_principle")).count(count(_) == 0)
      for (condition <- texts(c.get("misses")) if count(condition) > 0) yield s"${c.get("id")}: $condition"
    }
    info(s"$prunable conditions skip files that Delta reads in vain")
    assert(worse == Nil)
  }

  test("Hudi's data skipping cases") {
    val schema = StructType.fromDDL("A BIGINT, B STRING, C TIMESTAMP, D STRING")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    val cases = read("hudi_skipping_cases").get("cases").elements.asScala.toSeq
    try cases.foreach { c =>
        val files = c.get("files").properties.asScala.toSeq.map(f => f.getKey -> hudiStats(f.getValue))
        val names = kept(schema, c.get("predicate").asText, files.map(_._2)).map(files(_)._1).toSet
        val safe = safeToKeep(c)
        val clue = s"${c.get("id")}: ${c.get("predicate")}"
        if (c.get("kind").asText == "optional_transform") {
          assert(texts(c.get("expected_keep")).toSet.subsetOf(names) && names.subsetOf(safe), clue)
        } else assert(names == safe, clue)
      }
    finally spark.conf.unset("spark.sql.ansi.enabled")
  }

  private def hudiStats(file: JsonNode): FileStats = {
    val rows = file.get("value_count").asLong
    var most = rows
    val columns = Seq("A" -> LongType, "B" -> StringType, "C" -> TimestampType).flatMap { case (name, dataType) =>
      Option(file.get(name)).filterNot(_.isNull).map { s =>
        def bound(end: String): Any = dataType match {
          case TimestampType => Option(s.get(s"${end}_epoch_ms")).filterNot(_.isNull).map(_.asLong * 1000L).orNull
          case _             => Option(s.get(end)).filterNot(_.isNull).map(value(dataType, _)).orNull
        }
        val nulls = Option(s.get("null_count")).filterNot(_.isNull).fold(-1L)(_.asLong)
        // Some fixtures have one row, which is null, and bounds as well. So there must be another
        // row.
        if (bound("min") != null) most = math.max(most, rows + math.max(nulls, 0L))
        ColumnKey(Seq(name), dataType) -> ColumnStats(bound("min"), bound("max"), nulls, 0L)
      }
    }
    FileStats(most, columns.toMap)
  }

  test("Iceberg's inclusive metrics cases") {
    val oracle = read("iceberg_metrics_cases")
    val worse = oracle.get("cases").elements.asScala.toSeq.flatMap { c =>
      val columns = oracle.get("files").get(c.get("file").asText)
      val (schema, stats) = icebergFile(columns)
      val read = kept(schema, icebergSql(c), Seq(stats)).nonEmpty
      val expected = c.get("expected_keep_spark").asBoolean
      val clue = s"${c.get("id").asText}: ${c.get("sql").asText}"
      if (expected && c.get("tight").asBoolean) assert(read, clue)
      if (read && !expected) Some(clue) else None
    }
    assert(worse == Nil)
  }

  private def icebergFile(file: JsonNode): (StructType, FileStats) = {
    val columns = file.get("columns").properties.asScala.toSeq.map(e => (e.getKey.split('.').toSeq, e.getValue))
    // In some fixtures the number of values is not that of records. Then their expectations follow
    // the values.
    val rows = columns.map(_._2.get("value_count")).filterNot(_.isNull).map(_.asLong).distinct match {
      case Seq(values) => values
      case _           => file.get("record_count").asLong
    }
    def typed(parent: Seq[String]): StructType =
      StructType(columns.filter(c => c._1.init == parent).map { case (path, c) =>
        val dataType = c.get("type").asText match {
          case "struct" => typed(path)
          case simple   => DataType.fromDDL(simple)
        }
        StructField(path.last, dataType)
      })
    val schema = typed(Nil)
    val stats = columns.map { case (path, c) =>
      val dataType =
        path.tail.foldLeft(schema(path.head).dataType)((t, name) => t.asInstanceOf[StructType](name).dataType)
      def number(name: String) = Option(c.get(name)).filterNot(_.isNull).map(_.asLong)
      // For Iceberg an upper bound of NaN is unknown. Every value but NaN is at most infinity.
      val infinite = c.get("upper").asText == "NaN" && c.get("lower").asText != "NaN"
      def bound(name: String) =
        Option(c.get(name)).filterNot(b => b.isNull || b.asText == "NaN").map(value(dataType, _))
      val upper = if (infinite) Some(OrderedValue.ofDouble(Double.PositiveInfinity)) else bound("upper")
      val bounds = for (lo <- bound("lower"); hi <- upper) yield (lo, hi)
      val nulls = number("null_count").getOrElse(if (c.get("required").asBoolean) 0L else -1L)
      ColumnKey(path, dataType) ->
        ColumnStats(bounds.map(_._1).orNull, bounds.map(_._2).orNull, nulls, number("nan_count").getOrElse(-1L))
    }
    (schema, FileStats(rows, stats.toMap))
  }

  private def value(dataType: DataType, node: JsonNode): Any = OrderedValue.encode(
    dataType,
    dataType match {
      case IntegerType => node.asInt
      case LongType    => node.asLong
      case FloatType   => node.asDouble.toFloat
      case DoubleType  => node.asDouble
      case StringType  => UTF8String.fromString(node.asText)
      case other       => throw new IllegalArgumentException(other.catalogString)
    }
  )
}
