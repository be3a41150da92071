package org.sparkzorder.command

/**
 * How much of a table is rewritten at once, and committed at once, with Iceberg's names and defaults.
 *
 * @param atOnce file groups that are rewritten at the same time; each is a job of its own
 * @param maxBytes of a group, when it was said: then a folder that has more is several groups, each laid out for itself
 * @param partial what is done is committed, as a version, before all is done
 * @param maxCommits of one statement, when what is done is committed
 */
final case class GroupOptions(atOnce: Int, maxBytes: Option[Long], partial: Boolean, maxCommits: Int) {

  /** Folders come together in groups of this size. Where nobody said it, a larger one is a group by itself. */
  def groupBytes: Long = maxBytes.getOrElse(GroupOptions.DefaultMaxBytes)

  /** Parts of folders that are rewritten each for itself. */
  private[command] def split(rewrites: Seq[Rewrite]): Seq[Rewrite] =
    maxBytes.fold(rewrites)(FileGroups.split(rewrites, _))

  /** File groups, by commit. */
  private[command] def commits(rewrites: Seq[Rewrite]): Seq[Seq[Seq[Rewrite]]] = {
    val groups = FileGroups.of(rewrites, groupBytes, if (partial) maxCommits else 1)
    FileGroups.commits(groups, if (partial) maxCommits else 1)
  }
}

object GroupOptions {
  val AtOnceKey = "max-concurrent-file-group-rewrites"
  val MaxBytesKey = "max-file-group-size-bytes"
  val PartialKey = "partial-progress.enabled"
  val MaxCommitsKey = "partial-progress.max-commits"

  val DefaultAtOnce = 5
  val DefaultMaxBytes: Long = 100L << 30
  val DefaultMaxCommits = 10
}
