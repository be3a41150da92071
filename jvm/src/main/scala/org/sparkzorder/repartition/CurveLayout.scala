package org.sparkzorder.repartition

import java.io._
import java.nio.ByteBuffer

import com.google.common.cache.CacheBuilder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{BinaryType, DataType, ObjectType}

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

  /** The most sampled rows, whatever the number of partitions. */
  private final val MostRows = 1000000L
  private lazy val encodings = keys.map(k => new KeyEncoding(k.dataType)).toArray

  override def children: Seq[Expression] = keys
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false
  override def prettyName: String = "curve_layout"

  private def wanted: Int = math.min(
    math.max(LayoutSample.SampleOfFile.toLong * partitions, LayoutSample.MinSample.toLong),
    MostRows
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

/** The [[RowPlan]] that a subquery returns as bytes. Never null. */
final case class DecodedPlan(child: Expression) extends UnaryExpression {
  @transient private var decoded: RowPlan = _

  override def dataType: DataType = ObjectType(classOf[RowPlan])
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    if (decoded == null) decoded = PlanBytes.plan(child.eval(input).asInstanceOf[Array[Byte]])
    decoded
  }

  /** A field of the generated class keeps the plan, so that it is decoded once in a task, not once for each row. */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val bytes = child.genCode(ctx)
    val field = ctx.addMutableState(classOf[RowPlan].getName, "rowPlan", forceInline = true)
    ExprCode(
      code"""
        if ($field == null) {
          ${bytes.code}
          $field = ${PlanBytes.getClass.getName.stripSuffix("$")}.plan(${bytes.value});
        }""",
      FalseLiteral,
      JavaCode.global(field, classOf[RowPlan])
    )
  }

  override protected def withNewChildInternal(newChild: Expression): DecodedPlan = copy(newChild)
}

/** Plans as bytes, on their way from the task that makes a plan to the tasks that use it. They are never stored. */
object PlanBytes {
  private val MostPlans = 8L

  /** Decoded plans, which the tasks of one executor share while there is memory for them. */
  private val plans =
    CacheBuilder.newBuilder().concurrencyLevel(1).maximumSize(MostPlans).softValues().build[ByteBuffer, RowPlan]()

  def of(plan: RowPlan): Array[Byte] = write(plan)

  def plan(bytes: Array[Byte]): RowPlan = plans.get(ByteBuffer.wrap(bytes), () => read[RowPlan](bytes))

  private[repartition] def write(value: Serializable): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  private[repartition] def read[T](bytes: Array[Byte]): T = {
    val loader = classOf[RowPlan].getClassLoader
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      // Our jar may have been added to a running session. Then the class loader that the JDK would use has not our
      // classes.
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, loader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[T]
  }
}
