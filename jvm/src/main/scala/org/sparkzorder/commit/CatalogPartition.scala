package org.sparkzorder.commit

/**
 * What has a location in the catalog: a partition, or the table itself.
 *
 * @param values the partition's columns and values, in the table's order and as the catalog spells
 *               them; empty for the table itself
 */
final case class CatalogPartition(values: Seq[(String, String)]) {
  def isTable: Boolean = values.isEmpty

  override def toString: String =
    if (isTable) "the table" else values.map { case (column, value) => s"$column=$value" }.mkString("/")
}

object CatalogPartition {
  val Table: CatalogPartition = CatalogPartition(Nil)
}
