package org.sparkzorder.optimize.check

import java.util.Locale

import org.apache.spark.sql.types.StructType

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{FileFooter, FooterSettings}
import org.sparkzorder.optimize.Input
import org.sparkzorder.table.PlainTable

/**
 * Columns that some files of a folder lack, if the statement names the folder by its path.
 *
 * By the path, such a column reads as NULL. But a catalog may have a table over the same folder that has a default for
 * it. If a new file had the column, that table would read the stored NULL, and its default would be lost for good. If
 * the statement names a table of a catalog, the table says what the column reads as.
 */
private[sparkzorder] object MissingColumns {

  /**
   * The table with only the columns that the new files get. They do not get a column that no input has, so each reader
   * goes on to see its own default.
   *
   * @param inputs all files that the statement rewrites
   * @param keys names of the key columns, which the layout needs
   * @throws org.apache.spark.sql.AnalysisException when a column is in some of the inputs and not in others
   */
  def leftOut(table: PlainTable, inputs: Seq[Input], keys: Set[String], settings: FooterSettings): PlainTable =
    if (table.catalogTable.isDefined) table
    else {
      def fold(name: String) = if (settings.caseSensitive) name else name.toLowerCase(java.util.Locale.ROOT)
      val withRows = inputs.filter(_.footer.rows > 0).map(i => i -> i.footer.schema.fieldNames.map(fold).toSet)
      val missing =
        table.dataSchema.map(_.name).filter(name => withRows.exists { case (_, names) => !names(fold(name)) })
      val nowhere = missing.filter(n => withRows.forall { case (_, names) => !names(fold(n)) } && !keys(n)).toSet
      missing.filterNot(nowhere).headOption.foreach { name =>
        val file = withRows.collectFirst { case (i, names) if !names(fold(name)) => i.status.getPath.toUri.getPath }
        throw ZOrderErrors.missingColumn(table.name, file.get, name)
      }
      val written = StructType(table.dataSchema.filterNot(f => nowhere(f.name)))
      if (nowhere.isEmpty || written.isEmpty) table
      else table.withRelation(table.relation.copy(dataSchema = written)(table.session))
    }
}

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
