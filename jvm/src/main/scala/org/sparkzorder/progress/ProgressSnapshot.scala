package org.sparkzorder.progress

/**
 * How far a statement is at one moment.
 *
 * @param operation such as `OPTIMIZE`
 * @param table as the statement names it
 * @param step what it does now, such as `writing`
 * @param files that are done in this phase, of `totalFiles`. 0 of 0 when the phase has no files
 * @param bytes that are done in this phase, of `totalBytes`. 0 of 0 when they are not counted
 * @param fraction of the whole statement, 0 to 1. It never falls
 * @param millis since the statement began
 * @param millisLeft of this phase at its speed so far; None before that is known
 */
final case class ProgressSnapshot(
    operation: String,
    table: String,
    step: String,
    files: Long,
    totalFiles: Long,
    bytes: Long,
    totalBytes: Long,
    fraction: Double,
    millis: Long,
    millisLeft: Option[Long]
)
