package org.sparkzorder.memory

/**
 * A filter as it outlives its process.
 *
 * @param settings a digest of the reader's settings
 * @param conditions their digests
 * @param files without a row that passes
 */
private[memory] final case class KeptFilter(settings: String, conditions: Set[String], files: Set[ReadFile])
