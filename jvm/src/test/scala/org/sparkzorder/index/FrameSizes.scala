package org.sparkzorder.index

import org.sparkzorder.layout.CurveInterval

/** How many bytes intervals take in an index file. */
object FrameSizes {

  /** @param files the intervals of all files of a unit */
  def packed(files: IndexedSeq[CurveInterval]): Int =
    Indexes.having(files.size)(CurveIntervals.write(_, files.map(Some(_)), _ => 1L)).length -
      Indexes.having(files.size)(_ => ()).length
}
