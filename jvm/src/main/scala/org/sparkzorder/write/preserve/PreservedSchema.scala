package org.sparkzorder.write.preserve

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BINARY, INT96}
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.Type.Repetition.{OPTIONAL, REPEATED, REQUIRED}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts

import org.sparkzorder.compat._

/**
 * The schema of the new Parquet files. It has the columns of Spark's own schema in their order.
 * Where the input files agree and Spark's values fit, it has their names, ids, types and shapes.
 *
 * @param lost in words, what an input has and the new schema does not
 */
final case class PreservedSchema(schema: MessageType, lost: Seq[String])

object PreservedSchema {

  /**
   * @param spark the schema that Spark would write
   * @param inputs the different schemas of the inputs, at least one
   */
  def of(spark: MessageType, inputs: Seq[MessageType]): PreservedSchema = {
    val merge = new SchemaMerge
    val fields = merge.fields(spark, inputs, Nil)
    val name = FileSpelling.agreed(inputs.map(_.getName)).getOrElse(spark.getName)
    PreservedSchema(new MessageType(name, fields.asJava), merge.lost.distinct.toVector)
  }

  /**
   * The paths of leaves in the kept schema, by their paths in Spark's schema in lower case. Leaves
   * whose paths differ only in case are left out.
   */
  def leaves(spark: GroupType, kept: GroupType): Map[Seq[String], Seq[String]] =
    leafPaths(spark).map(_.map(FileSpelling.fold)).zip(leafPaths(kept)).groupMap(_._1)(_._2).collect {
      case (path, Seq(one)) => path -> one
    }

  private[write] def leafPaths(group: GroupType): Seq[Seq[String]] = group.getFields.asScala.toVector.flatMap { f =>
    if (f.isPrimitive) Seq(Seq(f.getName)) else leafPaths(f.asGroupType).map(f.getName +: _)
  }
}

