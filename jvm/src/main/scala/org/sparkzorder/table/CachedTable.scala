package org.sparkzorder.table

import org.apache.spark.internal.Logging
import org.apache.spark.sql.AnalysisException
import org.apache.spark.storage.StorageLevel

/** What `CACHE TABLE` keeps in memory. Spark knows it by the table's location. */
private[sparkzorder] object CachedTable extends Logging {

  /**
   * Runs work that changes the location of a table. If the session had cached the table, it is cached
   * afterwards as well, and read again when it is next used.
   */
  def following[A](table: TableLocation)(work: => A): A = {
    val session = table.session
    val name = table.catalogTable.map(_.identifier.quotedString)
    val before = name.filterNot(_ => session.sharedState.cacheManager.isEmpty).map(session.table(_))
      .map(rows => rows -> rows.storageLevel).filter(_._2 != StorageLevel.NONE)
    try work
    finally before.foreach { case (rows, level) =>
        try
          if (session.table(name.get).storageLevel == StorageLevel.NONE) {
            rows.unpersist()
            session.catalog.cacheTable(name.get, level)
          }
        // The table was dropped meanwhile.
        catch { case e: AnalysisException => logWarning(s"${table.name} is not cached any more", e) }
      }
  }
}
