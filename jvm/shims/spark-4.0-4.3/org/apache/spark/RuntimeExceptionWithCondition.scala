package org.apache.spark

/**
 * A Spark runtime error with a condition that is not in Spark's own list.
 *
 * PySpark converts a [[SparkRuntimeException]] into an exception of its own, but not a
 * [[SparkException]]. That class looks conditions up only in Spark's list, so everything that it
 * would find there is overridden here. It is private to Spark's package, and so this class is in
 * that package.
 */
abstract class RuntimeExceptionWithCondition(text: String, cause: Throwable)
// Every Spark knows this condition. Nobody sees it.
    extends SparkRuntimeException("INTERNAL_ERROR", Map("message" -> text), cause, Array.empty[QueryContext], "") {
  def condition: String
  override def getMessage: String = text
  override def getCondition: String = condition
  override def getSqlState: String
  override def getMessageParameters: java.util.Map[String, String]
  override def getErrorClass: String = getCondition
  override def isInternalError: Boolean = false
}
