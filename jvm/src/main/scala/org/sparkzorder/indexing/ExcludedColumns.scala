package org.sparkzorder.indexing

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.types.{StructField, StructType}

import org.sparkzorder.commit.{ExcludedFiles, Lock}
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{ExcludedNames, PlainTable, TableLocation, TableSideFolder}

/**
 * Columns of whose values nothing comes into the index, because the table says so.
 *
 * The property of a catalog's table decides where a statement names the table. Each such statement that changes something
 * leaves the names in the side folder, where statements that name the folder by its path find them.
 */
private[sparkzorder] object ExcludedColumns {

  val Property: String = ExcludedNames.Property

  /**
   * Whether a column is one of them. Names are compared in any case: better one too many.
   *
   * @throws org.apache.spark.sql.AnalysisException when the table has no column of a name: it was meant to be one
   */
  def of(table: PlainTable): Seq[String] => Boolean = {
    val excluded = names(table)
    val all = StructType(table.dataSchema.fields ++ table.partitionSchema.fields)
    // A path may be read without the column.
    if (table.catalogTable.isDefined)
      excluded.names.find(!exists(all, _)).foreach(n => throw ZOrderErrors.columnNotFound(n, all.fieldNames.toSeq))
    excluded.covers
  }

  /** By the table's property, or as the side folder remembers it. */
  def names(table: PlainTable): ExcludedNames =
    if (table.catalogTable.isDefined) ExcludedNames.of(table.catalogTable)
    else ExcludedFiles.read(TableSideFolder.of(table)).fold(ExcludedNames(Nil))(ExcludedNames.parse)

  /** Leaves in the side folder what the catalog says now. Needs the lock. */
  def remember(table: TableLocation, lock: Lock): Unit =
    table.catalogTable.foreach(t => ExcludedFiles.write(TableSideFolder.of(table), lock, textOf(t)))

  /** Whether the side folder has what the catalog says now. */
  def areRemembered(table: TableLocation): Boolean =
    table.catalogTable.forall(t => ExcludedFiles.read(TableSideFolder.of(table)) == textOf(t))

  private def textOf(t: CatalogTable): Option[String] =
    t.properties.get(Property).filter(_ => ExcludedNames.of(Some(t)).names.nonEmpty)

  private def exists(schema: StructType, path: Seq[String]): Boolean = schema.exists {
    case StructField(field, inner, _, _) if field.equalsIgnoreCase(path.head) =>
      path.tail.isEmpty || (inner match {
        case s: StructType => exists(s, path.tail)
        case _             => false
      })
    case _ => false
  }
}
