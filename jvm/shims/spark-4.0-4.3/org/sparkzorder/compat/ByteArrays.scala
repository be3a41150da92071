package org.sparkzorder.compat

import java.util.Arrays

/** What `java.util.Arrays` has for bytes since Java 9. */
object ByteArrays {
  def mismatch(a: Array[Byte], b: Array[Byte]): Int = Arrays.mismatch(a, b)

  def compareUnsigned(a: Array[Byte], b: Array[Byte]): Int = Arrays.compareUnsigned(a, b)

  def compareUnsigned(a: Array[Byte], aFrom: Int, aTo: Int, b: Array[Byte], bFrom: Int, bTo: Int): Int =
    Arrays.compareUnsigned(a, aFrom, aTo, b, bFrom, bTo)

  def equals(a: Array[Byte], aFrom: Int, aTo: Int, b: Array[Byte], bFrom: Int, bTo: Int): Boolean =
    Arrays.equals(a, aFrom, aTo, b, bFrom, bTo)
}
