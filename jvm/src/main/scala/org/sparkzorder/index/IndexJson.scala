package org.sparkzorder.index

import java.io.IOException

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.core.{JsonFactory, JsonParseException, JsonParser, JsonToken, StreamReadConstraints}
import com.fasterxml.jackson.core.util.JsonParserDelegate
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.types.{DataType, StructType}

/** Reads the JSON of an index file, which is not trusted. */
private[index] object IndexJson {

  // A text that consists of brackets takes many times its bytes when it is parsed, so tokens and depth are limited.
  private val MaxTokens = 2000000L

  val mapper: ObjectMapper = {
    val factory = new JsonFactory()
    factory.setStreamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(200).build())
    new ObjectMapper(factory.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION))
  }

  def tree(json: Array[Byte]): JsonNode =
    try mapper.readTree[JsonNode](new LimitedTokens(mapper.getFactory.createParser(json), MaxTokens))
    // The exception is not passed on as the cause: it would bring a piece of the file into the log.
    catch { case _: IOException => throw new IndexFormatException("the footer is not JSON") }

  /** Stops after so many tokens. Jackson's own constraint for this is unknown to the Jackson of Spark 3.5. */
  private class LimitedTokens(parser: JsonParser, most: Long) extends JsonParserDelegate(parser) {
    private var read = 0L

    override def nextToken(): JsonToken = {
      read += 1
      if (read > most) throw new JsonParseException(this, s"more than $most tokens")
      super.nextToken()
    }
  }
}

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
      // The text is not trusted, and Spark fails in many ways here, from a MatchError to errors of its JSON parser.
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
