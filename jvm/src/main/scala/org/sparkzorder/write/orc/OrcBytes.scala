package org.sparkzorder.write.orc

import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.unsafe.types.UTF8String

private[write] final class OrcText(vector: BytesColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    OrcBytes.put(vector, i, values.getUTF8String(ordinal).getBytes)
}

private[write] final class OrcBinary(vector: BytesColumnVector) extends OrcColumn(vector) {
  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    OrcBytes.put(vector, i, values.getBinary(ordinal))
}

/**
 * CHAR or VARCHAR. ORC pads or cuts values in silence, and readers take off the spaces at the end
 * of CHAR. Values of files with this type are never changed by that.
 */
private[write] final class OrcLimitedText(vector: BytesColumnVector, orc: TypeDescription) extends OrcColumn(vector) {
  private val most = orc.getMaxLength
  private val isChar = orc.getCategory == Category.CHAR

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val text = values.getUTF8String(ordinal)
    if (text.numChars > most) refuse(s"of ${text.numChars} characters")
    if (isChar && text.endsWith(OrcBytes.Space)) refuse("with a space at its end")
    OrcBytes.put(vector, i, text.getBytes)
  }

  private def refuse(what: String): Unit = throw new IllegalStateException(s"a text $what cannot be stored as $orc")
}

private object OrcBytes {
  val Space: UTF8String = UTF8String.fromString(" ")

  /** The bytes are copied, since a row's memory is used again for the next row. */
  def put(vector: BytesColumnVector, i: Int, bytes: Array[Byte]): Unit = vector.setRef(i, bytes, 0, bytes.length)
}
