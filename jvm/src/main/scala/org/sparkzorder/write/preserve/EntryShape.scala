package org.sparkzorder.write.preserve

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, Type, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}

import org.sparkzorder.compat._

/**
 * How a Parquet file stores a list or a map. The rules are those of Spark's reader.
 *
 * @param levels 3 for `group f (LIST) { repeated group list { optional T element } }`, whatever the inner names, and
 *   for maps; 2 for `group f (LIST) { repeated T array }` of Avro, Thrift and Hive; 1 for `repeated T f` of Protocol
 *   Buffers
 * @param parts the element, or key and value. An element that is itself repeated is never null
 * @param repeated the group around the parts; only with three levels
 */
private[write] final case class EntryShape(levels: Int, parts: Seq[Type], repeated: Option[GroupType])

private[write] object EntryShape {

  /** Names for the parts of a list or a map, by their number. */
  def partNames(parts: Int): Seq[String] = if (parts == 1) Seq("element") else Seq("key", "value")

  /** Whether a type of Spark's own schema is a list or a map. */
  def hasEntries(t: Type): Boolean = t match {
    case g: GroupType => g.getFieldCount == 1 && g.getType(0).isRepetition(REPEATED)
    case _            => false
  }

  /**
   * @param parts 1 for a list, 2 for a map
   * @return None if the field is neither
   */
  def of(field: Type, parts: Int): Option[EntryShape] = field match {
    case bare if bare.isRepetition(REPEATED) =>
      Option.when(parts == 1)(EntryShape(1, Seq(as(bare, REQUIRED, bare.getName, None)), None))
    case g: GroupType if !hasEntries(g)           => None
    case g: GroupType if parts == 1 && !isList(g) => None
    case g: GroupType                             => g.getType(0) match {
        case entry: GroupType if entry.getFieldCount == parts && (parts == 2 || !isElement(entry, g)) =>
          Some(EntryShape(3, entry.getFields.asScala.toVector, Some(entry)))
        case element => Option.when(parts == 1)(EntryShape(2, Seq(once(element)), None))
      }
    case _ => None
  }

  private def once(repeated: Type): Type = as(repeated, REQUIRED, repeated.getName, id(repeated))

  def as(t: Type, repetition: Repetition, name: String, id: Option[Int]): Type =
    if (t.isPrimitive) {
      val p = t.asPrimitiveType
      val plain = Types.primitive(p.getPrimitiveTypeName, repetition)
      val sized = if (p.getPrimitiveTypeName == FIXED_LEN_BYTE_ARRAY) plain.length(p.getTypeLength) else plain
      val typed = Option(p.getLogicalTypeAnnotation).fold(sized)(sized.as(_))
      id.fold(typed)(typed.id(_)).named(name)
    } else group(repetition, t.getLogicalTypeAnnotation, t.asGroupType.getFields.asScala.toVector, name, id)

  private[write] def id(t: Type): Option[Int] = Option(t.getId).map(_.intValue)

  def group(
      repetition: Repetition,
      annotation: LogicalTypeAnnotation,
      fields: Seq[Type],
      name: String,
      id: Option[Int]
  ): GroupType = {
    val builder = Types.buildGroup(repetition).addFields(fields: _*)
    val typed = Option(annotation).fold(builder)(builder.as(_))
    id.fold(typed)(typed.id(_)).named(name)
  }

  private def isList(t: GroupType): Boolean = t.getLogicalTypeAnnotation.isInstanceOf[ListLogicalTypeAnnotation]

  private def isElement(repeated: GroupType, list: GroupType): Boolean =
    repeated.getFieldCount > 1 || repeated.getName == "array" || repeated.getName == s"${list.getName}_tuple"
}

/** Finds the file's field for each of the table's fields, so that new files can spell names as the old ones do. */
private[sparkzorder] object FileSpelling {

  /**
   * The file's field for each of the table's fields, whatever the case of its name. Where the table
   * has several spellings of a name, only the exact spelling counts: else two columns of the new
   * files would have one name.
   *
   * {{{
   * find(Seq("Case", "cASE", "id"), Seq("cASE", "ID"))(identity) == Seq(None, Some("cASE"), Some("ID"))
   * }}}
   *
   * @param table names of the table's fields in one struct
   * @param file fields of the file's struct
   * @return None also where several fields of the file could be meant
   */
  def find[T](table: Seq[String], file: Seq[T])(name: T => String): IndexedSeq[Option[T]] = {
    val spellings = table.groupBy(fold)
    val fields = file.groupBy(f => fold(name(f)))
    table.toIndexedSeq.map { wanted =>
      val folded = fold(wanted)
      fields.getOrElse(folded, Nil) match {
        case Seq(one) if spellings(folded).size == 1 => Some(one)
        case several => Some(several.filter(f => name(f) == wanted)).collect { case Seq(one) => one }
      }
    }
  }

  private[write] def fold(name: String): String = name.toLowerCase(Locale.ROOT)

  /** The value that all have; None when they differ, or there is none. */
  private[write] def agreed[T](all: Seq[T]): Option[T] = Some(all.distinct).collect { case Seq(one) => one }
}
