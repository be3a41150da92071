package org.sparkzorder

import org.apache.spark.SPARK_VERSION

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.shim.SparkMinor

/**
 * Whether the jar fits the Spark that runs it. One for another minor version loads, and may even rewrite a table; it fails
 * later, with a `NoSuchMethodError`, wherever it calls what is different there.
 *
 * That Spark may have another Scala too. Spark only logs that it misses a class of ours or of Scala's and starts without the
 * extension. So nothing here may need what Scala 2.12 and 2.13 do not both have: no string interpolation, no regular
 * expression, no collection.
 */
private[sparkzorder] object SparkVersionCheck {

  /** A version may have a vendor's name behind it, as in `4.1.0-amzn-0`. */
  def fits(running: String): Boolean = {
    val minor = SparkMinor.compiledFor
    running.startsWith(minor) && (running.length == minor.length || !Character.isDigit(running.charAt(minor.length)))
  }

  def check(): Unit = if (!fits(SPARK_VERSION)) throw wrongJar(SPARK_VERSION)

  private def wrongJar(running: String): Throwable =
    try ZOrderErrors.wrongJar(SparkMinor.compiledFor, running)
    catch {
      // The same words as the condition's.
      case _: LinkageError => new IllegalStateException(
          "[ZORDER_WRONG_JAR] This jar of spark-zorder is for Spark ".concat(SparkMinor.compiledFor)
            .concat(", and this is Spark ").concat(running)
            .concat(
              ". In its place use the jar that `spark_zorder.jar_path()` names, with the version of this Spark in its name."
            )
        )
    }
}
