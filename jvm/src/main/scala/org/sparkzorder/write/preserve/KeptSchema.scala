package org.sparkzorder.write.preserve

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, MessageType}

import org.sparkzorder.compat._

/**
 * The schema of the new Parquet files. It has the columns of Spark's own schema in their order.
 * Where the input files agree and Spark's values fit, it has their names, ids, types and shapes.
 *
 * @param lost in words, what an input has and the new schema does not
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
    KeptSchema(new MessageType(name, fields.asJava), merge.lost.distinct.toVector)
  }

  /**
   * The paths of leaves in the kept schema, by their paths in Spark's schema in lower case. Leaves
   * whose paths differ only in case are left out.
   */
  def leaves(spark: GroupType, kept: GroupType): Map[Seq[String], Seq[String]] =
    leafPaths(spark).map(_.map(FileSpelling.fold)).zip(leafPaths(kept)).groupMap(_._1)(_._2).collect {
      case (path, Seq(one)) => path -> one
    }

  /** The paths of all leaves, depth first. */
  private[write] def leafPaths(group: GroupType): Seq[Seq[String]] = group.getFields.asScala.toVector.flatMap { f =>
    if (f.isPrimitive) Seq(Seq(f.getName)) else leafPaths(f.asGroupType).map(f.getName +: _)
  }
}
