package org.sparkzorder.write.job

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.types.{BinaryType, LongType, StringType, StructType}

import org.sparkzorder.layout.{BytesMapping, LayoutShape}
import org.sparkzorder.stats.KeyEncoding
import org.sparkzorder.write.{ColumnOf, Dimension, KeyColumn}
import org.sparkzorder.write.check.{HashedRowsExec, ListedInputs, ReadRows, RowHash}
import org.sparkzorder.write.rows._

/**
 * The query plans that read the files of a rewrite. Each row comes with the ordinal of its file and with a tie: a
 * number that grows in the order in which rows are read, so that rows with equal keys keep this order.
 *
 * One scan is for one query: its columns have ids of their own.
 *
 * @param relation of a [[org.sparkzorder.write.FixedFileIndex]]
 * @param bytes set when rows are ordered by one key made of the bytes of all key columns
 * @param dimensions those that have some of the keys
 */
private[write] final class RewriteScan(
    session: SparkSession,
    relation: HadoopFsRelation,
    keys: Seq[KeyColumn],
    bytes: Option[BytesMapping],
    dimensions: Seq[Dimension]
) {
  private val table = session.baseRelationToDataFrame(relation).queryExecution.analyzed
  private val data: Seq[Attribute] = table.output.init
  private val file: Attribute = table.output.last
  private val tieAlias = Alias(MonotonicallyIncreasingID(), "tie")()
  private val tie: Attribute = tieAlias.toAttribute

  private val columns: Seq[Expression] = keys.map(columnOf)

  /** The key made of the bytes of all columns. No file stores it. */
  private val bytesKey: Option[Alias] = bytes.map(b => Alias(BytesKey(columns, b), "bytes")())

  private def placedBy: Seq[Expression] = bytesKey.fold(columns)(key => Seq(key.toAttribute))

  /**
   * What [[org.sparkzorder.write.sample.KeySample]] draws from: file, tie, then the key made of all
   * columns, if any, and the key columns.
   *
   * @param more behind these
   */
  def sampled(more: Seq[Alias] = Nil): LogicalPlan = {
    val sampledKeys = bytesKey.toSeq ++ columns.zipWithIndex.map { case (c, i) => Alias(c, s"key$i")() } ++ more
    if (dimensions.nonEmpty) Project(file +: tie +: sampledKeys, joined(read))
    else Project(file +: tie +: sampledKeys.map(_.toAttribute), Project(file +: sampledKeys :+ tieAlias, table))
  }

  def curveValue(plan: Broadcast[RowPlan]): Alias =
    Alias(curve(plan, bytesKey.fold(columns)(key => Seq(key.child))), "z")()

  def allColumns: Alias = Alias(CreateStruct(data), "columns")()

  // Without keys, rows stay in the order of the files, and of the rows in a file: the splits of a
  // file are read in order.
  private def curve(plan: Broadcast[RowPlan], by: Seq[Expression]): Expression =
    if (keys.isEmpty) Cast(file, LongType) else CurveValue(BroadcastPlan(plan), file, by)

  /**
   * The rows of each slot in the partition with the slot's number, in the order of the curve. A row
   * has the data columns, then those that it was placed by, see [[RewriteScan.curveField]].
   *
   * @param sums set to count and hash the rows before the shuffle, and to look at their files
   */
  def ordered(
      plan: Broadcast[RowPlan],
      slots: Int,
      shape: LayoutShape,
      sums: Option[(ReadRows, ListedInputs)]
  ): LogicalPlan = {
    // Rows are hashed as soon as they are read, so that a change made by anything after it is noticed.
    def hashed(rows: LogicalPlan) = sums.fold(rows) { case (sums, listed) =>
      HashedRowsExec.step(rows, RowHash.of(relation.fileFormat, relation.dataSchema), file, sums, listed)
    }
    val z = curveValue(plan)
    // In a sort one value of the curve stands for many values of the columns, so the columns decide among them.
    val within = if (shape.isSort(placedBy.length)) placedBy else Nil
    val slot = SlotKey(BroadcastPlan(plan), file, z.toAttribute, tie)
    val exchanged =
      if (dimensions.isEmpty)
        PackedRows.shuffled(hashed(table), RowPlacing(bytesKey.toSeq ++ Seq(tieAlias, z), slot), slots)
      else {
        val attributes =
          AttributeSet(within.flatMap(_.references)).intersect(AttributeSet(dimensions.flatMap(_.rows.output)))
        val placed = Project(data ++ bytesKey ++ Seq(file, tie, z) ++ attributes.toSeq, joined(hashed(read)))
        PackedRows.shuffled(placed, RowPlacing(Nil, slot), slots)
      }
    val order = (z.toAttribute +: within :+ tie).map(SortOrder(_, Ascending))
    Sort(order, global = false, exchanged)
  }

  private def read: LogicalPlan = Project(data :+ file :+ tieAlias, table)

  private def joined(rows: LogicalPlan): LogicalPlan = dimensions.foldLeft(rows) { (before, dimension) =>
    dimension.joinedTo(before, ColumnOf(data, dimension.column).getOrElse(throw missing(dimension.column)))
  }

  private def missing(path: Seq[String]) =
    new IllegalArgumentException(s"no column ${quoteNameParts(path)} in ${relation.dataSchema.catalogString}")

  private def columnOf(key: KeyColumn): Expression = {
    val found =
      if (key.isOfFiles) ColumnOf(data, key.path)
      else dimensions.flatMap(_.attribute(key.path)).headOption
    val leaf = found.getOrElse(throw missing(key.path))
    (leaf.dataType, key.dataType) match {
      case (a, b) if a == b            => leaf
      case (_: StringType, StringType) => Cast(leaf, StringType) // by its bytes, whatever its collation
      case _                           => throw missing(key.path)
    }
  }
}

private[write] object RewriteScan {

  /** The encodings of the values that [[RewriteScan.sampled]] has behind file and tie. */
  def encodings(keys: Seq[KeyColumn], bytes: Option[BytesMapping]): Seq[KeyEncoding] =
    bytes.map(_ => new KeyEncoding(BinaryType)).toSeq ++ keys.map(k => new KeyEncoding(k.dataType))

  /**
   * Which field of an ordered row is its value of the curve: behind the data come the file, the bytes
   * key, if any, and the tie.
   */
  def curveField(schema: StructType, bytes: Option[BytesMapping]): Int = schema.length + bytes.size + 2
}
