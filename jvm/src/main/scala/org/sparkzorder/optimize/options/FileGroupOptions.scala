package org.sparkzorder.optimize.options

import org.sparkzorder.compat._
import org.sparkzorder.layout.FileCounts
import org.sparkzorder.optimize.Rewrite

/**
 * How the files to rewrite are split into file groups, and the groups into commits. A file group is one Spark job.
 *
 * @param maxConcurrentRewrites how many file groups are rewritten at the same time
 * @param maxGroupSize largest group in bytes, if the statement sets it. A larger folder is then split into several
 *   groups, each laid out by itself.
 * @param maxCommits how many commits the statement may make; 1 without partial progress
 */
final case class FileGroupOptions(maxConcurrentRewrites: Int, maxGroupSize: Option[Long], maxCommits: Int) {

  /** The same rewrites, with those of too large folders split into parts that are rewritten independently. */
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

/** Decides which rewrites run as one job, and which jobs are committed together. The order of the rewrites is kept. */
private[sparkzorder] object FileGroupSchedule {

  /**
   * Splits rewrites into parts of at most `maxBytes`. A single larger file is a part of its own. Files from two parts
   * of a folder overlap along the curve, because each part is laid out by itself. A rewrite that adds new files to an
   * existing layout is not split: it has few files, and each row's place is known already.
   */
  def split(rewrites: Seq[Rewrite], maxBytes: Long): Seq[Rewrite] = rewrites.flatMap { r =>
    val parts = if (r.placement.isDefined) Seq(r.files) else nextFit(r.files, maxBytes)(_.getLen)
    if (parts.size == 1) Seq(r)
    else
      parts.zip(FileCounts.byNumber(parts.map(_.map(_.getLen).sum), r.outputFiles)).zipWithIndex.map {
        case ((files, outputs), i) => r.copy(files = files, outputFiles = outputs, rest = if (i == 0) r.rest else Nil)
      }
  }

  /**
   * Groups of at most `maxBytes`. A single larger rewrite is a group of its own.
   *
   * @param wanted make at least about this many groups of about equal size, if there are enough rewrites
   */
  def of(rewrites: Seq[Rewrite], maxBytes: Long, wanted: Int): Seq[Seq[Rewrite]] = {
    val before = rewrites.scanLeft(0L)((sum, r) => sum + bytes(r))
    def share(r: Rewrite, from: Long) = math.min(wanted - 1, ((from + bytes(r) / 2.0) / before.last * wanted).toInt)
    rewrites.zip(before).groupMap { case (r, from) => share(r, from) }(_._1).toSeq.sortBy(_._1).flatMap {
      case (_, some) => nextFit(some, maxBytes)(bytes)
    }
  }

  /** At most `most` commits, each with about the same number of groups. */
  def commits[T](groups: Seq[T], most: Int): Seq[Seq[T]] =
    if (groups.isEmpty) Nil else groups.grouped((groups.size + most - 1) / most).toVector

  /**
   * Fills bins in the order of the items. An item that does not fit into the open bin opens the next one ("next fit").
   */
  def nextFit[T](items: Seq[T], limit: Long)(size: T => Long): Seq[Seq[T]] = {
    val bins = Seq.newBuilder[Seq[T]]
    var open = Vector.empty[T]
    var filled = 0L
    items.foreach { item =>
      val more = size(item)
      if (open.nonEmpty && more > limit - filled) {
        bins += open
        open = Vector.empty
        filled = 0L
      }
      open :+= item
      filled += more
    }
    if (open.nonEmpty) bins += open
    bins.result()
  }

  private def bytes(rewrite: Rewrite): Long = rewrite.files.map(_.getLen).sum
}
