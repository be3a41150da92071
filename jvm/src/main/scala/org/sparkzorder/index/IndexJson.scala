package org.sparkzorder.index

import java.io.IOException

import com.fasterxml.jackson.core.{JsonFactory, JsonParseException, JsonParser, JsonToken, StreamReadConstraints}
import com.fasterxml.jackson.core.util.JsonParserDelegate
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Reads the JSON of an index file, which is not trusted. */
private[index] object IndexJson {

  // A text that consists of brackets takes many times its bytes when it is parsed, so tokens and
  // depth are limited.
  private val MaxTokens = 2000000L

  val mapper: ObjectMapper = {
    val factory = new JsonFactory()
    factory.setStreamReadConstraints(
      StreamReadConstraints.builder().maxNestingDepth(200).build()
    )
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
