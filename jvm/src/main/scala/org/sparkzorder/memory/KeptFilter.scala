package org.sparkzorder.memory

import org.roaringbitmap.RoaringBitmap

/**
 * A filter as it outlives its process.
 *
 * @param settings a digest of the reader's settings
 * @param columns of the files that it is about
 * @param conditions their digests
 * @param files numbers of the files without a row that passes; must not be changed
 */
private[memory] final case class KeptFilter(
    settings: String,
    columns: Set[String],
    conditions: Set[String],
    files: RoaringBitmap
)

/** Filters over the same files, which have numbers. */
private[memory] final case class KeptFilters(files: Map[Int, ReadFile], filters: Seq[KeptFilter])
