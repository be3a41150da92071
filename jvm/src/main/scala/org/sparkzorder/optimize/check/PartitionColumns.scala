package org.sparkzorder.optimize.check

import java.util.Locale

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{FileFooter, FooterSettings}
import org.sparkzorder.table.PlainTable

/**
 * Partition columns that files have inside as well. Spark takes the folder's value, and other readers may take the
 * file's. So a rewrite keeps the file's values as they are, which it can if all files have the column.
 */
private[sparkzorder] object PartitionColumns {

  /**
   * @param footers of all files that the statement rewrites
   * @throws org.apache.spark.sql.AnalysisException when only some files have such a column, or the schema of a
   *   catalog's table leaves it out
   */
  def refuseInSomeFiles(table: PlainTable, footers: Seq[FileFooter], settings: FooterSettings): Unit = {
    def fold(name: String) = if (settings.caseSensitive) name else name.toLowerCase(Locale.ROOT)
    val withRows = footers.filter(_.rows > 0).map(f => f -> f.schema.fieldNames.map(fold).toSet)
    table.partitionSchema.fieldNames.foreach { name =>
      val (inside, outside) = withRows.partition(_._2(fold(name)))
      inside.headOption.filter(_ => outside.nonEmpty || table.catalogTable.isDefined).foreach { case (has, _) =>
        throw ZOrderErrors.partitionColumnInFiles(table.name, has.path, name, outside.headOption.map(_._1.path))
      }
    }
  }
}
