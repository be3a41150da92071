package org.sparkzorder.write.rows

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.fromAttributes
import org.apache.spark.sql.execution.{ColumnarToRowExec, SparkPlan, UnaryExecNode, WholeStageCodegenExec}
import org.apache.spark.sql.types.{BinaryType, IntegerType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.Platform.{putInt, putLong, BYTE_ARRAY_OFFSET}

import org.sparkzorder.write.RewriteStep

/**
 * Where rows go.
 *
 * @param added columns that rows get before, with expressions over those that they have
 * @param slot the integer to partition a row by, which may depend on them
 */
private[write] final case class RowPlacing(added: Seq[Alias], slot: Expression) {
  def attributes: Seq[Attribute] = added.map(_.toAttribute)
}

private[write] object PackedRows {

  /** Shuffles rows packed, see [[RowCompaction]]. They have the columns of the placement then. */
  def shuffled(rows: LogicalPlan, placement: RowPlacing, partitions: Int): LogicalPlan = {
    val number = AttributeReference("slot", IntegerType, nullable = false)()
    val output = Seq(number, AttributeReference("row", BinaryType, nullable = false)())
    val packed = RewriteStep(output, rows, PackedRowsExec(rows.output, placement, output, _))
    val columns = (rows.output ++ placement.attributes).map(_.withNullability(true))
    RewriteStep(columns, RepartitionByExpression(Seq(number), packed, partitions), UnpackedRowsExec(columns, _))
  }
}

/**
 * The rows of the child with the columns of the placement, packed.
 *
 * @param columns all those of the child
 * @param output two columns: the integer to partition by, and the packed row
 */
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
    PackedRowsExec.packed(PackedRowsExec.rowsOf(child), columns, placement)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackedRowsExec = copy(child = newChild)
}

private object PackedRowsExec {

  /** An array that grows gets no more than this for rows to come. */
  private val MostSpare = 1L << 24

  /** Null bits, the slot, and place and length of the packed row. */
  private val Head = 3 * 8

  /** If the plan's rows are made of batches, and of nothing that takes rows before, [[BatchRows]] makes them. */
  private def rowsOf(plan: SparkPlan): RDD[InternalRow] = batchesOf(plan) match {
    case Some(batches) if BatchRows.canMake(plan.schema) => fromBatches(batches.executeColumnar(), plan.schema)
    case _                                               => plan.execute()
  }

  private def batchesOf(plan: SparkPlan): Option[SparkPlan] = plan match {
    case w: WholeStageCodegenExec => batchesOf(w.child)
    case c: ColumnarToRowExec     => Some(c.child)
    case _                        => None
  }

  // These are made in this object, so that the closures do not contain a plan.
  private def fromBatches(batches: RDD[ColumnarBatch], schema: StructType): RDD[InternalRow] =
    batches.mapPartitions { batches =>
      val rows = BatchRows.of(schema)
      batches.flatMap(rows.of)
    }

  private def packed(rows: RDD[InternalRow], columns: Seq[Attribute], placement: RowPlacing): RDD[InternalRow] = {
    val packing = new RowCompaction(fromAttributes(columns ++ placement.attributes))
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

private final class PlacedRows(partition: Int, columns: Seq[Attribute], placement: RowPlacing) {
  private val added = placement.attributes
  private val addedOf = UnsafeProjection.create(placement.added.map(_.child), columns)
  private lazy val joiner = GenerateUnsafeRowJoiner.create(fromAttributes(columns), fromAttributes(added))
  private val slotOf = UnsafeProjection.create(Seq(placement.slot), columns ++ added)
  Seq(addedOf, slotOf).foreach(_.initialize(partition))

  private var joined: UnsafeRow = _

  /** The row is valid until the next call. */
  def of(row: UnsafeRow): UnsafeRow = {
    joined = if (added.isEmpty) row else joiner.join(row, addedOf(row))
    joined
  }

  def slot: Int = slotOf(joined).getInt(0)
}

/** The rows that [[PackedRowsExec]] has packed, as they were. */
private[write] final case class UnpackedRowsExec(output: Seq[Attribute], child: SparkPlan) extends UnaryExecNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def doExecute(): RDD[InternalRow] = UnpackedRowsExec.unpacked(child.execute(), output)
  override protected def withNewChildInternal(newChild: SparkPlan): UnpackedRowsExec = copy(child = newChild)
}

private object UnpackedRowsExec {

  private def unpacked(rows: RDD[InternalRow], columns: Seq[Attribute]): RDD[InternalRow] = {
    val packing = new RowCompaction(fromAttributes(columns))
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
