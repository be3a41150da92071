package org.sparkzorder.optimize

/**
 * How the files to rewrite come in groups, and the groups in commits.
 *
 * @param maxConcurrentRewrites file groups that are rewritten at the same time; each is a job of its own
 * @param maxGroupSize of a group in bytes, when it was said: then a folder that has more is several groups, each laid
 *   out for itself
 * @param maxCommits of the statement; one without partial progress
 */
final case class FileGroupOptions(maxConcurrentRewrites: Int, maxGroupSize: Option[Long], maxCommits: Int) {

  /** Parts of folders that are rewritten each for itself. */
  private[sparkzorder] def split(rewrites: Seq[Rewrite]): Seq[Rewrite] =
    maxGroupSize.fold(rewrites)(FileGroups.split(rewrites, _))

  /** File groups, by commit. Where nobody said how large a group may be, a folder beyond the default is one by itself. */
  private[sparkzorder] def commits(rewrites: Seq[Rewrite]): Seq[Seq[Seq[Rewrite]]] = {
    val groups = FileGroups.of(rewrites, maxGroupSize.getOrElse(FileGroupOptions.DefaultMaxGroupSize), maxCommits)
    FileGroups.commits(groups, maxCommits)
  }
}

/** Iceberg's defaults. */
object FileGroupOptions {
  val DefaultMaxConcurrentRewrites = 5
  val DefaultMaxGroupSize: Long = 100L << 30
  val DefaultMaxCommits = 10
}
