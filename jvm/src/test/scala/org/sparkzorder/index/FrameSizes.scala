package org.sparkzorder.index

import org.sparkzorder.layout.CurveInterval

/** Bytes that intervals take in an index file. */
object FrameSizes {

  /** @param files of one unit */
  def packed(files: IndexedSeq[CurveInterval]): Int =
    CurveIntervals.toRaw(files.map(Some(_)), _ => 1L).fold(0)(Block.pack(new Array[Byte](Block.IdSize), _).length)
}
