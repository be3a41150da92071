package org.sparkzorder.repartition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate
import org.apache.spark.sql.types.{BinaryType, DataType}

import org.sparkzorder.layout.LayoutShape
import org.sparkzorder.stats.KeyEncoding
import org.sparkzorder.write.job.LayoutSample
import org.sparkzorder.write.rows.RowPlan
import org.sparkzorder.write.sample.UnitLayouts

/**
 * An aggregate over the keys of all rows. Its result is the [[RowPlan]] that puts the rows in so many partitions along
 * a curve, as bytes of [[PlanBytes]]. Only sampled rows are kept in memory.
 *
 * @param curve one of the curves of [[org.sparkzorder.layout.LayoutSpec]]
 */
final case class CurveLayout(
    keys: Seq[Expression],
    curve: String,
    partitions: Int,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[SampledKeys] {
  private lazy val encodings = keys.map(k => new KeyEncoding(k.dataType)).toArray

  override def children: Seq[Expression] = keys
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false
  override def prettyName: String = "curve_layout"

  private def wanted: Int = math.min(
    math.max(LayoutSample.SampleOfFile.toLong * partitions, LayoutSample.MinSample.toLong),
    CurveLayout.MostRows
  ).toInt

  override def createAggregationBuffer(): SampledKeys = SampledKeys.ofTask(wanted)

  override def update(buffer: SampledKeys, input: InternalRow): SampledKeys = {
    buffer.add { () =>
      encodings.indices.map { c =>
        val value = keys(c).eval(input)
        if (value == null) null else if (encodings(c).isLong) encodings(c).long(value) else encodings(c).bytes(value)
      }
    }
    buffer
  }

  override def merge(buffer: SampledKeys, input: SampledKeys): SampledKeys = buffer.merge(input)

  override def eval(buffer: SampledKeys): Any = {
    val sample = buffer.sample(wanted, encodings.map(_.isLong).toSeq)
    val shape = LayoutShape(curve, aligned = true, exact = true)
    val weights = encodings.toSeq.map(_ => 1d)
    val model = UnitLayouts(Array(0), IndexedSeq(partitions), encodings.toSeq, weights, shape).of(Seq(sample))
    PlanBytes.of(new RowPlan(model, partitions))
  }

  override def serialize(buffer: SampledKeys): Array[Byte] = PlanBytes.write(buffer)

  override def deserialize(bytes: Array[Byte]): SampledKeys = PlanBytes.read[SampledKeys](bytes)

  override def withNewMutableAggBufferOffset(newMutableAggBufferOffset: Int): CurveLayout =
    copy(mutableAggBufferOffset = newMutableAggBufferOffset)

  override def withNewInputAggBufferOffset(newInputAggBufferOffset: Int): CurveLayout =
    copy(inputAggBufferOffset = newInputAggBufferOffset)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): CurveLayout =
    copy(keys = newChildren)
}

object CurveLayout {

  /** The most sampled rows, whatever the number of partitions. */
  private val MostRows = 1000000L
}
