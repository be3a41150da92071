package org.sparkzorder.errors

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.{QueryContext, RuntimeExceptionWithCondition, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

import org.sparkzorder.codec.Json

/** A wrong statement, or a table that it cannot be run on. Nothing has been changed. */
class ZOrderAnalysisException(val condition: String, parameters: Map[String, String], cause: Option[Throwable] = None)
    extends AnalysisException(
      ErrorConditions.message(condition, parameters),
      None,
      None,
      cause,
      Some(condition),
      parameters,
      Array.empty[QueryContext]
    )
    with SparkThrowable {

  /** The message without what all conditions of its class say. */
  def reason: String = ErrorConditions.reason(condition, parameters)

  override def getSqlState: String = ErrorConditions.sqlState(condition)
  override def withPosition(origin: Origin): AnalysisException = this
}

/** An error while a statement ran. The table is as it was, unless the message says otherwise. */
class ZOrderRuntimeException(val condition: String, parameters: Map[String, String], cause: Throwable = null)
    extends RuntimeExceptionWithCondition(ErrorConditions.message(condition, parameters), cause) {
  override def getSqlState: String = ErrorConditions.sqlState(condition)
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}

/**
 * The message templates and SQLSTATEs of our error conditions, in the format of Spark's own `error-conditions.json`.
 */
private[errors] object ErrorConditions {

  private val resource = "/error/spark-zorder-error-conditions.json"

  private lazy val conditions: JsonNode = {
    val stream = getClass.getResourceAsStream(resource)
    try Json.read(stream)
    finally stream.close()
  }

  private val parameter = "<([a-zA-Z]+)>".r

  /** A condition `CLASS.SUBCLASS` has the message of its class before its own, and the SQLSTATE of the class. */
  private def entries(condition: String): Seq[JsonNode] = {
    val names = condition.split('.')
    val main = Option(conditions.get(names.head))
    val all = main.toSeq ++ names.drop(1).flatMap(sub => main.flatMap(m => Option(m.at(s"/subClass/$sub"))))
    if (all.length != names.length || all.exists(_.isMissingNode) || all.last.has("subClass"))
      throw new IllegalArgumentException(s"no error condition $condition in $resource")
    all
  }

  private def words(entry: JsonNode): String = entry.get("message").elements.asScala.map(_.asText).mkString("\n")

  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${filled(condition, parameters, entries(condition))} SQLSTATE: ${sqlState(condition)}"

  def parametersOf(condition: String): Set[String] =
    entries(condition).flatMap(e => parameter.findAllMatchIn(words(e)).map(_.group(1))).toSet

  /** The message without that of the class, the condition and the SQLSTATE. */
  def reason(condition: String, parameters: Map[String, String]): String =
    filled(condition, parameters, entries(condition).takeRight(1))

  private def filled(condition: String, parameters: Map[String, String], from: Seq[JsonNode]): String =
    parameter.replaceAllIn(
      from.map(words).mkString(" "),
      m =>
        scala.util.matching.Regex.quoteReplacement(
          parameters.getOrElse(
            m.group(1),
            throw new IllegalArgumentException(s"parameter ${m.group(1)} of $condition is missing")
          )
        )
    )

  def sqlState(condition: String): String = entries(condition).head.get("sqlState").asText
}
