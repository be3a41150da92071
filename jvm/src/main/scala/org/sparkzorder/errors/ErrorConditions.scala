package org.sparkzorder.errors

import com.fasterxml.jackson.databind.JsonNode

import org.sparkzorder.codec.Json

/**
 * The message templates and SQLSTATEs of our error conditions, in the format of Spark's own
 * `error-conditions.json`.
 */
private[errors] object ErrorConditions {

  private val resource = "/error/spark-zorder-error-conditions.json"

  private lazy val conditions: JsonNode = {
    val stream = getClass.getResourceAsStream(resource)
    try Json.read(stream)
    finally stream.close()
  }

  private val parameter = "<([a-zA-Z]+)>".r

  private def entry(condition: String): JsonNode =
    Option(conditions.get(condition)).getOrElse(
      throw new IllegalArgumentException(s"no error condition $condition in $resource")
    )

  def message(condition: String, parameters: Map[String, String]): String = {
    val lines = entry(condition).get("message")
    val template = (0 until lines.size).map(lines.get(_).asText).mkString("\n")
    val text = parameter.replaceAllIn(
      template,
      m =>
        scala.util.matching.Regex.quoteReplacement(
          parameters.getOrElse(
            m.group(1),
            throw new IllegalArgumentException(s"parameter ${m.group(1)} of $condition is missing")
          )
        )
    )
    s"[$condition] $text SQLSTATE: ${sqlState(condition)}"
  }

  def sqlState(condition: String): String = entry(condition).get("sqlState").asText
}
