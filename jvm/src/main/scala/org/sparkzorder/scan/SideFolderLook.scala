package org.sparkzorder.scan

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.table.RecoveryErrors

/**
 * Looks at a table for a query that Spark can run by itself. If its side folder cannot be looked at, the query runs as
 * it would without us. It fails if files are being exchanged and it would read both sides.
 */
private[scan] object SideFolderLook extends Logging {

  /** @param name how messages name the table in this folder */
  def orElse[A](name: Path => String, otherwise: => A)(look: => A): A =
    try RecoveryErrors.told(name)(look)
    catch {
      case e: ZOrderRuntimeException => throw e
      case NonFatal(e)               =>
        logWarning(s"A side folder cannot be looked at, so the query reads what Spark lists: ${e.getMessage}", e)
        otherwise
    }
}
