package org.sparkzorder.indexing

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.DataType

import org.sparkzorder.codec.Json
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.stats.{ColumnKey, IndexableColumns, OrderedValue}
import org.sparkzorder.table.PlainTable

/** The columns whose values an index keeps for each file: a property of the index, by the columns' paths. */
private[sparkzorder] object MembershipColumns {
  type Members = Map[Seq[String], MembershipKind]

  /** What a statement makes of the columns of the index. It is asked under the lock. */
  type Change = Members => Members

  private val property = "members"

  def of(snapshot: IndexSnapshot): Members =
    snapshot.properties.get(property).fold(Map.empty: Members) { json =>
      Json.parse(json).toSeq.flatMap(Json.elements).map(Json.texts).flatMap {
        case name +: path if path.nonEmpty => MembershipKind.of(name).map(path -> _)
        case _                             => None
      }.toMap
    }

  def properties(members: Members): Map[String, String] = {
    val sorted = members.toSeq.sortBy(_._1.mkString("."))
    Map(property -> Json.text(sorted.map { case (path, kind) => kind.name +: path }))
  }

  /** The columns with these paths, of types whose values can be compared for equality by their bytes. */
  def keys(members: Members, columns: Seq[ColumnKey]): Map[ColumnKey, MembershipKind] = {
    for (key <- columns.toVector; kind <- members.get(key.path)) yield key -> kind
  }.toMap

  /**
   * The column with this path.
   *
   * @throws org.apache.spark.sql.AnalysisException when its values cannot be kept
   */
  def checked(table: PlainTable, path: Seq[String]): ColumnKey = {
    if (ExcludedColumns.of(table)(path)) throw ZOrderErrors.excludedColumn(path, ExcludedColumns.Property)
    val key = IndexableColumns.all(table.dataSchema).find(_.path == path).get
    if (!canBe(table, key)) throw ZOrderErrors.valuesNotKept(path, typeOf(table, key))
    key
  }

  private def typeOf(table: PlainTable, key: ColumnKey): String =
    if (key.path.size == 1) raw(table, key).getOrElse(key.dataType).sql else key.dataType.sql

  /** Whether the values of a column can be kept. Of CHAR columns Spark compares values with blanks that files lack. */
  def canBe(table: PlainTable, key: ColumnKey): Boolean =
    OrderedValue.encoding(key.dataType).isDefined && !isChar(table, key)

  // A struct with a CHAR in it is taken for one.
  private def isChar(table: PlainTable, key: ColumnKey): Boolean =
    raw(table, key).exists(_.sql.matches("(?s).*\\bCHAR\\(.*"))

  /** The column's type, with the lengths that Spark keeps beside it. */
  private def raw(table: PlainTable, key: ColumnKey): Option[DataType] =
    table.dataSchema.find(_.name == key.path.head).flatMap(f => CharVarcharUtils.getRawType(f.metadata))
}
