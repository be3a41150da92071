package org.sparkzorder.write.preserve

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, Type, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}

/** The ways in which Parquet files store lists. */
private[write] sealed trait ListShape

private[write] object ListShape {

  /** `group f (LIST) { repeated group list { optional T element } }`, whatever the inner names. */
  case object ThreeLevels extends ListShape

  /**
   * `group f (LIST) { repeated T array }`, of old Avro, Thrift and Hive writers: no element can be
   * null.
   */
  case object TwoLevels extends ListShape

  /** `repeated T f`, of Protocol Buffers: the list cannot be null either. */
  case object Bare extends ListShape

  /**
   * The shape of a list, and the element's type; None for a field that is not a list. The rules are
   * those of Spark's reader. An element that is itself the repeated field is never null.
   */
  def of(field: Type): Option[(ListShape, Type)] =
    if (field.isRepetition(REPEATED)) Some((Bare, as(field, REQUIRED, field.getName, id(field))))
    else if (field.isPrimitive || !isList(field.getLogicalTypeAnnotation)) None
    else {
      val group = field.asGroupType
      if (group.getFieldCount != 1 || !group.getType(0).isRepetition(REPEATED)) None
      else {
        val repeated = group.getType(0)
        if (isElement(repeated, group)) Some((TwoLevels, as(repeated, REQUIRED, repeated.getName, id(repeated))))
        else Some((ThreeLevels, repeated.asGroupType.getType(0)))
      }
    }

  /** The same type with another repetition, name and id. */
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

  private def isList(annotation: LogicalTypeAnnotation): Boolean = annotation.isInstanceOf[ListLogicalTypeAnnotation]

  private def isElement(repeated: Type, list: GroupType): Boolean =
    repeated.isPrimitive || repeated.asGroupType.getFieldCount > 1 || repeated.getName == "array" ||
      repeated.getName == s"${list.getName}_tuple"
}
