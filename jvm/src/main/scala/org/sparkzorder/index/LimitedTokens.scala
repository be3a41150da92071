package org.sparkzorder.index

import com.fasterxml.jackson.core.{JsonParseException, JsonParser, JsonToken}
import com.fasterxml.jackson.core.util.JsonParserDelegate

/** Stops after so many tokens. Jackson's own constraint for this is unknown to the Jackson of Spark 3.5. */
private[index] class LimitedTokens(parser: JsonParser, most: Long) extends JsonParserDelegate(parser) {
  private var read = 0L

  override def nextToken(): JsonToken = {
    read += 1
    if (read > most) throw new JsonParseException(this, s"more than $most tokens")
    super.nextToken()
  }
}
