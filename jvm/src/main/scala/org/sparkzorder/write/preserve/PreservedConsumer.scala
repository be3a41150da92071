package org.sparkzorder.write.preserve

import java.math.BigInteger

import org.apache.parquet.io.api.{Binary, RecordConsumer}
import org.apache.parquet.schema.{GroupType, PrimitiveType, Type}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier

/**
 * Takes the records that Spark's writer makes for its own schema, and passes them on in the kept
 * schema: with other names, value types and shapes of lists. A value that does not fit is an error,
 * and so is a null where the kept schema has none.
 */
private[write] final class PreservedConsumer(out: RecordConsumer, root: PreservedNode) extends RecordConsumer {

  private var stack: List[PreservedNode] = List(root)

  override def startMessage(): Unit = {
    stack = List(root)
    root.seen = 0
    out.startMessage()
  }

  override def endMessage(): Unit = {
    root.checkComplete()
    out.endMessage()
  }

  override def startField(name: String, index: Int): Unit = {
    val parent = stack.head
    val node = parent.children(index)
    if (node.required) parent.seen += 1
    stack = node :: stack
    if (!node.silentField) out.startField(node.name, node.index)
  }

  override def endField(name: String, index: Int): Unit = {
    val node = stack.head
    stack = stack.tail
    if (!node.silentField) out.endField(node.name, node.index)
  }

  override def startGroup(): Unit = {
    stack.head.seen = 0
    if (!stack.head.silentGroup) out.startGroup()
  }

  override def endGroup(): Unit = {
    stack.head.checkComplete()
    if (!stack.head.silentGroup) out.endGroup()
  }

  override def addInteger(value: Int): Unit = stack.head.conversion match {
    case Conversion.OnlyNulls        => refuseValue()
    case Conversion.ToNumber(target) => add(BigInteger.valueOf(value.toLong), target)
    case _                           => out.addInteger(value)
  }

  override def addLong(value: Long): Unit = stack.head.conversion match {
    case Conversion.OnlyNulls        => refuseValue()
    case Conversion.Same             => out.addLong(value)
    case Conversion.ToNumber(target) => add(BigInteger.valueOf(value), target)
    case Conversion.ToMillis         =>
      if (value % 1000 != 0) stack.head.refuse("an instant has microseconds, but the files hold milliseconds")
      out.addLong(value / 1000)
  }

  override def addBinary(value: Binary): Unit = stack.head.conversion match {
    case Conversion.OnlyNulls        => refuseValue()
    case Conversion.ToNumber(target) => add(new BigInteger(value.getBytes), target)
    case _                           => out.addBinary(value)
  }

  private def add(number: BigInteger, target: PrimitiveType): Unit = target.getPrimitiveTypeName match {
    case INT32 | INT64 if !Conversion.fits(number, target) => stack.head.refuse(s"a value does not fit $target")
    case INT32                                             => out.addInteger(number.intValue)
    case INT64                                             => out.addLong(number.longValue)
    case _                                                 => out.addBinary(Conversion.bytesOf(number, target))
  }

  private def refuseValue(): Unit =
    stack.head.refuse("a value, but the type of all files says that there are only nulls")

  private def mayHaveValues: Boolean = stack.head.conversion != Conversion.OnlyNulls

  override def addBoolean(value: Boolean): Unit = if (mayHaveValues) out.addBoolean(value) else refuseValue()
  override def addFloat(value: Float): Unit = if (mayHaveValues) out.addFloat(value) else refuseValue()
  override def addDouble(value: Double): Unit = if (mayHaveValues) out.addDouble(value) else refuseValue()
  override def flush(): Unit = out.flush()
}

/**
 * A field of Spark's schema, and how it is written.
 *
 * @param index position in the kept schema's group
 * @param required whether every record must have the field
 * @param silentField whether the kept schema does not have this field as a level of its own
 * @param silentGroup whether the kept schema does not have this group as a level of its own
 */
private[write] final class PreservedNode(
    val name: String,
    val index: Int,
    val required: Boolean,
    val conversion: Conversion,
    val children: Array[PreservedNode],
    val silentField: Boolean = false,
    val silentGroup: Boolean = false
) {

  /**
   * The number of required fields seen so far in the current group. A field never contains itself,
   * so one number is enough.
   */
  var seen = 0
  private val wanted = children.count(_.required)

  def checkComplete(): Unit = if (seen != wanted) refuse(PreservedNode.NullInRequired)

  def refuse(what: String): Unit = throw PreservedNode.refused(name, what)

  def isNeeded: Boolean =
    silentField || silentGroup || conversion != Conversion.Same || wanted > 0 || children.exists(_.isNeeded)
}

private[write] object PreservedNode {

  val NullInRequired = "a null, but all of the files say that there is none"

  def refused(name: String, what: String): IllegalStateException =
    new IllegalStateException(s"${quoteIdentifier(name)}: $what")

  /** @throws java.lang.IllegalStateException when the schemas do not have the same fields */
  def root(spark: GroupType, kept: GroupType): PreservedNode =
    new PreservedNode(kept.getName, 0, required = false, Conversion.Same, children(spark, kept))

  private def children(spark: GroupType, kept: GroupType): Array[PreservedNode] = {
    if (spark.getFieldCount != kept.getFieldCount) mismatch(spark, kept)
    Array.tabulate(spark.getFieldCount)(i => node(spark.getType(i), kept.getType(i), i))
  }

  private def node(spark: Type, kept: Type, index: Int): PreservedNode = {
    val required = kept.isRepetition(REQUIRED)
    if (!spark.isRepetition(REPEATED) && EntryShape.of(kept, 1).exists(_.levels == 2)) {
      val element = spark.asGroupType.getType(0).asGroupType.getType(0)
      val entries = repeated(element, EntryShape.of(kept, 1).get.parts.head)
      new PreservedNode(kept.getName, index, required, Conversion.Same, Array(entries))
    } else if (spark.isPrimitive != kept.isPrimitive || spark.isRepetition(REPEATED) != kept.isRepetition(REPEATED))
      mismatch(spark, kept)
    else if (spark.isPrimitive)
      new PreservedNode(kept.getName, index, required, conversion(spark, kept), Array.empty)
    else
      new PreservedNode(kept.getName, index, required, Conversion.Same, children(spark.asGroupType, kept.asGroupType))
  }

  /** Leaves out Spark's group around each element, since the element itself is repeated. */
  private def repeated(element: Type, stored: Type): PreservedNode = {
    val value = node(element, stored, 0)
    val inner = new PreservedNode(value.name, 0, required = true, value.conversion, value.children, silentField = true)
    new PreservedNode(stored.getName, 0, required = false, Conversion.Same, Array(inner), silentGroup = true)
  }

  private def conversion(spark: Type, kept: Type): Conversion =
    if (!kept.isPrimitive) mismatch(spark, kept)
    else Conversion.between(spark.asPrimitiveType, kept.asPrimitiveType).getOrElse(mismatch(spark, kept))

  private def mismatch(spark: Type, kept: Type): Nothing =
    throw new IllegalStateException(s"Spark writes\n$spark\nwhere the files are to have\n$kept")
}
