package org.sparkzorder.errors

import java.io.IOException
import java.net.URI

import scala.jdk.CollectionConverters._
import scala.util.matching.Regex

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.FSError
import org.apache.hadoop.hdfs.protocol.QuotaExceededException
import org.apache.spark.{QueryContext, RuntimeExceptionWithCondition, SparkException, SparkThrowable}
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

  private def filled(condition: String, parameters: Map[String, String], from: Seq[JsonNode]): String = {
    def lacks(name: String) = new IllegalArgumentException(s"parameter $name of $condition is missing")
    def valueOf(name: String) = parameters.getOrElse(name, throw lacks(name))
    parameter.replaceAllIn(from.map(words).mkString(" "), m => Regex.quoteReplacement(valueOf(m.group(1))))
  }

  def sqlState(condition: String): String = entries(condition).head.get("sqlState").asText
}

/** Recognizes in Spark's exceptions that a file cannot be read. */
private[sparkzorder] object FailedRead {

  /** The file, and Spark's exception about it. In Spark 3.5 its condition has no name, but the same words. */
  def unapply(e: SparkException): Option[(String, Throwable)] =
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).take(50).collectFirst {
      case s: SparkThrowable
          if s.getMessage != null && s.getMessage.contains("error while reading file") &&
            s.getMessageParameters.containsKey("path") =>
        (new URI(s.getMessageParameters.get("path")).getPath, s.asInstanceOf[Throwable])
    }
}

/** Recognizes a full disk or a used-up quota in the exceptions of Spark and Hadoop. */
private[sparkzorder] object DiskFull {

  // Messages of the C libraries and of Windows, which the JDK passes on unchanged.
  private val phrases =
    Seq("No space left on device", "Disk quota exceeded", "File too large", "There is not enough space on the disk")

  /** The operating system's message, if the disk is full or a quota is used up. */
  def unapply(e: Throwable): Option[String] = {
    val chain = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(50).toVector
    chain.filter(isFull).lastOption.map(_.getMessage.linesIterator.take(1).mkString)
  }

  private def isFull(e: Throwable): Boolean = e match {
    case _: QuotaExceededException   => e.getMessage != null
    case _: IOException | _: FSError => Option(e.getMessage).exists(m => phrases.exists(m.contains))
    case _                           => false
  }
}
