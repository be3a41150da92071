package org.sparkzorder.command

import org.apache.spark.sql.types.{StructField, StructType}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{ExcludedNames, PlainTable}

/** Columns of whose values nothing comes into the index, because the table says so. */
private[command] object ExcludedColumns {

  val Property: String = ExcludedNames.Property

  /**
   * Whether a column is one of them. Names are compared in any case: better one too many.
   *
   * @throws org.apache.spark.sql.AnalysisException when the table has no column of a name: it was meant to be one
   */
  def of(table: PlainTable): Seq[String] => Boolean = {
    val excluded = ExcludedNames.of(table.catalogTable)
    val all = StructType(table.dataSchema.fields ++ table.partitionSchema.fields)
    excluded.names.find(!exists(all, _)).foreach(n => throw ZOrderErrors.columnNotFound(n, all.fieldNames.toSeq))
    excluded.covers
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
