package org.sparkzorder.write

import java.util.Locale

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BINARY, INT96}
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.Type.Repetition.{OPTIONAL, REPEATED, REQUIRED}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts

/**
 * The schema of the new Parquet files: the columns of Spark's own schema in its order, with the names, ids, types and
 * shapes that the input files have, wherever they agree and Spark's values fit.
 *
 * @param lost what an input has and the schema has not, in words
 */
final case class KeptSchema(schema: MessageType, lost: Seq[String])

object KeptSchema {

  /**
   * @param spark the schema that Spark would write
   * @param inputs the different schemas of the inputs, at least one
   */
  def of(spark: MessageType, inputs: Seq[MessageType]): KeptSchema = {
    val merge = new SchemaMerge
    val fields = merge.fields(spark, inputs, Nil)
    val name = inputs.map(_.getName).distinct match {
      case Seq(one) => one
      case _        => spark.getName
    }
    KeptSchema(new MessageType(name, fields.asJava), merge.lost.distinct.toSeq)
  }

  /** The leaves' paths in the kept schema by their paths in Spark's in lower case. Paths that differ in case only are left out. */
  def leaves(spark: GroupType, kept: GroupType): Map[Seq[String], Seq[String]] =
    leafPaths(spark).map(_.map(fold)).zip(leafPaths(kept)).groupMap(_._1)(_._2).collect {
      case (path, Seq(one)) => path -> one
    }

  private def leafPaths(group: GroupType): Seq[Seq[String]] = group.getFields.asScala.toSeq.flatMap { f =>
    if (f.isPrimitive) Seq(Seq(f.getName)) else leafPaths(f.asGroupType).map(f.getName +: _)
  }

  private[write] def fold(name: String): String = name.toLowerCase(Locale.ROOT)
}

private final class SchemaMerge {
  val lost = new ArrayBuffer[String]

  private def lose(path: Seq[String], what: String): Unit = lost += s"$what of ${quoteNameParts(path)}"

  /** The fields of a struct. */
  def fields(spark: GroupType, inputs: Seq[GroupType], path: Seq[String]): Seq[Type] = {
    val names = spark.getFields.asScala.map(_.getName).toSeq
    val found = inputs.map(group => FileSpelling.find(names, group.getFields.asScala.toSeq)((f: Type) => f.getName))
    spark.getFields.asScala.toSeq.zipWithIndex.map { case (f, i) =>
      val same: Seq[Option[Type]] = found.map(_(i))
      field(f, same.flatten, same.forall(_.isDefined), path :+ f.getName)
    }
  }

  /** @param everywhere whether all inputs that have the parent have the field, so that Spark makes up no null */
  private def field(spark: Type, inputs: Seq[Type], everywhere: Boolean, path: Seq[String]): Type =
    if (inputs.isEmpty) spark
    else {
      val repetition = repetitionOf(spark, inputs, everywhere)
      val name = agreed(inputs.map(_.getName)).getOrElse {
        lose(path, "spelling of the name")
        spark.getName
      }
      val ids = inputs.map(f => Option(f.getId).map(_.intValue)).distinct
      val id = ids match {
        case Seq(one) => one.orElse(Option(spark.getId).map(_.intValue))
        case _        =>
          lose(path, "field id")
          None
      }
      if (spark.isPrimitive) primitive(spark.asPrimitiveType, inputs, repetition, name, id, path)
      else if (isList(spark)) list(spark.asGroupType, inputs, repetition, everywhere, name, id, path)
      else if (isMap(spark)) map(spark.asGroupType, inputs, repetition, name, id, path)
      else if (inputs.forall(f => !f.isPrimitive && !f.isRepetition(REPEATED))) {
        val groups = inputs.map(_.asGroupType)
        // A variant that was shredded has more fields than Spark writes.
        if (groups.exists(_.getFieldCount > spark.asGroupType.getFieldCount)) lose(path, "fields")
        group(repetition, spark, groups, fields(spark.asGroupType, groups, path), name, id)
      } else {
        lose(path, "type")
        spark
      }
    }

  private def repetitionOf(spark: Type, inputs: Seq[Type], everywhere: Boolean): Repetition =
    if (spark.isRepetition(REPEATED)) REPEATED
    else if (inputs.forall(_.isRepetition(REQUIRED)) && everywhere) REQUIRED
    else if (inputs.forall(_.isRepetition(OPTIONAL))) OPTIONAL
    else if (spark.isRepetition(REQUIRED)) REQUIRED
    else OPTIONAL

