package org.sparkzorder.predicate

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.apache.spark.sql.types.StructType
import org.scalatest.Assertions.assert

import org.sparkzorder.Repository

/** The test cases of other projects in `jvm/src/test/resources/oracle`. */
object OracleCases {

  def read(name: String): JsonNode =
    new ObjectMapper().readTree(Repository.root.resolve(s"jvm/src/test/resources/oracle/$name.json").toFile)

  /** Asserts which files one of Hudi's cases keeps. */
  def assertHudi(c: JsonNode, kept: Set[String]): Unit = {
    // Our casts are used where no value of a file is too large for them.
    val safe = if (c.get("id").asText == "hudi.38") Set("file_2") else texts(c.get("safe_keep")).toSet
    val clue = s"${c.get("id")}: ${c.get("predicate")}: $kept"
    if (c.get("kind").asText == "optional_transform")
      assert(texts(c.get("expected_keep")).toSet.subsetOf(kept) && kept.subsetOf(safe), clue)
    else assert(kept == safe, clue)
    ()
  }

  def texts(node: JsonNode): Seq[String] = node.elements.asScala.map(_.asText).toSeq

  /** The rows of each file in one of Delta's cases. */
  def deltaFiles(spark: SparkSession, c: JsonNode): Seq[DataFrame] = {
    val ddl = Option(c.get("schema")).orElse(Option(c.get("inferred_schema"))).get.asText
    if (c.has("rows_sql")) Seq(spark.sql(c.get("rows_sql").asText))
    else {
      val files = if (c.has("files")) c.get("files").elements.asScala.toSeq.map(texts) else Seq(texts(c.get("data")))
      files.map { rows =>
        spark.read.schema(StructType.fromDDL(ddl)).json(spark.createDataset(rows)(Encoders.STRING))
      }
    }
  }

  def icebergCases(oracle: JsonNode): Seq[IcebergCase] =
    oracle.get("cases").elements.asScala.toSeq.map(new IcebergCase(_))

  /** One of Iceberg's cases, over the file of one column. */
  final class IcebergCase(c: JsonNode) {
    private val predicate = c.get("predicate")
    val file: String = c.get("file").asText

    /** `<3 ints 5..7>` stands for `5, 6, 7`. */
    val sql: String = raw"<\d+ ints (-?\d+)\.\.(-?\d+)>".r
      .replaceAllIn(c.get("sql").asText, m => (m.group(1).toInt to m.group(2).toInt).mkString(", "))
    val path: String = predicate.findValuesAsText("col").get(0).toLowerCase
    val key: (String, String) = (file, path.takeWhile(_ != '.'))
    val keep: Boolean = c.get("expected_keep_spark").asBoolean

    /** Else Iceberg keeps a file that no row of it asks for. */
    val tight: Boolean = c.get("tight").asBoolean
    val literals: Seq[JsonNode] = predicate.findValues("value").asScala.toSeq ++
      predicate.findValues("values").asScala.flatMap(_.elements.asScala)
    val clue: String = s"${c.get("id").asText}: ${c.get("sql").asText}"
  }
}
