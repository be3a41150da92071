package org.sparkzorder.index

import org.sparkzorder.layout.CurveInterval

/** How many bytes intervals take in an index file. */
object FrameSizes {

  /** @param files the intervals of all files of a unit */
  def packed(files: IndexedSeq[CurveInterval]): Int =
    CurveIntervals.toRaw(files.map(Some(_)), _ => 1L).fold(0)(Block.pack(new Array[Byte](Block.IdSize), _).length)
}
