package org.sparkzorder.write.rows

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression, UnaryNode}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.fromAttributes
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.types.{BinaryType, IntegerType}
import org.apache.spark.unsafe.Platform.{putInt, putLong, BYTE_ARRAY_OFFSET}

/**
 * Columns to add to rows.
 *
 * @param tie numbers the rows in the order in which they are read
 * @param z has the value of `curve`
 */
private[write] final case class CurveColumns(tie: Attribute, z: Attribute, curve: Expression)

/**
 * Where rows go.
 *
 * @param added None if the rows have these columns
 * @param slot the integer to partition a row by, which may depend on them
 */
private[write] final case class RowPlacing(added: Option[CurveColumns], slot: Expression) {
  def attributes: Seq[Attribute] = added.toSeq.flatMap(a => Seq(a.tie, a.z))
}

/**
 * The rows of the child with the columns of the placement, packed, see [[RowPacking]].
 *
 * @param columns all those of the child
 * @param output two columns: the integer to partition by, and the packed row
 */
private[write] final case class PackedRows(
    columns: Seq[Attribute],
    placement: RowPlacing,
    output: Seq[Attribute],
    child: LogicalPlan
) extends UnaryNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(newChild: LogicalPlan): PackedRows = copy(child = newChild)
}

/**
 * The rows that [[PackedRows]] has packed, as they were.
 *
 * @param output the columns of these rows
 * @param packed the columns of the child
 */
private[write] final case class UnpackedRows(output: Seq[Attribute], packed: Seq[Attribute], child: LogicalPlan)
    extends UnaryNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(newChild: LogicalPlan): UnpackedRows = copy(child = newChild)
}

private[write] object PackedRows {

  /** Shuffles rows packed. They have the columns of the placement then. */
  def shuffled(rows: LogicalPlan, placement: RowPlacing, partitions: Int): LogicalPlan = {
    val number = AttributeReference("slot", IntegerType, nullable = false)()
    val shuffled = Seq(number, AttributeReference("row", BinaryType, nullable = false)())
    val exchanged =
      RepartitionByExpression(Seq(number), PackedRows(rows.output, placement, shuffled, rows), partitions)
    UnpackedRows((rows.output ++ placement.attributes).map(_.withNullability(true)), shuffled, exchanged)
  }
}

/** Runs [[PackedRows]]. */
private[write] final case class PackedRowsExec(
    columns: Seq[Attribute],
    placement: RowPlacing,
    output: Seq[Attribute],
    child: SparkPlan
) extends UnaryExecNode {
  override def producedAttributes: AttributeSet = outputSet

  override protected def doExecute(): RDD[InternalRow] = {
    require(
      child.output.map(_.exprId) == columns.map(_.exprId),
      s"${child.output.mkString("[", ", ", "]")} is not ${columns.mkString("[", ", ", "]")}"
    )
    PackedRowsExec.packed(child.execute(), columns, placement)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackedRowsExec = copy(child = newChild)
}

private object PackedRowsExec {

  /** An array that grows gets no more than this for rows to come. */
  private val MostSpare = 1L << 24

  /** Null bits, the slot, and place and length of the packed row. */
  private val Head = 3 * 8

  // Made in this object, so that the closure does not contain a plan.
  private def packed(rows: RDD[InternalRow], columns: Seq[Attribute], placement: RowPlacing): RDD[InternalRow] = {
    val packing = new RowPacking(fromAttributes(columns ++ placement.attributes))
    rows.mapPartitionsWithIndex { (partition, rows) =>
      val placed = new PlacedRows(partition, columns, placement)
      val result = new UnsafeRow(2)
      var bytes = new Array[Byte](1024)
      rows.map { r =>
        val row = placed.of(r.asInstanceOf[UnsafeRow])
        val needed = Math.addExact(Head + 8, packing.mostBytes(row))
        if (needed > bytes.length) bytes = new Array[Byte](math.max(needed, math.min(2L * needed, MostSpare)).toInt)
        val length = packing.pack(row, bytes, Head)
        // Equal rows have equal bytes: Spark may compare checksums of a retried task.
        putLong(bytes, BYTE_ARRAY_OFFSET.toLong + Head + length, 0L)
        putLong(bytes, BYTE_ARRAY_OFFSET, 0L)
        putLong(bytes, BYTE_ARRAY_OFFSET + 8, 0L)
        putInt(bytes, BYTE_ARRAY_OFFSET + 8, placed.slot)
        putLong(bytes, BYTE_ARRAY_OFFSET + 16, (Head.toLong << 32) | length)
        result.pointTo(bytes, Head + (length + 7) / 8 * 8)
        result
      }
    }
  }
}

/** Adds the columns of a placement to rows. */
private final class PlacedRows(partition: Int, columns: Seq[Attribute], placement: RowPlacing) {
  private val added = placement.attributes
  private val addedOf =
    UnsafeProjection.create(placement.added.toSeq.flatMap(a => Seq(MonotonicallyIncreasingID(), a.curve)), columns)
  private lazy val joiner = GenerateUnsafeRowJoiner.create(fromAttributes(columns), fromAttributes(added))
  private val slotOf = UnsafeProjection.create(Seq(placement.slot), columns ++ added)
  Seq(addedOf, slotOf).foreach(_.initialize(partition))

  private var joined: UnsafeRow = _

  /** The row is valid until the next call. */
  def of(row: UnsafeRow): UnsafeRow = {
    joined = if (added.isEmpty) row else joiner.join(row, addedOf(row))
    joined
  }

  /** Of the last row. */
  def slot: Int = slotOf(joined).getInt(0)
}

/** Runs [[UnpackedRows]]. */
private[write] final case class UnpackedRowsExec(output: Seq[Attribute], child: SparkPlan) extends UnaryExecNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def doExecute(): RDD[InternalRow] = UnpackedRowsExec.unpacked(child.execute(), output)
  override protected def withNewChildInternal(newChild: SparkPlan): UnpackedRowsExec = copy(child = newChild)
}

private object UnpackedRowsExec {

  private def unpacked(rows: RDD[InternalRow], columns: Seq[Attribute]): RDD[InternalRow] = {
    val packing = new RowPacking(fromAttributes(columns))
    rows.mapPartitions { rows =>
      val into = packing.unpacked()
      rows.map { r =>
        val row = r.asInstanceOf[UnsafeRow]
        val place = row.getLong(1)
        packing.unpack(row.getBaseObject, row.getBaseOffset + (place >>> 32), place.toInt, into)
      }
    }
  }
}

/** Plans [[PackedRows]] and [[UnpackedRows]] in the sessions of rewrites. */
private[write] object PackedRowsStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PackedRows(columns, placement, output, child) =>
      PackedRowsExec(columns, placement, output, planLater(child)) :: Nil
    case UnpackedRows(output, _, child) => UnpackedRowsExec(output, planLater(child)) :: Nil
    case _                              => Nil
  }
}
