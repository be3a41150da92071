package org.sparkzorder.layout

/**
 * Data of the same folder that is neither in a cell nor in a file over the cells.
 *
 * @param bytes its size
 * @param files how many of its files a lookup reads
 * @param written how many of its bytes the same statement writes
 */
final case class BesideCells(bytes: Long, files: Double, written: Long)

object BesideCells {
  val nothing: BesideCells = BesideCells(0, 0, 0)
}
