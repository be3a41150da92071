package org.sparkzorder.optimize

import org.sparkzorder.layout.FileCounts

/** Which rewrites are run as one job, and which jobs are committed together. Order is kept all through. */
private[sparkzorder] object FileGroups {

  /**
   * Rewrites of no more than so many bytes, but for single files that have more. Files of two parts of a folder overlap
   * along the curve, since each part is laid out for itself. Files that come to a layout that is there stay together:
   * they are few, and have their places already.
   */
  def split(rewrites: Seq[Rewrite], maxBytes: Long): Seq[Rewrite] = rewrites.flatMap { r =>
    val parts = if (r.placement.isDefined) Seq(r.files) else nextFit(r.files, maxBytes)(_.getLen)
    if (parts.size == 1) Seq(r)
    else
      parts.zip(FileCounts.byNumber(parts.map(_.map(_.getLen).sum), r.outputFiles)).zipWithIndex.map {
        case ((files, outputs), i) =>
          r.copy(files = files, outputFiles = outputs, rest = if (i == 0) r.rest else Nil)
      }
  }

  /**
   * Groups of no more than so many bytes, but for single rewrites that have more.
   *
   * @param wanted there are about so many at least, of about as many bytes, as long as there are rewrites for them
   */
  def of(rewrites: Seq[Rewrite], maxBytes: Long, wanted: Int): Seq[Seq[Rewrite]] = {
    val before = rewrites.scanLeft(0L)((sum, r) => sum + bytes(r))
    def share(r: Rewrite, from: Long) = math.min(wanted - 1, ((from + bytes(r) / 2.0) / before.last * wanted).toInt)
    rewrites.zip(before).groupMap { case (r, from) => share(r, from) }(_._1).toSeq.sortBy(_._1).flatMap {
      case (_, some) => nextFit(some, maxBytes)(bytes)
    }
  }

  /** At most so many commits, each of about as many groups as the others. */
  def commits[T](groups: Seq[T], most: Int): Seq[Seq[T]] =
    if (groups.isEmpty) Nil else groups.grouped((groups.size + most - 1) / most).toSeq

  /** A bin is closed when the next item would lift it over the limit. */
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
