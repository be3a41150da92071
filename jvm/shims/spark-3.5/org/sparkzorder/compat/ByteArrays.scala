package org.sparkzorder.compat

/** What `java.util.Arrays` has for bytes since Java 9. */
object ByteArrays {
  def mismatch(a: Array[Byte], b: Array[Byte]): Int = {
    val both = math.min(a.length, b.length)
    var i = 0
    while (i < both && a(i) == b(i)) i += 1
    if (i == both && a.length == b.length) -1 else i
  }

  def compareUnsigned(a: Array[Byte], b: Array[Byte]): Int = compareUnsigned(a, 0, a.length, b, 0, b.length)

  def compareUnsigned(a: Array[Byte], aFrom: Int, aTo: Int, b: Array[Byte], bFrom: Int, bTo: Int): Int = {
    val both = math.min(aTo - aFrom, bTo - bFrom)
    var i = 0
    while (i < both && a(aFrom + i) == b(bFrom + i)) i += 1
    if (i == both) (aTo - aFrom) - (bTo - bFrom) else (a(aFrom + i) & 0xff) - (b(bFrom + i) & 0xff)
  }

  def equals(a: Array[Byte], aFrom: Int, aTo: Int, b: Array[Byte], bFrom: Int, bTo: Int): Boolean =
    compareUnsigned(a, aFrom, aTo, b, bFrom, bTo) == 0
}
