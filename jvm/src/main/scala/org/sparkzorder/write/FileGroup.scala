package org.sparkzorder.write

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Expression, GetStructField}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LogicalPlan}
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

/**
 * The rows of a dimension, which give the rows of a rewrite the attributes that place them.
 *
 * No row of the rewrite is lost or doubled by it, whatever the dimension has: the join keeps rows without a
 * partner, and `rows` has each key once. `rows` gives the same rows whenever it is read, so a task that runs
 * again sends each row to the same file.
 *
 * @param column path of the files' column that the key is compared with
 * @param input stands for this column in `compared`
 * @param compared the value that is equal to the key: the column, cast to a common type
 * @param rows the key, then the attributes
 * @param attributes the paths of the attributes in a layout, in their order in `rows`
 */
final case class Dimension(
    column: Seq[String],
    input: Attribute,
    compared: Expression,
    rows: LogicalPlan,
    attributes: Seq[Seq[String]]
) {

  /** @param value the column in the output of the plan */
  private[write] def joinedTo(plan: LogicalPlan, value: Expression): LogicalPlan = {
    val equal = EqualTo(compared.transform { case a if a.semanticEquals(input) => value }, rows.output.head)
    Join(plan, rows, LeftOuter, Some(equal), JoinHint.NONE)
  }

  private[write] def attribute(path: Seq[String]): Option[Attribute] =
    Some(attributes.indexOf(path)).filter(_ >= 0).map(i => rows.output(i + 1))
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
