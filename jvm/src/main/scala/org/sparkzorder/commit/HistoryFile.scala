package org.sparkzorder.commit

/**
 * A file with a line for each older operation, as a listing of the side folder shows it.
 *
 * @param number counts up with each such file of the table
 */
final case class HistoryFile(number: Long, meta: FileMeta)
