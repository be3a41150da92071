package org.sparkzorder.write.job

import org.sparkzorder.progress.{Phase, StatementProgress}

/**
 * Tells the statement's progress how far one rewrite is: a tenth for the sample, and the rest half for reading and
 * shuffling and half for sorting and writing, as they take in `make bench`'s tables, more or less.
 *
 * @param bytes of the input files
 * @param rows of the input files
 */
private[write] final class RewriteProgress(progress: Option[StatementProgress], bytes: Long, rows: Long) {
  import RewriteProgress._

  def step(name: String): Unit = progress.foreach(_.stepTo(name))

  /**
   * @param tasks of the sampling job, of which one has ended
   * @param isAll whether nothing follows the sample
   */
  def sampled(tasks: Int, isAll: Boolean): Unit = report(0, (if (isAll) 1d else Sample) / tasks)

  def notSampled(isAll: Boolean): Unit = sampled(tasks = 1, isAll)

  /** The sample may lead to more or fewer files than the plan has. */
  def laidOut(moreFiles: Long): Unit = progress.foreach(_.expect(Phase.Rewriting, moreFiles))

  def read(more: Long): Unit = if (rows > 0) report(0, Read * more / rows)

  /** @param tasks of the writing job, of which one has ended, with so many files */
  def written(tasks: Int, files: Int): Unit = report(files.toLong, Write / tasks)

  private def report(files: Long, share: Double): Unit = progress.foreach(_.done(Phase.Rewriting, files, bytes * share))
}

private[write] object RewriteProgress {
  private val Sample = 0.1
  private val Read = 0.45
  private val Write = 0.45
}
