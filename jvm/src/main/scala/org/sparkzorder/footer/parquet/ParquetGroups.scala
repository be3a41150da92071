package org.sparkzorder.footer.parquet

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.GroupType
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}

import org.sparkzorder.compat._

/**
 * A leaf below an array, map or struct.
 *
 * @param path by the names in the file, from the root
 * @param alone whether every field between the group and the leaf is required, so that the leaf is
 *   null exactly where the group is
 * @param repeated whether the leaf is in an array or map below the group
 */
private[footer] final case class LeafBelow(path: Seq[String], alone: Boolean, repeated: Boolean)

/**
 * How often an array, map or struct is null, as far as the counts of its leaves prove it.
 *
 * A chunk has one entry for each value, and one for each null or empty list above it. It counts
 * the entries that have no value as nulls, whatever the level. So without nulls in one leaf, nothing
 * above it is ever null. With nulls, the level is not known, unless there is one only.
 */
private[footer] object ParquetGroups {

  /**
   * The number of rows in which the group, or a struct above it, is null; None when unknown.
   *
   * @param required whether neither the group nor a struct above it can be null
   * @param countsRepeated whether the writer counts null and empty lists as nulls
   * @param rowGroups what each row group with rows has of a leaf; None when it does not have it
   */
  def nulls(
      group: GroupType,
      path: Seq[String],
      required: Boolean,
      countsRepeated: Boolean,
      rowGroups: Seq[Seq[String] => Option[ParquetChunk]]
  ): Option[Long] =
    if (required) Some(0L)
    else {
      val usable = leaves(group, path, alone = true, repeated = false).filter(countsRepeated || !_.repeated)
      val counts =
        rowGroups.map(chunk => usable.iterator.flatMap(leaf => chunk(leaf.path).flatMap(of(leaf, _))).nextOption())
      if (counts.contains(None)) None else Some(counts.flatten.sum)
    }

  private def of(leaf: LeafBelow, chunk: ParquetChunk): Option[Long] =
    chunk.nulls.filter(_ => !chunk.isContradiction).filter { nulls =>
      if (leaf.repeated) nulls == 0 && chunk.values >= chunk.rows
      else chunk.values == chunk.rows && (nulls == 0 || (leaf.alone && nulls > 0 && nulls <= chunk.rows))
    }

  /** The leaves that tell more come first. */
  private def leaves(group: GroupType, path: Seq[String], alone: Boolean, repeated: Boolean): Seq[LeafBelow] =
    group.getFields.asScala.toVector.flatMap { f =>
      val below = path :+ f.getName
      val inList = repeated || f.isRepetition(REPEATED)
      val still = alone && f.isRepetition(REQUIRED)
      if (f.isPrimitive) Seq(LeafBelow(below, still, inList)) else leaves(f.asGroupType, below, still, inList)
    }.sortBy(leaf => (!leaf.alone, leaf.repeated))

  /**
   * Whether Spark reads the group as null exactly where it is null in the file. Spark may read a
   * struct as null when the file lacks fields of it, so both must have the same fields, with the
   * same spelling.
   */
  def isSame(table: DataType, file: DataType): Boolean = (table, file) match {
    case (t: StructType, f: StructType) =>
      t.fieldNames.sameElements(f.fieldNames) && t.fields.zip(f.fields).forall { case (a, b) =>
        isSame(a.dataType, b.dataType)
      }
    case (t: ArrayType, f: ArrayType) => isSame(t.elementType, f.elementType)
    case (t: MapType, f: MapType)     => isSame(t.keyType, f.keyType) && isSame(t.valueType, f.valueType)
    case (_: StructType | _: ArrayType | _: MapType, _) => false
    case (_, _: StructType | _: ArrayType | _: MapType) => false
    case _                                              => true
  }

  /** The type of a column of the file, or of a field in its structs. */
  def typeAt(file: StructType, path: Seq[String]): Option[DataType] =
    path.foldLeft[Option[DataType]](Some(file)) {
      case (Some(s: StructType), name) => s.fields.filter(_.name == name) match {
          case Array(one) => Some(one.dataType)
          case _          => None
        }
      case _ => None
    }
}
