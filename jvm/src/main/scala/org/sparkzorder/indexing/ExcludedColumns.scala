package org.sparkzorder.indexing

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.types.{StructField, StructType}

import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.side.ExcludedFiles
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{ExcludedNames, PlainTable, TableLocation, TableSideFolder}

/**
 * The columns whose values must not get into the index, because the table says so.
 *
 * If a statement names a table of the catalog, the table's property decides. Each such statement that changes something
 * writes the names to the side folder. Statements that name the folder by its path find them there.
 */
private[sparkzorder] object ExcludedColumns {

  val Property: String = ExcludedNames.Property

  /** Tells whether a column is excluded. Throws what [[checked]] throws. */
  def of(table: PlainTable): Seq[String] => Boolean = checked(table).covers

  /**
   * The names, which do not change as long as an operation has the table's lock.
   *
   * @throws org.apache.spark.sql.AnalysisException when the table lacks a column that its property
   *   names, which may be a typing error
   */
  def checked(table: PlainTable): ExcludedNames = {
    val excluded = names(table)
    val all = StructType(table.dataSchema.fields ++ table.partitionSchema.fields)
    // A folder may be read with a schema that lacks the column.
    if (table.catalogTable.isDefined)
      excluded.names.find(!exists(all, _)).foreach(n =>
        throw ZOrderErrors.columnNotFound(n, all.fieldNames.toSeq.map(Seq(_)))
      )
    excluded
  }

  def names(table: PlainTable): ExcludedNames =
    if (table.catalogTable.isDefined) ExcludedNames.of(table.catalogTable)
    else ExcludedFiles.read(TableSideFolder.of(table)).fold(ExcludedNames(Nil))(ExcludedNames.parse)

  /** Writes the catalog's names to the side folder. Needs the lock. */
  def remember(table: TableLocation, lock: Lock): Unit =
    table.catalogTable.foreach(t => ExcludedFiles.write(TableSideFolder.of(table), lock, textOf(t)))

  /** Whether the side folder has the names that the catalog has now. */
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