  private def primitive(
      spark: PrimitiveType,
      inputs: Seq[Type],
      repetition: Repetition,
      name: String,
      id: Option[Int],
      path: Seq[String]
  ): Type = {
    val types = inputs.filter(_.isPrimitive).map(_.asPrimitiveType)
      .distinctBy(t => (t.getPrimitiveTypeName, Conversion.lengthOf(t), t.getLogicalTypeAnnotation))
    val conversions = types.map(Conversion.between(spark, _))
    val chosen =
      if (types.size == 1 && conversions.head.isDefined) types.head
      else {
        // Types that Spark's own stands for as well are not lost.
        // Bytes that are text in some files only are text in the new ones: a reader may fail at what is no UTF-8.
        val isText = types.map(_.getLogicalTypeAnnotation.isInstanceOf[StringLogicalTypeAnnotation]).distinct
        val isMixed = types.forall(_.getPrimitiveTypeName == BINARY) && isText.size > 1
        if (isMixed || !conversions.forall(_.contains(Conversion.Same)))
          lose(path, if (types.flatMap(unit).distinct.size > 1) "timestamp unit" else "stored type")
        spark
      }
    ListShape.as(chosen, repetition, name, id)
  }

  private def list(
      spark: GroupType,
      inputs: Seq[Type],
      repetition: Repetition,
      everywhere: Boolean,
      name: String,
      id: Option[Int],
      path: Seq[String]
  ): Type = {
    val shapes = inputs.map(ListShape.of)
    val middle = spark.getType(0).asGroupType
    if (shapes.exists(_.isEmpty)) {
      lose(path, "type")
      spark
    } else {
      val elements = shapes.flatten.map(_._2)
      val shape = agreed(shapes.flatten.map(_._1)).filter(_ != ListShape.Bare || everywhere)
      val groups = inputs.filter(f => !f.isPrimitive && !f.isRepetition(REPEATED)).map(_.asGroupType)
      val element: Type = {
        val merged = inner(middle.getType(0), elements, path :+ "element")
        shape match {
          // Of a list in two levels the element is what is repeated, and so never null.
          case Some(ListShape.TwoLevels)   => ListShape.as(merged, REPEATED, merged.getName, ListShape.id(merged))
          case Some(ListShape.Bare)        => ListShape.as(merged, REPEATED, name, ListShape.id(merged))
          case Some(ListShape.ThreeLevels) => merged
          case None                        => ListShape.as(merged, OPTIONAL, middle.getType(0).getName, None)
        }
      }
      shape match {
        case Some(ListShape.Bare)      => element
        case Some(ListShape.TwoLevels) => group(repetition, spark, groups, Seq(element), name, id)
        case Some(_)                   =>
          val repeated = groups.map(_.getType(0).asGroupType)
          val middleName = agreed(repeated.map(_.getName)).getOrElse(middle.getName)
          group(
            repetition,
            spark,
            groups,
            Seq(group(REPEATED, middle, repeated, Seq(element), middleName, None)),
            name,
            id
          )
        case None =>
          lose(path, "list encoding")
          ListShape.group(
            OPTIONAL,
            spark.getLogicalTypeAnnotation,
            Seq(ListShape.group(REPEATED, middle.getLogicalTypeAnnotation, Seq(element), middle.getName, None)),
            name,
            id
          )
      }
    }
  }

  /** An element, key or value. Its name is no user's: where files differ, Spark's is as good. */
  private def inner(spark: Type, inputs: Seq[Type], path: Seq[String]): Type = {
    val alike =
      if (agreed(inputs.map(_.getName)).isDefined) inputs
      else inputs.map(t => ListShape.as(t, t.getRepetition, spark.getName, ListShape.id(t)))
    field(spark, alike, everywhere = true, path)
  }

  private def map(
      spark: GroupType,
      inputs: Seq[Type],
      repetition: Repetition,
      name: String,
      id: Option[Int],
      path: Seq[String]
  ): Type = {
    val middle = spark.getType(0).asGroupType
    val pairs = inputs.collect {
      case g: GroupType if !g.isRepetition(REPEATED) && g.getFieldCount == 1 => g.getType(0)
    }.collect { case r: GroupType if r.isRepetition(REPEATED) && r.getFieldCount == 2 => r }
    if (pairs.size < inputs.size) {
      lose(path, "type")
      spark
    } else {
      def part(i: Int, what: String) =
        inner(middle.getType(i), pairs.map(_.getType(i)), path :+ what)
      val middleName = agreed(pairs.map(_.getName)).getOrElse(middle.getName)
      val repeated = group(REPEATED, middle, pairs, Seq(part(0, "key"), part(1, "value")), middleName, None)
      group(repetition, spark, inputs.map(_.asGroupType), Seq(repeated), name, id)
    }
  }

  private def group(
      repetition: Repetition,
      spark: Type,
      inputs: Seq[GroupType],
      fields: Seq[Type],
      name: String,
      id: Option[Int]
  ): GroupType = {
    val annotation = agreed(inputs.map(g => Option(g.getLogicalTypeAnnotation)))
      .getOrElse(Option(spark.getLogicalTypeAnnotation))
    ListShape.group(repetition, annotation.orNull, fields, name, id)
  }

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
    case instant: TimestampLogicalTypeAnnotation => Some(instant.getUnit.name)
    case _ if t.getPrimitiveTypeName == INT96    => Some("INT96")
    case _                                       => None
  }
}
