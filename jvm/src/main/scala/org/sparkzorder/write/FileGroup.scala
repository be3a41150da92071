package org.sparkzorder.write

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, GetStructField}
import org.apache.spark.sql.types.{DataType, StructType}

import org.sparkzorder.layout.{JoinSpec, Placement}

/**
 * The files that are rewritten together: those of one partition, or some of them.
 *
 * @param files each with its number of rows, in the order in which they arrived
 * @param outputFiles files to write; there are fewer only when there are fewer rows
 * @param placement set when the rows join files that are along a curve already
 * @param staging an existing folder for the unit's new files; None for the job's own folder
 */
final case class FileGroup(
    files: Seq[(FileStatus, Long)],
    outputFiles: Int,
    placement: Option[UnitPlacement] = None,
    staging: Option[Path] = None
) {
  require(files.nonEmpty, "a rewrite unit needs a file")
  require(outputFiles >= 1, s"a rewrite unit needs an output file, got $outputFiles")

  def rows: Long = files.map(_._2).sum
}

/** @param unplaced the unit's files that are not along the curve yet */
final case class UnitPlacement(placement: Placement, unplaced: Set[Path])

/**
 * A column to cluster by: names from the row down to the field of a struct, and the weight of
 * lookups by it. The column of a dimension has a path of its own kind, see [[JoinSpec]].
 */
final case class KeyColumn(path: Seq[String], dataType: DataType, weight: Double) {

  /** Whether the files have the column. Else a dimension has it, and readers conclude nothing from it. */
  def isOfFiles: Boolean = !JoinSpec.isAttribute(path)

  /** The column's name as people write it, without quotes. */
  def name: String = JoinSpec.shown(path).mkString(".")
}

object ColumnOf {

  /** A column, or a field of a struct, in the output of a plan; None if there is none with just these names. */
  def apply(output: Seq[Attribute], path: Seq[String]): Option[Expression] =
    path.tail.foldLeft[Option[Expression]](output.find(_.name == path.head)) { (parent, name) =>
      parent.flatMap(p =>
        p.dataType match {
          case s: StructType if s.fieldNames.contains(name) => Some(GetStructField(p, s.fieldIndex(name), Some(name)))
          case _                                            => None
        }
      )
    }
}
