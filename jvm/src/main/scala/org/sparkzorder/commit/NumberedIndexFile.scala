package org.sparkzorder.commit

/** A file of statistics as a listing of the side folder shows it. The highest number counts. */
final case class NumberedIndexFile(number: Long, meta: FileMeta)
