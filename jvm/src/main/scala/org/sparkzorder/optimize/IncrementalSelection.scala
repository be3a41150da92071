package org.sparkzorder.optimize

import java.util.Arrays

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.IndexedBounds
import org.sparkzorder.layout._
import org.sparkzorder.stats.{ColumnKey, FileId}
import org.sparkzorder.table.{DataFolder, RelativePath}
import org.sparkzorder.write.UnitPlacement

/**
 * What to rewrite of a folder of which some files are not along the curve yet: the new files, some cells and some files
 * over the cells; see [[IncrementalPolicy]]. New files that lie beyond the boundaries of the cells become files of their
 * own, and so that these do not pile up, small ones of before are written again with them.
 *
 * @param columns keys that files are clustered by
 * @param snapshot where files lie along the curve, as far as it is known
 * @param indexed bounds of the files that the index knows
 * @param limited whether rows of one place may be several files, being too many for one
 * @param read bounds of the columns in other files, by their footers
 */
private[sparkzorder] final class IncrementalSelection(
    columns: IndexedSeq[ColumnKey],
    names: RelativePath,
    snapshot: => Option[IndexSnapshot],
    indexed: IndexedBounds,
    options: OptimizeOptions,
    limited: Boolean,
    read: Seq[FileStatus] => Seq[IndexedSeq[FileBounds]]
) {
  import IncrementalSelection._

  private val target = options.targetFileSize
  private lazy val index = snapshot
  private lazy val intervals = index.flatMap(_.intervals)

  /**
   * @param isLaidOut whether a file was written in the layout asked for
   * @return why all files are to be rewritten, or what is
   */
  def of(folder: DataFolder, isLaidOut: FileStatus => Boolean): Either[String, Seq[Rewrite]] = {
    val placed = folder.files.filter(isLaidOut).flatMap(f => interval(f).map(i => Placed(f, i)))
    val along = placed.filter(_.interval.frame.hasBoundaries)
    if (placed.isEmpty) Left("it is not known where files lie along the curve")
    else if (along.isEmpty) ofFew(folder, placed.map(_.file))
    else {
      // Of two with as much, the one that does not depend on the order of a map.
      val (_, main) = along.groupBy(_.interval.frame.id).maxBy { case (id, files) =>
        (sizeOf(files.filter(_.isCell).map(_.file)), id)
      }
      val isMain = main.map(_.file.getPath).toSet
      val isPlaced = placed.map(_.file.getPath).toSet
      val (cells, over) = main.partition(_.isCell)
      val others = placed.map(_.file).filterNot(f => isMain(f.getPath))
      val unplaced = folder.files.filterNot(f => isPlaced(f.getPath))
      val found = Found(folder, main.head.interval.frame, cells, over, others, unplaced)
      if (2 * found.bytes < found.total) Left("the cells along the curve hold less than half of the bytes")
      else if (!isOfSize(found)) Left("the cells along the curve are of another size than the files asked for")
      else chosen(found)
    }
  }

  /**
   * Of a folder of few files no boundaries are kept. New files come together with others of about their size, and become
   * files of their own, until there are too many.
   */
  private def ofFew(folder: DataFolder, placed: Seq[FileStatus]): Either[String, Seq[Rewrite]] = {
    val isPlaced = placed.map(_.getPath).toSet
    val fresh = folder.files.filterNot(f => isPlaced(f.getPath))
    val (total, ofFresh) = (sizeOf(folder.files), sizeOf(fresh))
    val room = (IncrementalPolicy.Budget * total).toLong
    val again = merged(placed.map(_ -> IndexedSeq.empty[FileBounds]), ofFresh, room).map(_._1)
    val written = ofFresh + sizeOf(again)
    val left = placed.size - again.size + files(written)
    val share = f"${100.0 * ofFresh / total}%.2f %% of the bytes are new"
    if (ofFresh > room) Left(share)
    else if (left > files(total) + IncrementalPolicy.FewFiles)
      Left(s"$share, and there would be $left files where a full rewrite leaves ${files(total)}")
    else if (placed.map(_.getLen).max > LargestMean * target)
      Left("the files along the curve are of another size than the files asked for")
    else {
      val taken = (fresh ++ again).map(_.getPath).toSet
      val reason = s"$share and become files of their own, with ${again.size} small ones of before"
      val (inputs, rest) = folder.files.partition(f => taken(f.getPath))
      Right(Seq(Rewrite(folder, inputs, files(written), incremental = true, reason = reason, rest = rest)))
    }
  }

  /**
   * A place that is several files, and a value that is: each by itself does not tell what size was asked for. What fits
   * into one file is one.
   */
  private def isOfSize(found: Found): Boolean = {
    val places = found.cells.map(c => (c.interval.low, c.interval.high)).distinct.size
    Seq(found.cells.size, places).exists { files =>
      val mean = found.bytes.toDouble / files / target
      mean <= LargestMean && (mean >= SmallestMean || files == 1)
    }
  }

  private def chosen(found: Found): Either[String, Seq[Rewrite]] = {
    val frame = found.frame
    val (outside, inside) =
      found.unplaced.zip(read(found.unplaced)).partition { case (_, bounds) => isBeyond(frame, bounds) }
    val known = found.others.map(f => f -> indexed.of(idOf(f)))
    val (smallOutside, smallInside) =
      known.filter(2 * _._1.getLen < target).partition { case (_, bounds) => isBeyond(frame, bounds) }
    val room = (IncrementalPolicy.Budget * found.total).toLong
    val tail = outside ++ merged(smallOutside, sizeOf(outside.map(_._1)), room)
    val coming = inside ++ merged(smallInside, sizeOf(inside.map(_._1)), room)
    val taken = (tail ++ coming).map(_._1.getPath).toSet
    val left = known.filterNot { case (f, _) => taken(f.getPath) }
    val bytesOfTail = sizeOf(tail.map(_._1))
    val beside = BesideCells(
      sizeOf(left.map(_._1)) + bytesOfTail,
      left.map { case (_, bounds) => readBy(frame, bounds) }.sum + tail.map { case (f, bounds) =>
        readBy(frame, bounds) * f.getLen / math.max(1L, bytesOfTail)
      }.sum * files(bytesOfTail),
      bytesOfTail
    )
    val own = Option.when(tail.nonEmpty) {
      val again = if (tail.size == outside.size) "" else s", with ${tail.size - outside.size} small ones of before"
      val reason =
        share(found, outside.map(_._1)) + " and lie beyond the boundaries of the cells: they become files of " +
          "their own" + again
      Rewrite(found.folder, tail.map(_._1), files(bytesOfTail), incremental = true, reason = reason)
    }
    val among = if (coming.isEmpty) unchanged(found, beside).toLeft(None) else placed(found, coming.map(_._1), beside)
    among.map { rewrite =>
      val all = rewrite.toSeq ++ own
      val gone = all.flatMap(_.files.map(_.getPath)).toSet
      all.head.copy(rest = found.folder.files.filterNot(f => gone(f.getPath))) +: all.tail
    }
  }

  /** Why all is to be rewritten, although nothing has come to the cells. */
  private def unchanged(found: Found, beside: BesideCells): Option[String] = {
    val now =
      IncrementalPolicy.unchanged(found.pieces, piecesOver(found).map(_._1), target, runsOver(found.frame), beside)
    Option.when(now.isPoor)(f"a lookup would read ${now.ratio}%.2f times the files")
  }

  /** New rows are placed along the curve that files lie along already. */
  private def placed(found: Found, coming: Seq[FileStatus], beside: BesideCells): Either[String, Some[Rewrite]] = {
    val (frame, pieces) = (found.frame, found.pieces)
    val overPieces = piecesOver(found)
    val fresh = sizeOf(coming)
    val shareOfNew = share(found, coming)
    IncrementalPolicy.choose(pieces, overPieces.map(_._1), fresh, target, runsOver(frame), beside) match {
      case None                          => Left(shareOfNew)
      case Some(choice) if choice.isPoor =>
        Left(f"$shareOfNew, and a lookup would read ${choice.ratio}%.2f times the files")
      case Some(choice) =>
        val starts =
          if (choice.until == choice.from) IndexedSeq.empty
          else (if (choice.from == 0) 0L else pieces(choice.from).low) +: (choice.from + 1 until choice.until)
            .map(pieces(_).low)
        val until =
          if (starts.isEmpty) 0L
          else if (choice.until == pieces.length) frame.last + 1
          else pieces(choice.until).low
        val cells = found.cells.filter(c => starts.nonEmpty && c.interval.low >= starts.head && c.interval.low < until)
        val over = choice.absorbed.toSeq.sorted.flatMap(overPieces(_)._2)
        val inputs = {
          val rewritten = (cells.map(_.file) ++ over ++ coming).map(_.getPath).toSet
          found.folder.files.filter(f => rewritten(f.getPath))
        }
        val bytes = sizeOf(inputs)
        val placement = Placement(frame, starts, until, bytes.toDouble / target)
        val reason =
          f"$shareOfNew; ${100.0 * bytes / found.total}%.2f %% are written: ${starts.length} of ${pieces.length} cells and " +
            f"${over.size} of ${found.over.size} files over them are merged with new rows, the other new rows lie over " +
            f"the cells; a lookup reads about ${choice.ratio}%.2f times the files of a full rewrite"
        val unit = UnitPlacement(placement, coming.map(_.getPath).toSet)
        Right(Some(Rewrite(found.folder, inputs, files(bytes), Some(unit), incremental = true, reason)))
    }
  }

  /** With the files of each. Those of one place belong together: none can be merged better without the others. */
  private def piecesOver(found: Found): IndexedSeq[(CurvePiece, Seq[FileStatus])] = {
    def piece(of: Seq[Placed]) =
      (CurvePiece(of.head.interval.low, of.head.interval.high, sizeOf(of.map(_.file))), of.map(_.file))
    if (!limited) found.over.map(o => piece(Seq(o))).toIndexedSeq
    else found.over.groupBy(o => (o.interval.low, o.interval.high)).toIndexedSeq.sortBy(_._1).map(g => piece(g._2))
  }

  /**
   * Small files that are written again with others: each is at most twice as large as all that it is merged with, so that
   * a row is written a few times at most on its way to a file of the target size.
   */
  private def merged(small: Seq[WithBounds], fresh: Long, room: Long): Seq[WithBounds] = {
    val ascending = small.sortBy { case (f, _) => (f.getLen, f.getPath.getName) }
    ascending.zip(ascending.scanLeft(fresh)(_ + _._1.getLen)).takeWhile { case ((f, _), before) =>
      f.getLen <= 2 * before && before + f.getLen <= math.max(fresh, room)
    }.map(_._1)
  }

  private def files(bytes: Long): Int = FileCounts.bySize(Seq(bytes), target).head

  private def idOf(f: FileStatus): FileId = FileId(names.of(f.getPath), f.getLen, f.getModificationTime)

  private def interval(f: FileStatus): Option[CurveInterval] =
    for {
      s <- index
      all <- intervals
      id = idOf(f)
      ordinal = s.ordinalOf(id.path, id.length, id.modificationTime)
      if ordinal >= 0
      i <- all.of(ordinal)
      if i.frame.columns.map(_.key) == columns
    } yield i
}

