package org.sparkzorder.optimize.options

import org.sparkzorder.optimize.Rewrite

/**
 * How the files to rewrite are split into file groups, and the groups into commits. A file group is
 * one Spark job.
 *
 * @param maxConcurrentRewrites how many file groups are rewritten at the same time
 * @param maxGroupSize largest group in bytes, if the statement sets it. A larger folder is then
 *   split into several groups, each laid out by itself.
 * @param maxCommits how many commits the statement may make; 1 without partial progress
 */
final case class FileGroupOptions(maxConcurrentRewrites: Int, maxGroupSize: Option[Long], maxCommits: Int) {

  /**
   * The same rewrites, with those of too large folders split into parts that are rewritten
   * independently.
   */
  private[sparkzorder] def split(rewrites: Seq[Rewrite]): Seq[Rewrite] =
    maxGroupSize.fold(rewrites)(FileGroupSchedule.split(rewrites, _))

  /**
   * For each commit its file groups. If the statement sets no size, a folder that is larger than
   * the default makes a group of its own, and is not split.
   */
  private[sparkzorder] def commits(rewrites: Seq[Rewrite]): Seq[Seq[Seq[Rewrite]]] = {
    val groups =
      FileGroupSchedule.of(rewrites, maxGroupSize.getOrElse(FileGroupOptions.DefaultMaxGroupSize), maxCommits)
    FileGroupSchedule.commits(groups, maxCommits)
  }
}

/** The defaults are those of Iceberg's `rewrite_data_files`. */
object FileGroupOptions {
  val DefaultMaxConcurrentRewrites = 5
  val DefaultMaxGroupSize: Long = 100L << 30
  val DefaultMaxCommits = 10
}
