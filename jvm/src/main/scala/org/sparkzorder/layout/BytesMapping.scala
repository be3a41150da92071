package org.sparkzorder.layout

/**
 * The bytes mapping: rows are sorted by the bits of their columns' ordered bytes in turns, whatever the values'
 * distribution. Options and widths are those of Apache Iceberg's `zorder`: a fixed-width value has 8 bytes, whatever its
 * type, so that numbers of different types have their magnitudes side by side; a decimal of more than 18 digits has 16.
 *
 * @param varLengthContribution bytes of a string or binary: longer ones are cut, shorter ones filled up with zeros
 * @param maxOutputSize bytes of the whole key; what is beyond is cut
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
