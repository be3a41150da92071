package org.sparkzorder.insert

import java.util.Locale

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.catalog.CatalogTable

import org.sparkzorder.conf.TableProperties
import org.sparkzorder.optimize.options.OptionsOfTable

/** How the rows of an INSERT are put in order, by the property `zorder.write.order`. */
private[insert] object WriteOrder extends Logging {

  /** Each task sorts its rows. */
  val Local = "local"

  /** Spark's own order. */
  val NoOrder = "none"

  def of(table: CatalogTable): String = {
    val default = if (OptionsOfTable.clusteredBy(table.properties).isDefined) Local else NoOrder
    table.properties.get(TableProperties.writeOrder.key).map(_.trim.toLowerCase(Locale.ROOT)) match {
      case _ if !isOfFiles(table)         => NoOrder
      case None                           => default
      case Some(word @ (Local | NoOrder)) => word
      case Some(other)                    =>
        logWarning(
          s"${table.identifier.quotedString} is written in Spark's own order: its property " +
            s"'${TableProperties.writeOrder.key}' is '$other', and not ${TableProperties.writeOrder.range}"
        )
        NoOrder
    }
  }

  /** Tables of Hive are those that Spark writes by itself. */
  private def isOfFiles(table: CatalogTable): Boolean =
    table.provider.exists(p => Set("parquet", "orc", "hive")(p.toLowerCase(Locale.ROOT)))
}
