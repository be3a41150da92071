package org.sparkzorder.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.types.{DataType, StringType, StructField, StructType}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.stats.{ColumnKey, OrderedValue}

object KeyColumns {

  /**
   * Finds a column, or a field of a struct, by the parts of its name. The result has the table's own spelling.
   *
   * @throws org.apache.spark.sql.AnalysisException when it is unknown, a partition column, or of a type without an
   *   order
   */
  def resolve(table: PlainTable, parts: Seq[String]): (Seq[String], DataType) = {
    val resolver = table.session.sessionState.conf.resolver
    val isPartition = table.partitionSchema.exists(f => resolver(f.name, parts.head))
    if (isPartition && parts.size == 1) throw ZOrderErrors.partitionColumn(parts)
    val fields = find(table.dataSchema, parts, resolver).getOrElse(throw notFound(table.dataSchema, parts, resolver))
    (fields.map(_.name), keyType(fields))
  }

  /**
   * The type by which rows are put in order by a column.
   *
   * @param fields from the column down to the field of a struct
   * @throws org.apache.spark.sql.AnalysisException when it is of a type without an order
   */
  def keyType(fields: Seq[StructField]): DataType = {
    val keyType = fields.last.dataType match {
      case _: StringType => StringType // any order clusters; the binary one is the one that statistics have
      case other         => other
    }
    if (OrderedValue.encoding(keyType).isEmpty)
      throw ZOrderErrors.unsupportedColumnType(fields.map(_.name), fields.last.dataType.sql)
    keyType
  }

  /**
   * Tells whether a column is one of those named, or a field in a struct that is named.
   *
   * @throws org.apache.spark.sql.AnalysisException when the table lacks one of the named columns
   */
  def named(table: PlainTable, columns: Seq[Seq[String]]): ColumnKey => Boolean = {
    val resolver = table.session.sessionState.conf.resolver
    val paths = columns.map { parts =>
      find(table.dataSchema, parts, resolver).map(_.map(_.name))
        .getOrElse(throw notFound(table.dataSchema, parts, resolver))
    }.toSet
    column => column.path.inits.exists(paths)
  }

  /** The error names the columns, or the fields of the innermost struct that was found. */
  private def notFound(schema: StructType, parts: Seq[String], resolver: Resolver): Throwable = {
    val known = parts.inits.drop(1).flatMap(outer =>
      if (outer.isEmpty) Some(schema.fieldNames.toSeq.map(Seq(_)))
      else find(schema, outer, resolver).map(of => (of.map(_.name), of.last.dataType)).collect {
        case (path, inner: StructType) => inner.fieldNames.toSeq.map(path :+ _)
      }
    ).next()
    ZOrderErrors.columnNotFound(parts, known)
  }

  /** Finds all of them, and refuses a column that is named twice. */
  def resolveAll(table: PlainTable, columns: Seq[Seq[String]]): Seq[(Seq[String], DataType)] = {
    val resolved = columns.map(resolve(table, _))
    refuseDoubled(resolved.map(_._1))
    resolved
  }

  def refuseDoubled(paths: Seq[Seq[String]]): Unit =
    paths.diff(paths.distinct).headOption.foreach(c => throw ZOrderErrors.duplicateColumn(c))

  /** The fields from a column down to the field of a struct; None if there is no such one, or if there are two. */
  def find(schema: StructType, parts: Seq[String], resolver: Resolver): Option[Seq[StructField]] =
    parts.headOption.flatMap { name =>
      schema.fields.filter(f => resolver(f.name, name)) match {
        case Array(field) if parts.size == 1 => Some(Seq(field))
        case Array(field)                    =>
          field.dataType match {
            case inner: StructType => find(inner, parts.tail, resolver).map(field +: _)
            case _                 => None
          }
        case _ => None
      }
    }
}
