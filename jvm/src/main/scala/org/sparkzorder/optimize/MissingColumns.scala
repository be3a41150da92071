package org.sparkzorder.optimize

import org.apache.spark.sql.types.StructType

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.FooterSettings
import org.sparkzorder.table.PlainTable

/**
 * Columns that some files of a folder lack, where a statement names the folder by its path.
 *
 * A path does not say what such a column reads as. It is NULL by the path, but a table of some catalog over the same folder
 * may have a default for it. A file that has the column gives that table the stored NULL, and the default is lost for good.
 * A table that a statement names says itself what its columns are.
 */
private[sparkzorder] object MissingColumns {

  /**
   * The table with the columns that the new files get. A column that no input has stays out of them, and so goes on to
   * read as its readers say.
   *
   * @param inputs all files that the statement rewrites
   * @param keys names of the columns that the layout needs
   * @throws org.apache.spark.sql.AnalysisException when a column is in some of the inputs and not in others
   */
  def leftOut(table: PlainTable, inputs: Seq[Input], keys: Set[String], settings: FooterSettings): PlainTable =
    if (table.catalogTable.isDefined) table
    else {
      def fold(name: String) = if (settings.caseSensitive) name else name.toLowerCase(java.util.Locale.ROOT)
      val filled = inputs.filter(_.footer.rows > 0).map(i => i -> i.footer.schema.fieldNames.map(fold).toSet)
      val columns = table.dataSchema.filterNot(f => table.partitionSchema.fieldNames.contains(f.name))
      val gone = columns.map(_.name).filter(name => filled.exists { case (_, names) => !names(fold(name)) })
      val nowhere = gone.filter(n => filled.forall { case (_, names) => !names(fold(n)) } && !keys(n)).toSet
      gone.filterNot(nowhere).headOption.foreach { name =>
        val file = filled.collectFirst { case (i, names) if !names(fold(name)) => i.status.getPath.toUri.getPath }
        throw ZOrderErrors.missingColumn(table.name, file.get, name)
      }
      val written = StructType(table.dataSchema.filterNot(f => nowhere(f.name)))
      if (nowhere.isEmpty || written.isEmpty) table
      else table.withRelation(table.relation.copy(dataSchema = written)(table.session))
    }
}
