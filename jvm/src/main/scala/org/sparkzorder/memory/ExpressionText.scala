package org.sparkzorder.memory

import java.time.ZoneId

import org.apache.commons.codec.binary.Hex
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{ArrayType, DataType, Decimal, MapType, StructType, UserDefinedType}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import org.sparkzorder.compat._

/**
 * Writes an expression as a text that says all that its value depends on: two expressions of one text have the same
 * value for each row, under the same settings. None for an expression of which that is not certain. So the names of
 * classes and arguments are not listed one by one: an argument of a class that is not known here gives None.
 *
 * @param column the text of a column; None if its value is not that of the file or the partition alone
 */
private[memory] final class ExpressionText(column: Attribute => Option[String]) {
  import ExpressionText._

  def of(e: Expression): Option[String] = e match {
    case a: Attribute         => column(a)
    case l: Literal           => literal(l)
    case _ if !isKnown(e)     => None
    case InSet(child, values) =>
      for (c <- of(child); vs <- all(values.iterator.map(v => literal(Literal(v, child.dataType)))))
        yield s"InSet($c,${vs.sorted.mkString(",")})"
    case _ if isCommutative(e) => all(e.children.iterator.map(of)).map(_.sorted.mkString(s"${name(e)}(", ",", ")"))
    case _                     => all(e.productIterator.map(argument)).map(_.mkString(s"${name(e)}(", ",", ")"))
  }

  private def argument(value: Any): Option[String] = value match {
    case e: Expression                    => of(e)
    case t: DataType                      => Some(ExpressionText.of(t))
    case s: String                        => Some(quoted(s))
    case s: UTF8String                    => Some(quoted(s.toString))
    case _: Boolean | _: Byte | _: Short  => Some(value.toString)
    case _: Int | _: Long | _: Double     => Some(value.toString)
    case c: Char                          => Some(quoted(c.toString))
    case z: ZoneId                        => Some(quoted(z.getId))
    case mode: Enumeration#Value          => Some(mode.toString)
    case mode: java.lang.Enum[_]          => Some(s"${mode.getDeclaringClass.getName}:${mode.name}")
    case None                             => Some("None")
    case Some(inner)                      => argument(inner).map(t => s"Some($t)")
    case many: Seq[_]                     => all(many.iterator.map(argument)).map(_.mkString("[", ",", "]"))
    case parts: Product if isParts(parts) =>
      all(parts.productIterator.map(argument)).map(_.mkString(s"${parts.getClass.getName}(", ",", ")"))
    case _ => None
  }
}

private[memory] object ExpressionText {

  /** What calls a method by its name may say that it is deterministic, and be none, as `aes_encrypt` does. */
  private val Invoked = "org.apache.spark.sql.catalyst.expressions.objects."

  private val Expressions = "org.apache.spark.sql.catalyst.expressions."

  /** Whether it is one of Spark's own expressions, and gives the same value for each row with the same columns. */
  private def isKnown(e: Expression): Boolean = e.deterministic && e.getClass.getName.startsWith(Expressions) &&
    !e.getClass.getName.startsWith(Invoked) &&
    (e match {
      case _: PlanExpression[_] | _: UserDefinedExpression | _: Unevaluable => false
      case _                                                                => true
    })

  /** A pair, such as a branch of CASE, or what several arguments are put together in. */
  private def isParts(p: Product): Boolean =
    p.getClass.getName.startsWith("scala.Tuple") || p.getClass.getName.startsWith(Expressions)

  private def isCommutative(e: Expression): Boolean = e match {
    case _: And | _: Or | _: EqualTo | _: EqualNullSafe => true
    case _                                              => false
  }

  private def name(e: Expression): String = e.getClass.getName.stripPrefix(Expressions)

  /** Its JSON takes long to make. */
  def of(t: DataType): String = t match {
    case _: StructType | _: ArrayType | _: MapType | _: UserDefinedType[_] => t.json
    case atomic                                                            => atomic.catalogString
  }

  /** A string may hold bytes that are no UTF-8. */
  def bytes(bytes: Array[Byte]): String = s"x${Hex.encodeHexString(bytes)}"

  def quoted(text: String): String = s"'${text.replace("\\", "\\\\").replace("'", "\\'")}'"

  private def literal(l: Literal): Option[String] = value(l.value).map(v => s"$v:${ExpressionText.of(l.dataType)}")

  private def value(v: Any): Option[String] = v match {
    case null                                               => Some("null")
    case _: Boolean | _: Byte | _: Short | _: Int | _: Long => Some(v.toString)
    // By bits, so that -0.0 and the NaNs are values of their own.
    case f: Float            => Some(java.lang.Float.floatToRawIntBits(f).toString)
    case d: Double           => Some(java.lang.Double.doubleToRawLongBits(d).toString)
    case d: Decimal          => Some(d.toJavaBigDecimal.toString)
    case s: UTF8String       => Some(bytes(s.getBytes))
    case b: Array[Byte]      => Some(bytes(b))
    case i: CalendarInterval => Some(s"${i.months}m${i.days}d${i.microseconds}")
    case _                   => None
  }

  private def all(texts: Iterator[Option[String]]): Option[Seq[String]] = {
    val found = texts.toVector
    Option.when(found.forall(_.isDefined))(found.flatten)
  }
}
