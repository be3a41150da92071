package org.sparkzorder.scan

import java.nio.file.AccessDeniedException

import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.internal.Logging

import org.sparkzorder.table.RecoveryErrors

/**
 * Looks at a table for a query that Spark can run by itself. A user who may not read the side folder has the rows that
 * Spark lists. If it cannot be read for any other reason, the query fails: files may be being exchanged, and Spark would
 * list both sides.
 */
private[scan] object SideFolderLook extends Logging {

  /** @param name how messages name the table in this folder */
  def orElse[A](name: Path => String, otherwise: => A)(look: => A): A =
    try RecoveryErrors.told(name)(look)
    catch {
      case e @ (_: AccessControlException | _: AccessDeniedException) =>
        logWarning(s"A side folder may not be read, so the query reads what Spark lists: ${e.getMessage}", e)
        otherwise
    }
}
