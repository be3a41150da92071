package org.sparkzorder.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.{QueryContext, RuntimeExceptionWithCondition, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

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