/** Builds the fields of a [[PreservedSchema]], and notes what the inputs have and the new schema does not. */
private[write] final class SchemaMerge {
  import FileSpelling.agreed
  import SchemaMerge._

  val lost = new ArrayBuffer[String]

  private def lose(path: Seq[String], what: String): Unit = lost += s"$what of ${quoteNameParts(path)}"

  def fields(spark: GroupType, inputs: Seq[GroupType], path: Seq[String]): Seq[Type] = {
    val names = spark.getFields.asScala.map(_.getName).toVector
    val found = inputs.map(group => FileSpelling.find(names, group.getFields.asScala.toVector)((f: Type) => f.getName))
    spark.getFields.asScala.toVector.zipWithIndex.map { case (f, i) =>
      val same: Seq[Option[Type]] = found.map(_(i))
      field(f, same.flatten, same.forall(_.isDefined), path :+ f.getName)
    }
  }

  /** @param everywhere whether every input with the parent has the field, so that Spark never adds a null */
  private def field(spark: Type, inputs: Seq[Type], everywhere: Boolean, path: Seq[String]): Type =
    if (inputs.isEmpty) spark
    else {
      val head = FieldHead(
        repetitionOf(spark, inputs, everywhere),
        nameOf(spark, inputs, path),
        idOf(spark, inputs, path)
      )
      if (spark.isPrimitive) primitive(head, spark.asPrimitiveType, inputs, everywhere, path)
      else if (EntryShape.hasEntries(spark)) entries(head, spark.asGroupType, inputs, path)
      else struct(head, spark.asGroupType, inputs, path)
    }

  private def repetitionOf(spark: Type, inputs: Seq[Type], everywhere: Boolean): Repetition =
    if (spark.isRepetition(REPEATED)) REPEATED
    else if (inputs.forall(_.isRepetition(REQUIRED)) && everywhere) REQUIRED
    else if (inputs.forall(_.isRepetition(OPTIONAL))) OPTIONAL
    else if (spark.isRepetition(REQUIRED)) REQUIRED
    else OPTIONAL

  private def nameOf(spark: Type, inputs: Seq[Type], path: Seq[String]): String =
    agreed(inputs.map(_.getName)).getOrElse {
      lose(path, "spelling of the name")
      spark.getName
    }

  private def idOf(spark: Type, inputs: Seq[Type], path: Seq[String]): Option[Int] = {
    agreed(inputs.map(EntryShape.id)) match {
      case Some(one) => one.orElse(EntryShape.id(spark))
      case None      =>
        lose(path, "field id")
        None
    }
  }

  private def primitive(
      head: FieldHead,
      spark: PrimitiveType,
      inputs: Seq[Type],
      everywhere: Boolean,
      path: Seq[String]
  ): Type = {
    val types = inputs.filter(_.isPrimitive).map(_.asPrimitiveType)
      .distinctBy(t => (t.getPrimitiveTypeName, Conversion.lengthOf(t), t.getLogicalTypeAnnotation))
    val conversions = types.map(Conversion.between(spark, _))
    // A file without the column may be read with a default that is not null.
    if (types.size == 1 && conversions.head.exists(_ != Conversion.OnlyNulls || everywhere)) head.of(types.head)
    else {
      // If only some files call the bytes text, the new files call them text, and a reader may fail
      // at bytes that are not UTF-8. Other types are not lost if Spark's own type means the same.
      val isText = types.map(_.getLogicalTypeAnnotation.isInstanceOf[StringLogicalTypeAnnotation]).distinct
      val isMixed = types.forall(_.getPrimitiveTypeName == BINARY) && isText.size > 1
      val units = types.flatMap(unit).distinct
      def change = s"timestamp unit (${units.diff(unit(spark).toSeq).mkString(", ")} → ${unit(spark).mkString})"
      if (isMixed || !conversions.forall(_.contains(Conversion.Same)))
        lose(path, if (units.size > 1) change else "stored type")
      head.of(spark)
    }
  }

  private def struct(head: FieldHead, spark: GroupType, inputs: Seq[Type], path: Seq[String]): Type =
    if (inputs.forall(f => !f.isPrimitive && !f.isRepetition(REPEATED))) {
      val groups = inputs.map(_.asGroupType)
      // A shredded variant has more fields than Spark writes.
      if (groups.exists(_.getFieldCount > spark.getFieldCount)) lose(path, "fields")
      group(head, spark, groups, fields(spark, groups, path))
    } else {
      lose(path, "type")
      spark
    }

  /** A list or a map. The parts of an entry are found by their places. Lists of one level become lists of three. */
  private def entries(head: FieldHead, spark: GroupType, inputs: Seq[Type], path: Seq[String]): Type = {
    val middle = spark.getType(0).asGroupType
    val shapes = inputs.flatMap(EntryShape.of(_, middle.getFieldCount))
    if (shapes.size < inputs.size) {
      lose(path, "type")
      spark
    } else {
      val levels = agreed(shapes.map(_.levels)).filter(_ > 1)
      if (levels.isEmpty) lose(path, "list encoding")
      val parts = EntryShape.partNames(middle.getFieldCount).zipWithIndex.map { case (name, i) =>
        inner(middle.getType(i), shapes.map(_.parts(i)), levels.isDefined, path :+ name)
      }
      val repeated =
        // In a list of two levels the element itself is the repeated field.
        if (levels.contains(2)) EntryShape.as(parts.head, REPEATED, parts.head.getName, EntryShape.id(parts.head))
        else {
          val groups = shapes.flatMap(_.repeated)
          val name = agreed(groups.map(_.getName)).getOrElse(middle.getName)
          group(FieldHead(REPEATED, name, None), middle, groups, parts)
        }
      group(head, spark, inputs.collect { case g: GroupType if !g.isRepetition(REPEATED) => g }, Seq(repeated))
    }
  }

  /** An element, key or value. Users do not choose its name, so Spark's name is taken where files differ. */
  private def inner(spark: Type, inputs: Seq[Type], keepsName: Boolean, path: Seq[String]): Type = {
    val alike =
      if (keepsName && agreed(inputs.map(_.getName)).isDefined) inputs
      else inputs.map(t => EntryShape.as(t, t.getRepetition, spark.getName, EntryShape.id(t)))
    field(spark, alike, everywhere = true, path)
  }
}

private object SchemaMerge {

  private final case class FieldHead(repetition: Repetition, name: String, id: Option[Int]) {
    def of(t: Type): Type = EntryShape.as(t, repetition, name, id)
  }

  private def group(head: FieldHead, spark: Type, inputs: Seq[GroupType], fields: Seq[Type]): GroupType = {
    val annotation = FileSpelling.agreed(inputs.map(g => Option(g.getLogicalTypeAnnotation)))
      .getOrElse(Option(spark.getLogicalTypeAnnotation))
    EntryShape.group(head.repetition, annotation.orNull, fields, head.name, head.id)
  }

  private def unit(t: PrimitiveType): Option[String] = t.getLogicalTypeAnnotation match {
    case at: TimestampLogicalTypeAnnotation   => Some(s"${at.getUnit.name.toLowerCase(java.util.Locale.ROOT)}econds")
    case _ if t.getPrimitiveTypeName == INT96 => Some("INT96")
    case _                                    => None
  }
}
