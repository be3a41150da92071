package org.sparkzorder.table

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.catalog.CatalogTable

import org.sparkzorder.conf.TableProperties

/**
 * The names of columns whose values must not get into the table's side folder.
 *
 * @param names of columns, or of fields in structs, by their parts; a struct stands for all its fields
 */
final case class ExcludedNames(names: Seq[Seq[String]]) {

  /**
   * Whether a column is one of them. The case of names is ignored, since excluding one column too many does no harm.
   */
  def covers(path: Seq[String]): Boolean =
    names.exists(n => n.length <= path.length && n.zip(path).forall { case (a, b) => a.equalsIgnoreCase(b) })
}

object ExcludedNames {

  /** Table property: the names with commas between. */
  val Property: String = TableProperties.excludedColumns.key

  // Commas within backquotes belong to a name.
  private val name = "(?:`[^`]*`|[^,`])+".r

  /** @throws org.apache.spark.sql.AnalysisException when the property contains a text that is not a name */
  def of(table: Option[CatalogTable]): ExcludedNames =
    table.flatMap(_.properties.get(Property)).fold(ExcludedNames(Nil))(parse)

  def parse(text: String): ExcludedNames = ExcludedNames(
    name.findAllIn(text).map(_.trim).filter(_.nonEmpty).map(UnresolvedAttribute.parseAttributeName).toVector
  )
}
