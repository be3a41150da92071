package org.sparkzorder.indexing

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, StructField, StructType}

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.side.{ExcludedFiles, WorkloadFiles}
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.stats.{ColumnKey, IndexableColumns, OrderedValue}
import org.sparkzorder.table.{ExcludedNames, PlainTable, TableLocation, TableSideFolder}
import org.sparkzorder.workload.{SketchJson, WorkloadRecorder, WorkloadSketch}

/** The columns whose values an index keeps for each file: a property of the index, by the columns' paths. */
private[sparkzorder] object MemberColumns {
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
    val array = Json.newArray()
    members.toSeq.sortBy(_._1.mkString(".")).foreach { case (path, kind) =>
      Json.addAll(array.addArray(), kind.name +: path)
    }
    Map(property -> Json.text(array))
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

/** The recorded workload of a table: the conditions of queries of all processes. */
private[sparkzorder] object RecordedWorkload {

  /** Leaves out columns that the index must not contain. */
  def of(table: PlainTable): WorkloadSketch = {
    // Includes what this process has recorded but not written yet.
    WorkloadRecorder.flush()
    read(TableSideFolder.of(table)).without(ExcludedColumns.of(table))
  }

  /** Deletes everything recorded if it mentions such columns. */
  def forget(excluded: ExcludedNames, folder: TableFolder): Unit =
    if (excluded.names.nonEmpty && read(folder).columns.exists(c => excluded.covers(JoinSpec.columnOf(c._1))))
      WorkloadFiles.clear(folder)

  private def read(folder: TableFolder): WorkloadSketch =
    WorkloadFiles.read(folder)(SketchJson.read).foldLeft(WorkloadSketch.empty)(_ ++ _)
}
