package org.sparkzorder.index

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types.{DataType, StructType}

/** Types of columns as an index file stores them. */
private[index] object TypeTexts {

  /** The JSON of a field of the type. Other than that of the type alone, it has collations. */
  def of(dt: DataType): String = new StructType().add("f", dt).json

  /**
   * The type that [[of]] describes. None for a type that this Spark does not know. None too for
   * a user-defined type: its text names a class, and Spark would load this class and create an
   * instance of it.
   */
  def dataType(json: String): Option[DataType] =
    try
      if (namesClass(IndexJson.mapper.readTree(json))) None
      else Some(DataType.fromJson(json)).collect { case StructType(Array(f)) => f.dataType }
    catch {
      // The text is not trusted, and Spark fails in many ways here, from a MatchError to errors of
      // its JSON parser.
      case NonFatal(_) => None
    }

  private def namesClass(node: JsonNode): Boolean =
    node.path("type").asText == "udt" || node.elements.asScala.exists(namesClass)

  /**
   * The same function, but called only once for each argument: there may be thousands of columns of a few types. Not
   * safe for use by several threads.
   */
  def memo[A, B](f: A => B): A => B = {
    val known = mutable.HashMap.empty[A, B]
    a => known.getOrElseUpdate(a, f(a))
  }
}
