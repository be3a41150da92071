package org.sparkzorder.commit

/**
 * A checkpoint as a listing of the side folder shows it.
 *
 * @param version the newest that is in it
 * @param number counts up with each checkpoint of the table
 */
final case class CheckpointFile(version: Long, number: Long, meta: FileMeta)
