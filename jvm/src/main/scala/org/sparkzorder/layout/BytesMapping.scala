package org.sparkzorder.layout

/**
 * The bytes mapping: rows are sorted by the bits of their columns' ordered bytes in turns, whatever
 * the distribution of the values. Options and widths are those of Apache Iceberg's `zorder`. A
 * value of fixed width has 8 bytes, whatever its type, so that bits of equal magnitude meet when
 * the types differ. A decimal of more than 18 digits has 16 bytes.
 *
 * @param varLengthContribution bytes of a string or binary value: longer ones are cut, shorter ones
 *   are padded with zeros
 * @param maxOutputSize the most bytes of the whole key; longer keys are cut
 */
final case class BytesMapping(varLengthContribution: Int, maxOutputSize: Int) {
  require(
    varLengthContribution >= 1 && maxOutputSize >= 1,
    s"$varLengthContribution and $maxOutputSize must be positive"
  )
}

object BytesMapping {
  val Default: BytesMapping = BytesMapping(8, Int.MaxValue)
}
