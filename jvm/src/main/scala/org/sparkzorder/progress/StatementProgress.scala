package org.sparkzorder.progress

import org.sparkzorder.compat._

/**
 * A part of a statement that may take long.
 *
 * @param name as people read it
 */
sealed abstract class Phase(val name: String)

object Phase {
  case object Planning extends Phase("planning")
  case object Footers extends Phase("reading footers")
  case object Scanning extends Phase("reading rows")
  case object Rewriting extends Phase("rewriting")
  case object Moving extends Phase("moving files")
  case object Deleting extends Phase("deleting files")
}

/**
 * How far one statement is. Any thread may report to it and look at it.
 *
 * A statement goes through phases. Each counts files, and bytes too where these tell more about the
 * time that it takes.
 *
 * {{{
 * val progress = new StatementProgress("VACUUM", "t")
 * progress.enter(Phase.Deleting, until = 1, files = 4)
 * progress.done(Phase.Deleting, files = 1)
 * progress.snapshot.fraction // 0.25
 * }}}
 *
 * @param nanos a clock in nanoseconds, which only runs forward
 */
final class StatementProgress(val operation: String, val table: String, nanos: () => Long = () => System.nanoTime()) {
  import StatementProgress._

  private val started = nanos()
  private var phase: Phase = Phase.Planning
  private var step = Phase.Planning.name
  private var (from, until) = (0d, 0d)
  private var (files, totalFiles) = (0L, 0L)
  private var (bytes, totalBytes) = (0d, 0L)
  private var entered = started

  /**
   * Begins a phase. What the phase before it did not count is taken as done, unless the new one comes
   * before it: a plan may have to be made again.
   *
   * @param until the share of the whole statement that is done after this phase, 0 to 1
   * @param files to handle in it
   * @param bytes to handle in it; 0 when files tell enough
   */
  def enter(phase: Phase, until: Double, files: Long, bytes: Long = 0): Unit = synchronized {
    from = if (until > this.until) math.max(fraction, this.until) else fraction
    this.until = math.max(from, until)
    this.phase = phase
    step = phase.name
    this.files = 0
    totalFiles = files
    this.bytes = 0
    totalBytes = bytes
    entered = nanos()
  }

  /** Names what is done within the phase, as it differs from the phase's own name. */
  def stepTo(name: String): Unit = synchronized { step = name }

  def expect(of: Phase, moreFiles: Long): Unit = synchronized {
    if (of == phase) totalFiles = math.max(files, totalFiles + moreFiles)
  }

  /** Counts what is done. A count of another phase than the current one is dropped. */
  def done(of: Phase, files: Long, bytes: Double = 0): Unit = synchronized {
    if (of == phase) {
      this.files += files
      // A task may write more files than one.
      totalFiles = math.max(totalFiles, this.files)
      this.bytes = math.min(totalBytes.toDouble, this.bytes + bytes)
    }
  }

  private def share: Double =
    if (totalBytes > 0) bytes / totalBytes else if (totalFiles > 0) files.toDouble / totalFiles else 0d

  private def fraction: Double = from + (until - from) * share

  def snapshot: ProgressSnapshot = synchronized {
    val now = nanos()
    val inPhase = (now - entered) / NanosPerMilli
    val left =
      Option.when(share > 0 && share < AlmostAll && inPhase >= SpeedKnownMillis)((inPhase * (1 - share) / share).toLong)
    ProgressSnapshot(
      operation,
      table,
      step,
      files,
      totalFiles,
      bytes.toLong,
      totalBytes,
      fraction,
      (now - started) / NanosPerMilli,
      left
    )
  }
}

object StatementProgress {
  private val NanosPerMilli = 1000000L

  /** From this share on, what goes on in a phase is not counted by its files or bytes. */
  private val AlmostAll = 0.999

  /** A phase is this old before its speed says anything. */
  private val SpeedKnownMillis = 1000L

  private val ofThread = new ThreadLocal[StatementProgress]

  /** The statement that this thread works for, if any. */
  def current: Option[StatementProgress] = Option(ofThread.get)

  def during[T](progress: Option[StatementProgress])(work: => T): T = {
    val before = ofThread.get
    ofThread.set(progress.orNull)
    try work
    finally ofThread.set(before)
  }
}

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
