package org.sparkzorder.predicate

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, OrderedValue}

/** The cases of Delta, Hudi and Iceberg. We read what they must read, and skip what they skip. */
class OracleSuite extends AnyFunSuite with OptimizedConditions {
  import OracleCases._

  private def kept(schema: StructType, condition: String, files: Seq[FileStats]): Seq[Int] =
    Evaluation.keep(predicate(schema, condition), new ModelTable(files)).stream.toArray.toSeq

  test("Delta's data skipping cases", InRest) {
    var prunable = 0
    val worse = read("delta_skipping_cases").elements.asScala.toSeq.flatMap { c =>
      val files = deltaFiles(spark, c)
      val schema = files.head.schema
      val stats = files.map(f => ModelFile(schema, f.queryExecution.toRdd.map(_.copy()).collect().toSeq).exact)
      def count(condition: String) = kept(schema, condition, stats).size
      texts(c.get("hits_must_read")).foreach { condition =>
        val matching = c.get("files_with_matching_rows").get(condition).asInt
        assert(count(condition) >= matching, s"${c.get("id")}: $condition")
      }
      prunable += texts(c.get("hits_prunable_in_principle")).count(count(_) == 0)
      for (condition <- texts(c.get("misses")) if count(condition) > 0) yield s"${c.get("id")}: $condition"
    }
    info(s"$prunable conditions skip files that Delta reads in vain")
    assert(worse == Nil)
  }

  test("Hudi's data skipping cases") {
    val schema = StructType.fromDDL("A BIGINT, B STRING, C TIMESTAMP, D STRING")
    withSettings("spark.sql.ansi.enabled" -> "false") {
      read("hudi_skipping_cases").get("cases").elements.asScala.foreach { c =>
        val files = c.get("files").properties.asScala.toSeq.map(f => f.getKey -> hudiStats(f.getValue))
        assertHudi(c, kept(schema, c.get("predicate").asText, files.map(_._2)).map(files(_)._1).toSet)
      }
    }
  }

  private def present(node: JsonNode, name: String): Option[JsonNode] = Option(node.get(name)).filterNot(_.isNull)

  private def hudiStats(file: JsonNode): FileStats = {
    val rows = file.get("value_count").asLong
    var most = rows
    val columns = Seq("A" -> LongType, "B" -> StringType, "C" -> TimestampType).flatMap { case (name, dataType) =>
      present(file, name).map { s =>
        def bound(end: String): Any = dataType match {
          case TimestampType => present(s, s"${end}_epoch_ms").map(_.asLong * 1000L).orNull
          case _             => present(s, end).map(value(dataType, _)).orNull
        }
        val nulls = present(s, "null_count").fold(-1L)(_.asLong)
        // Some fixtures have one row, which is null, and bounds as well. So there must be another row.
        if (bound("min") != null) most = math.max(most, rows + math.max(nulls, 0L))
        ColumnKey(Seq(name), dataType) -> ColumnStats(bound("min"), bound("max"), nulls, 0L)
      }
    }
    FileStats(most, columns.toMap)
  }

  test("Iceberg's inclusive metrics cases") {
    val oracle = read("iceberg_metrics_cases")
    val worse = icebergCases(oracle).filter { c =>
      val (schema, stats) = icebergFile(oracle.get("files").get(c.file))
      val isRead = kept(schema, c.sql, Seq(stats)).nonEmpty
      if (c.keep && c.tight) assert(isRead, c.clue)
      isRead && !c.keep
    }
    assert(worse.map(_.clue) == Nil)
  }

  private def icebergFile(file: JsonNode): (StructType, FileStats) = {
    val columns = file.get("columns").properties.asScala.toSeq.map(e => (e.getKey.split('.').toSeq, e.getValue))
    // In some fixtures the number of values is not that of records. Then their expectations follow the values.
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
      def number(name: String) = present(c, name).map(_.asLong)
      // For Iceberg an upper bound of NaN is unknown. Every value but NaN is at most infinity.
      val infinite = c.get("upper").asText == "NaN" && c.get("lower").asText != "NaN"
      def bound(name: String) = present(c, name).filterNot(_.asText == "NaN").map(value(dataType, _))
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
