package org.sparkzorder.layout

/**
 * Bytes of data along a piece of the curve: one file, or several files that share a value of the
 * curve.
 *
 * @param low the least value of the curve in the piece
 * @param high the greatest value of the curve in the piece
 */
final case class CurvePiece(low: Long, high: Long, bytes: Long)
