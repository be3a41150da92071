package org.sparkzorder.index

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types.{DataType, StructType}

import org.sparkzorder.compat._

/** Types of columns as an index file stores them. */
private[index] object TypeTexts {

  /**
   * The type's JSON. If that leaves out the collations, also the JSON of a field of the type, which
   * has them.
   */
  def of(dt: DataType): (String, Option[String]) =
    dt.json -> Option.unless(dataType(dt.json, None).contains(dt))(new StructType().add("", dt).json)

  /**
   * The type that [[of]] describes. None for a type that this Spark does not know. None too for
   * a user-defined type: its text names a class, and Spark would load this class and create an
   * instance of it.
   */
  def dataType(json: String, field: Option[String]): Option[DataType] =
    try
      if ((json +: field.toSeq).exists(text => namesClass(IndexJson.mapper.readTree(text)))) None
      else
        field match {
          case None       => Some(DataType.fromJson(json))
          case Some(text) => Some(DataType.fromJson(text)).collect { case StructType(Array(f)) => f.dataType }
        }
    catch {
      // The text is not trusted, and Spark fails in many ways here, from a MatchError to errors of
      // its JSON parser.
      case NonFatal(_) => None
    }

  private def namesClass(node: JsonNode): Boolean =
    node.path("type").asText == "udt" || node.elements.asScala.exists(namesClass)
}
