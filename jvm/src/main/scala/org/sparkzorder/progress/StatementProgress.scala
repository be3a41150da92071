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
  private var counts = new PhaseCounts(Phase.Planning, from = 0, until = 0, totalFiles = 0, totalBytes = 0, started)
  private var step = Phase.Planning.name

  /**
   * Begins a phase. What the phase before it did not count is taken as done, unless the new one comes
   * before it: a plan may have to be made again.
   *
   * @param until the share of the whole statement that is done after this phase, 0 to 1
   * @param files to handle in it
   * @param bytes to handle in it; 0 when files tell enough
   */
  def enter(phase: Phase, until: Double, files: Long, bytes: Long = 0): Unit = synchronized {
    val from = if (until > counts.until) math.max(counts.fraction, counts.until) else counts.fraction
    counts = new PhaseCounts(phase, from, math.max(from, until), files, bytes, entered = nanos())
    step = phase.name
  }

  /** Names what is done within the phase, as it differs from the phase's own name. */
  def stepTo(name: String): Unit = synchronized { step = name }

  def expect(of: Phase, moreFiles: Long): Unit = synchronized {
    if (of == counts.phase) counts.totalFiles = math.max(counts.files, counts.totalFiles + moreFiles)
  }

  /** Counts what is done. A count of another phase than the current one is dropped. */
  def done(of: Phase, files: Long, bytes: Double = 0): Unit = synchronized {
    if (of == counts.phase) counts.add(files, bytes)
  }

  def snapshot: ProgressSnapshot = synchronized {
    val now = nanos()
    val inPhase = (now - counts.entered) / NanosPerMilli
    val share = counts.share
    val left =
      Option.when(share > 0 && share < AlmostAll && inPhase >= SpeedKnownMillis)((inPhase * (1 - share) / share).toLong)
    ProgressSnapshot(
      operation,
      table,
      step,
      counts.files,
      counts.totalFiles,
      counts.bytes.toLong,
      counts.totalBytes,
      counts.fraction,
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

  /**
   * What is done in one phase.
   *
   * @param from the share of the whole statement that was done before it
   */
  private final class PhaseCounts(
      val phase: Phase,
      from: Double,
      val until: Double,
      var totalFiles: Long,
      val totalBytes: Long,
      val entered: Long
  ) {
    var files = 0L
    var bytes = 0d

    def add(moreFiles: Long, moreBytes: Double): Unit = {
      files += moreFiles
      // A task may write more files than one.
      totalFiles = math.max(totalFiles, files)
      bytes = math.min(totalBytes.toDouble, bytes + moreBytes)
    }

    def share: Double =
      if (totalBytes > 0) bytes / totalBytes else if (totalFiles > 0) files.toDouble / totalFiles else 0d

    def fraction: Double = from + (until - from) * share
  }

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
