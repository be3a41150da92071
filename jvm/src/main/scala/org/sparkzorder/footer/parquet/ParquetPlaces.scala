package org.sparkzorder.footer.parquet

import java.util.IdentityHashMap

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, PrimitiveType, Type}
import org.apache.parquet.schema.Type.Repetition

import org.sparkzorder.footer.{FieldNames, NameMatch}

/** Where a Parquet file has a column of the table. */
private[footer] sealed trait ParquetPlace

private[footer] object ParquetPlace {

  /**
   * @param path by the names in the file
   * @param exact whether the names agree in case as well
   * @param required whether neither the leaf nor a struct above it can be null
   */
  final case class Leaf(leaf: PrimitiveType, path: Seq[String], exact: Boolean, required: Boolean) extends ParquetPlace

  /**
   * An array, map or struct.
   *
   * @param path by the names in the file
   * @param exact whether the names agree in case as well
   * @param required whether neither it nor a struct above it can be null
   */
  final case class Group(group: GroupType, path: Seq[String], exact: Boolean, required: Boolean) extends ParquetPlace

  /** @param inAnyCase whether the file has no column of this name in any case */
  final case class Lacking(inAnyCase: Boolean) extends ParquetPlace

  /** Several columns of the file could be meant. */
  case object Unclear extends ParquetPlace

  /** The column is not one that has only structs above it. */
  case object NoLeaf extends ParquetPlace
}

/** Finds the columns of one Parquet file by the names of the table. Not thread-safe. */
private[footer] final class ParquetPlaces(schema: GroupType, caseSensitive: Boolean) {
  import ParquetPlace._

  private final class Struct(val fields: IndexedSeq[Type]) {
    val names = new FieldNames(fields.map(_.getName))
  }
  private val structs = new IdentityHashMap[GroupType, Struct]

  /** @param column a table's column, or a field in its structs */
  def of(column: Seq[String]): ParquetPlace = walk(schema, column.toList, Nil, exact = true, required = true)

  private def struct(group: GroupType): Struct =
    structs.computeIfAbsent(group, g => new Struct(g.getFields.asScala.toIndexedSeq))

  private def walk(
      group: GroupType,
      names: List[String],
      done: List[String],
      exact: Boolean,
      required: Boolean
  ): ParquetPlace = {
    val here = struct(group)
    here.names.find(names.head, caseSensitive) match {
      case NameMatch.Absent(inAnyCase) => Lacking(inAnyCase && exact)
      case NameMatch.Ambiguous         => Unclear
      case NameMatch.Found(i, same)    =>
        val field = here.fields(i)
        val path = field.getName :: done
        val never = required && field.isRepetition(Repetition.REQUIRED)
        if (field.isRepetition(Repetition.REPEATED)) NoLeaf
        else if (names.tail.isEmpty) {
          if (field.isPrimitive) Leaf(field.asPrimitiveType, path.reverse, exact && same, never)
          else Group(field.asGroupType, path.reverse, exact && same, never)
        } else if (field.isPrimitive || field.getLogicalTypeAnnotation != null) NoLeaf
        else walk(field.asGroupType, names.tail, path, exact && same, never)
    }
  }
}
