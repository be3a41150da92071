package org.apache.spark

/**
 * A runtime error of Spark's with a condition that Spark does not know.
 *
 * PySpark makes an exception of its own of a [[SparkRuntimeException]], as it does not of a [[SparkException]]. That class
 * looks conditions up in Spark's own list and nowhere else, so all that it finds there is overridden here. It is hidden
 * from other packages.
 */
abstract class RuntimeExceptionWithCondition(text: String, cause: Throwable)
// A condition that every Spark knows, and that nobody sees.
    extends SparkRuntimeException("INTERNAL_ERROR", Map("message" -> text), cause, Array.empty[QueryContext], "") {
  override def getMessage: String = text
  override def getCondition: String
  override def getSqlState: String
  override def getMessageParameters: java.util.Map[String, String]
  override def getErrorClass: String = getCondition
  override def isInternalError: Boolean = false
}
