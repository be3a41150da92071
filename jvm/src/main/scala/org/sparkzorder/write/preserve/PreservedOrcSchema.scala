package org.sparkzorder.write.preserve

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.execution.datasources.orc.OrcUtils
import org.apache.spark.sql.types._

/**
 * The schema of new ORC files.
 *
 * @param lost in words, what the inputs have and the new files have not
 * @param respelled whether a name differs from the table's
 */
final case class PreservedOrcSchema(schema: TypeDescription, lost: Seq[String], respelled: Boolean)

object PreservedOrcSchema {

  /**
   * The table's columns, with the names, types and attributes that all files agree on.
   *
   * @param inputs the different schemas of the files
   */
  def of(table: StructType, inputs: Seq[TypeDescription]): PreservedOrcSchema = {
    val merge = new OrcSchemaMerge
    val schema = merge.struct(table, inputs.filter(_.getCategory == Category.STRUCT), Nil)
    PreservedOrcSchema(schema, merge.lost.toVector.distinct, merge.respelled)
  }
}

private final class OrcSchemaMerge {
  import FileSpelling.agreed
  import OrcSchemaMerge._

  val lost = new ArrayBuffer[String]
  var respelled = false

  private def lose(path: Seq[String], what: String): Unit =
    lost += (if (path.isEmpty) what else s"$what of ${quoteNameParts(path)}")

  /** @param inputs structs */
  def struct(table: StructType, inputs: Seq[TypeDescription], path: Seq[String]): TypeDescription = {
    val found = inputs.map { input =>
      val fields = input.getFieldNames.asScala.zip(input.getChildren.asScala).toVector
      FileSpelling.find(table.fieldNames.toSeq, fields)((f: (String, TypeDescription)) => f._1)
    }
    val result = new TypeDescription(Category.STRUCT)
    table.fields.zipWithIndex.foreach { case (field, i) =>
      val same = found.flatMap(_(i))
      val name = agreed(same.map(_._1)).getOrElse(field.name)
      respelled ||= name != field.name
      result.addField(name, of(field.dataType, same.map(_._2), same.size == inputs.size, path :+ field.name))
    }
    withAttributes(result, inputs, path)
  }

  /** @param everywhere whether every input with the parent has the column */
  private def of(t: DataType, inputs: Seq[TypeDescription], everywhere: Boolean, path: Seq[String]): TypeDescription = {
    def all(category: Category) = inputs.nonEmpty && inputs.forall(_.getCategory == category)
    def inner(t: DataType, i: Int, name: String) =
      of(t, inputs.map(_.getChildren.get(i)), everywhere = true, path :+ name)
    t match {
      case udt: UserDefinedType[_]               => of(udt.sqlType, inputs, everywhere, path)
      case s: StructType if all(Category.STRUCT) => struct(s, inputs, path)
      case ArrayType(e, _) if all(Category.LIST) =>
        withAttributes(TypeDescription.createList(inner(e, 0, "element")), inputs, path)
      case MapType(k, v, _) if all(Category.MAP) =>
        withAttributes(TypeDescription.createMap(inner(k, 0, "key"), inner(v, 1, "value")), inputs, path)
      case _ => scalar(ofSpark(t), t, inputs, everywhere, path)
    }
  }

  private def scalar(
      spark: TypeDescription,
      t: DataType,
      inputs: Seq[TypeDescription],
      everywhere: Boolean,
      path: Seq[String]
  ): TypeDescription = {
    val types = inputs.map(plain).distinct
    val kept = types match {
      // A default in place of a column that files lack may not fit their type.
      case Seq(one) if everywhere || one == plain(spark) => inputs.find(readsAs(_, t)).map(_ => one)
      case _                                             => None
    }
    if (kept.isEmpty && inputs.nonEmpty) lose(path, "stored type")
    val result = withAttributes(kept.getOrElse(plain(spark)), inputs, path)
    // Without this attribute Spark may read another type. Where all files lack it, Spark does not need it.
    val ofFiles = if (kept.isEmpty) None else agreed(inputs.map(sparkType))
    ofFiles.getOrElse(sparkType(spark)).foreach(result.setAttribute(SparkType, _))
    result
  }

  private def withAttributes(to: TypeDescription, inputs: Seq[TypeDescription], path: Seq[String]): TypeDescription = {
    val ofInputs = inputs.flatMap(_.getAttributeNames.asScala).distinct.filterNot(OfWriter).sorted
    val (same, differ) = ofInputs.partition(key => agreed(inputs.map(_.getAttributeValue(key))).isDefined)
    same.foreach(key => to.setAttribute(key, inputs.head.getAttributeValue(key)))
    differ.foreach(key => lose(path, s"type attribute `$key`"))
    to
  }
}

private object OrcSchemaMerge {

  private val SparkType = OrcUtils.CATALYST_TYPE_ATTRIBUTE_NAME

  /**
   * Attributes that the writer sets by itself: Spark's name of a type, and which columns are
   * encrypted, which ORC's writer would act upon.
   */
  private val OfWriter: Set[String] = Set(SparkType, TypeDescription.ENCRYPT_ATTRIBUTE, TypeDescription.MASK_ATTRIBUTE)

  private def sparkType(t: TypeDescription): Option[String] = Option(t.getAttributeValue(SparkType))

  private def ofSpark(t: DataType): TypeDescription =
    OrcUtils.orcTypeDescription(new StructType().add("c", t)).getChildren.get(0).clone()

  /** The type without its attributes, if it has no children. */
  private def plain(t: TypeDescription): TypeDescription = {
    val copy = t.clone()
    t.getAttributeNames.asScala.toVector.foreach(copy.removeAttribute)
    copy
  }

  /** Whether Spark reads exactly this type. Text is text, whatever its collation. */
  private def readsAs(file: TypeDescription, t: DataType): Boolean = {
    val struct = new TypeDescription(Category.STRUCT).addField("c", file.clone())
    (OrcUtils.toCatalystSchema(struct).head.dataType, t) match {
      case (_: StringType, _: StringType) => true
      case (read, wanted)                 => read == wanted
    }
  }
}
