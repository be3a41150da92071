package org.sparkzorder.command

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.types.{StructField, StructType}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.PlainTable

/** Columns of whose values nothing comes into the index, because the table says so. */
private[command] object ExcludedColumns {

  /** Table property: names of columns or of fields in structs, with commas between. A struct stands for all its fields. */
  val Property = "zorder.index.exclude-columns"

  // Commas in backquotes belong to a name.
  private val name = "(?:`[^`]*`|[^,`])+".r

  /**
   * Whether a column is one of them. Names are compared in any case: better one too many.
   *
   * @throws org.apache.spark.sql.AnalysisException when the table has no column of a name: it was meant to be one
   */
  def of(table: PlainTable): Seq[String] => Boolean = {
    val text = table.catalogTable.flatMap(_.properties.get(Property)).getOrElse("")
    val named = name.findAllIn(text).map(_.trim).filter(_.nonEmpty).map(UnresolvedAttribute.parseAttributeName).toSeq
    val all = StructType(table.dataSchema.fields ++ table.partitionSchema.fields)
    named.find(!exists(all, _)).foreach(n => throw ZOrderErrors.columnNotFound(n, all.fieldNames.toSeq))
    path => named.exists(n => n.length <= path.length && n.zip(path).forall { case (a, b) => a.equalsIgnoreCase(b) })
  }

  private def exists(schema: StructType, path: Seq[String]): Boolean = schema.exists {
    case StructField(field, inner, _, _) if field.equalsIgnoreCase(path.head) =>
      path.tail.isEmpty || (inner match {
        case s: StructType => exists(s, path.tail)
        case _             => false
      })
    case _ => false
  }
}
