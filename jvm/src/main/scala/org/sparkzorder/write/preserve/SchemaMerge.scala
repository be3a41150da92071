package org.sparkzorder.write.preserve

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BINARY, INT96}
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.Type.Repetition.{OPTIONAL, REPEATED, REQUIRED}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts

import org.sparkzorder.compat._

/**
 * Builds the fields of a [[KeptSchema]], and notes what the inputs have and the new schema does
 * not.
 */
private[write] final class SchemaMerge {
  import SchemaMerge._

  val lost = new ArrayBuffer[String]

  private def lose(path: Seq[String], what: String): Unit = lost += s"$what of ${quoteNameParts(path)}"

  /** The fields of a struct. */
  def fields(spark: GroupType, inputs: Seq[GroupType], path: Seq[String]): Seq[Type] = {
    val names = spark.getFields.asScala.map(_.getName).toVector
    val found = inputs.map(group => FileSpelling.find(names, group.getFields.asScala.toVector)((f: Type) => f.getName))
    spark.getFields.asScala.toVector.zipWithIndex.map { case (f, i) =>
      val same: Seq[Option[Type]] = found.map(_(i))
      field(f, same.flatten, same.forall(_.isDefined), path :+ f.getName)
    }
  }

  /**
   * @param everywhere whether every input with the parent has the field, so that Spark never adds a
   *   null
   */
  private def field(spark: Type, inputs: Seq[Type], everywhere: Boolean, path: Seq[String]): Type =
    if (inputs.isEmpty) spark
    else {
      val head = FieldHead(
        repetitionOf(spark, inputs, everywhere),
        nameOf(spark, inputs, path),
        idOf(spark, inputs, path)
      )
      if (spark.isPrimitive) primitive(head, spark.asPrimitiveType, inputs, everywhere, path)
      else if (isList(spark)) list(head, spark.asGroupType, inputs, everywhere, path)
      else if (isMap(spark)) map(head, spark.asGroupType, inputs, path)
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
    def id(t: Type) = Option(t.getId).map(_.intValue)
    agreed(inputs.map(id)) match {
      case Some(one) => one.orElse(id(spark))
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

  private def list(
      head: FieldHead,
      spark: GroupType,
      inputs: Seq[Type],
      everywhere: Boolean,
      path: Seq[String]
  ): Type = {
    val found = inputs.map(ListShape.of)
    if (found.exists(_.isEmpty)) {
      lose(path, "type")
      spark
    } else {
      val (shapes, elements) = found.flatten.unzip
      val middle = spark.getType(0).asGroupType
      val element = inner(middle.getType(0), elements, path :+ "element")
      val groups = inputs.filter(f => !f.isPrimitive && !f.isRepetition(REPEATED)).map(_.asGroupType)
      agreed(shapes).filter(_ != ListShape.Bare || everywhere) match {
        case Some(ListShape.Bare) => ListShape.as(element, REPEATED, head.name, ListShape.id(element))
        // In a list of two levels the element itself is the repeated field.
        case Some(ListShape.TwoLevels) =>
          group(head, spark, groups, Seq(ListShape.as(element, REPEATED, element.getName, ListShape.id(element))))
        case Some(ListShape.ThreeLevels) =>
          val repeated = groups.map(_.getType(0).asGroupType)
          val name = agreed(repeated.map(_.getName)).getOrElse(middle.getName)
          group(head, spark, groups, Seq(group(FieldHead(REPEATED, name, None), middle, repeated, Seq(element))))
        case None =>
          lose(path, "list encoding")
          ofSparkShape(head, spark, element)
      }
    }
  }

  /** A list as Spark would write it: three levels, where list and element may be null. */
  private def ofSparkShape(head: FieldHead, spark: GroupType, element: Type): Type = {
    val middle = spark.getType(0).asGroupType
    val nullable = ListShape.as(element, OPTIONAL, middle.getType(0).getName, None)
    val repeated =
      ListShape.group(REPEATED, middle.getLogicalTypeAnnotation, Seq(nullable), middle.getName, None)
    ListShape.group(OPTIONAL, spark.getLogicalTypeAnnotation, Seq(repeated), head.name, head.id)
  }

  private def map(head: FieldHead, spark: GroupType, inputs: Seq[Type], path: Seq[String]): Type = {
    val middle = spark.getType(0).asGroupType
    val pairs = inputs.collect {
      case g: GroupType if !g.isRepetition(REPEATED) && g.getFieldCount == 1 => g.getType(0)
    }.collect { case r: GroupType if r.isRepetition(REPEATED) && r.getFieldCount == 2 => r }
    if (pairs.size < inputs.size) {
      lose(path, "type")
      spark
    } else {
      def part(i: Int, what: String) = inner(middle.getType(i), pairs.map(_.getType(i)), path :+ what)
      val name = agreed(pairs.map(_.getName)).getOrElse(middle.getName)
      val repeated = group(FieldHead(REPEATED, name, None), middle, pairs, Seq(part(0, "key"), part(1, "value")))
      group(head, spark, inputs.map(_.asGroupType), Seq(repeated))
    }
  }

  /**
   * An element, key or value. Users do not choose its name, so Spark's name is taken where files
   * differ.
   */
  private def inner(spark: Type, inputs: Seq[Type], path: Seq[String]): Type = {
    val alike =
      if (agreed(inputs.map(_.getName)).isDefined) inputs
      else inputs.map(t => ListShape.as(t, t.getRepetition, spark.getName, ListShape.id(t)))
    field(spark, alike, everywhere = true, path)
  }
}

private object SchemaMerge {

  /** What every field of a Parquet schema has, whatever its type. */
  private final case class FieldHead(repetition: Repetition, name: String, id: Option[Int]) {
    def of(t: Type): Type = ListShape.as(t, repetition, name, id)
  }

  private def group(head: FieldHead, spark: Type, inputs: Seq[GroupType], fields: Seq[Type]): GroupType = {
    val annotation = agreed(inputs.map(g => Option(g.getLogicalTypeAnnotation)))
      .getOrElse(Option(spark.getLogicalTypeAnnotation))
    ListShape.group(head.repetition, annotation.orNull, fields, head.name, head.id)
  }

  /** The value that all have; None when they differ. */
  private def agreed[T](all: Seq[T]): Option[T] = all.distinct match {
    case Seq(one) => Some(one)
    case _        => None
  }

  private def isList(t: Type): Boolean = t.getLogicalTypeAnnotation.isInstanceOf[ListLogicalTypeAnnotation]

  private def isMap(t: Type): Boolean = t.getLogicalTypeAnnotation match {
    case _: MapLogicalTypeAnnotation | _: MapKeyValueTypeAnnotation => true
    case _                                                          => false
  }

  private def unit(t: PrimitiveType): Option[String] = t.getLogicalTypeAnnotation match {
    case at: TimestampLogicalTypeAnnotation   => Some(s"${at.getUnit.name.toLowerCase(java.util.Locale.ROOT)}econds")
    case _ if t.getPrimitiveTypeName == INT96 => Some("INT96")
    case _                                    => None
  }
}