private[sparkzorder] object IncrementalSelection {

  /** Of the target size: others were made for another target. */
  private val SmallestMean = 0.4
  private val LargestMean = 2.0

  private type WithBounds = (FileStatus, IndexedSeq[FileBounds])

  private final case class Placed(file: FileStatus, interval: CurveInterval) {
    def isCell: Boolean = interval.layer == CurveInterval.Cell
  }

  /**
   * The files of a folder.
   *
   * @param frame what cells, and files over them, were placed by
   * @param others that were placed by something else
   * @param unplaced of which it is not known
   */
  private final case class Found(
      folder: DataFolder,
      frame: CurveFrame,
      cells: Seq[Placed],
      over: Seq[Placed],
      others: Seq[FileStatus],
      unplaced: Seq[FileStatus]
  ) {
    val total: Long = sizeOf(folder.files)
    val bytes: Long = sizeOf(cells.map(_.file))

    /**
     * Files that share values of the curve are one piece, unless it is the last of one and the first of the next: equal cuts
     * lie between rows of one value.
     */
    val pieces: IndexedSeq[CurvePiece] =
      cells.sortBy(c => (c.interval.low, c.interval.high)).foldLeft(Vector.empty[CurvePiece]) {
        case (done :+ last, c) if c.interval.low < last.high || c.interval.low == last.low =>
          done :+ CurvePiece(last.low, math.max(last.high, c.interval.high), last.bytes + c.file.getLen)
        case (done, c) => done :+ CurvePiece(c.interval.low, c.interval.high, c.file.getLen)
      }
  }

  private def sizeOf(files: Seq[FileStatus]): Long = files.map(_.getLen).sum

  private def share(found: Found, fresh: Seq[FileStatus]): String =
    f"${100.0 * sizeOf(fresh) / found.total}%.2f %% of the bytes are new"

  private def runsOver(frame: CurveFrame): Int =
    math.max(1, (0 until frame.curve.columns).count(frame.curve.bits(_) > 0))

  /** Whether the file has no value within the boundaries of some column. */
  private def isBeyond(frame: CurveFrame, bounds: IndexedSeq[FileBounds]): Boolean =
    frame.distributions.zip(bounds).exists {
      case (d: LongDistribution, FileBounds.Longs(min, max)) if d.distinct > 0 =>
        min > d.values.last || max < d.values.head
      case (d: BytesDistribution, FileBounds.Bytes(min, max)) if d.distinct > 0 =>
        Arrays.compareUnsigned(min, d.values.last) > 0 || Arrays.compareUnsigned(max, d.values.head) < 0
      case _ => false
    }

  /** The share of lookups of values that the cells hold, on the mean of the columns, that read a file. */
  private def readBy(frame: CurveFrame, bounds: IndexedSeq[FileBounds]): Double =
    frame.distributions.zip(bounds).map { case (d, b) => FilesTouched.mean(d, Seq(b)) }.sum / bounds.length
}
