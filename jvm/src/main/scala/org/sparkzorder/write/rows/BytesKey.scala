package org.sparkzorder.write.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types._

import org.sparkzorder.functions.{InterleaveBits, OrderedBytes}
import org.sparkzorder.layout.BytesMapping
import org.sparkzorder.stats.KeyEncoding

/**
 * The key by which the bytes mapping sorts rows: it takes bits from the ordered bytes of all key
 * columns in turns. Never null.
 */
final case class BytesKey(keys: Seq[Expression], mapping: BytesMapping) extends Expression {
  @transient private lazy val encodings = keys.map(k => new KeyEncoding(k.dataType)).toArray
  @transient private lazy val inputs = new BytesKeyInputs(keys.map(_.dataType).toArray, mapping)

  override def children: Seq[Expression] = keys
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    var c = 0
    while (c < encodings.length) {
      val v = keys(c).eval(input)
      if (v == null) inputs.setNull(c)
      else if (encodings(c).isLong) inputs.set(c, encodings(c).long(v))
      else inputs.set(c, encodings(c).bytes(v))
      c += 1
    }
    inputs.key()
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val types = ctx.addReferenceObj("types", keys.map(_.dataType).toArray, "org.apache.spark.sql.types.DataType[]")
    val bytes = ctx.addReferenceObj("mapping", mapping, classOf[BytesMapping].getName)
    val name = classOf[BytesKeyInputs].getName
    val in = ctx.addMutableState(name, "inputs", f => s"$f = new $name($types, $bytes);", forceInline = true)
    val fills = keys.zipWithIndex.map { case (key, c) =>
      val k = key.genCode(ctx)
      val value = encodings(c).code(ctx, k.value.toString)
      s"${k.code}\nif (${k.isNull}) { $in.setNull($c); } else { $in.set($c, $value); }"
    }
    ev.copy(
      code = code"""
        ${fills.mkString("\n")}
        byte[] ${ev.value} = $in.key();""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): BytesKey =
    copy(keys = newChildren)
}

/** Holds the keys of one row at a time, as bytes of fixed widths. Not thread-safe. */
final class BytesKeyInputs(types: Array[DataType], mapping: BytesMapping) {
  private val inputs = types.map(t => new Array[Byte](BytesKeyInputs.width(t, mapping)))

  /** Null becomes the smallest value of the type, so it sorts first. */
  def setNull(i: Int): Unit = java.util.Arrays.fill(inputs(i), 0.toByte)

  /** Sets a value that is encoded as a long. True is 0x81 and zeros, as in Iceberg. */
  def set(i: Int, value: Long): Unit =
    if (types(i) == BooleanType) {
      setNull(i)
      if (value != 0) inputs(i)(0) = 0x81.toByte
    } else OrderedBytes.putLong(value, inputs(i))

  def set(i: Int, value: Array[Byte]): Unit = {
    val own = inputs(i)
    val n = math.min(value.length, own.length)
    System.arraycopy(value, 0, own, 0, n)
    java.util.Arrays.fill(own, n, own.length, 0.toByte)
  }

  def key(): Array[Byte] = InterleaveBits.interleave(inputs, mapping.maxOutputSize)
}

object BytesKeyInputs {

  /** The most bytes of a string or binary: a [[KeyEncoding]] keeps no more. */
  val MostOfVarLength: Int = KeyEncoding.MaxBytes

  private def width(dataType: DataType, mapping: BytesMapping): Int = dataType match {
    case _: StringType | BinaryType => mapping.varLengthContribution
    case other                      => math.max(8, OrderedBytes.width(other).get)
  }
}
