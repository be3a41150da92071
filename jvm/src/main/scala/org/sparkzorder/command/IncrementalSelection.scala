package org.sparkzorder.command

import java.util.Arrays

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout._
import org.sparkzorder.stats.{ColumnKey, ColumnStats}
import org.sparkzorder.table.{DataFolder, RelativePath}
import org.sparkzorder.write.{KeyColumn, UnitPlacement}

/**
 * What to rewrite of a folder of which some files are not along the curve yet: the new files, some cells and some files
 * over the cells; see [[IncrementalPolicy]].
 *
 * @param snapshot where files lie along the curve, as far as it is known
 * @param read footers of files
 */
private[command] final class IncrementalSelection(
    keys: Seq[KeyColumn],
    names: RelativePath,
    snapshot: => Option[IndexSnapshot],
    options: OptimizeOptions,
    read: Seq[FileStatus] => Seq[Input]
) {
  import IncrementalSelection._

  private val columns = keys.map(k => ColumnKey(k.path, k.dataType)).toIndexedSeq
  private lazy val index = snapshot
  private lazy val intervals = index.flatMap(_.intervals)

  /**
   * @param isLaidOut whether a file was written in the layout asked for
   * @return why all files are to be rewritten, or what is
   */
  def of(folder: DataFolder, isLaidOut: FileStatus => Boolean): Either[String, Rewrite] = {
    val placed = folder.files.filter(isLaidOut).flatMap(f => interval(f).map(f -> _))
    val isPlaced = placed.map(_._1.getPath).toSet
    val unplaced = folder.files.filterNot(f => isPlaced(f.getPath))
    val total = folder.files.map(_.getLen).sum
    val byFrame = placed.groupBy(_._2.frame.id).values.toSeq
    if (byFrame.isEmpty) Left("it is not known where files lie along the curve")
    else {
      // Of two with as much, the one that does not depend on the order of a map.
      val main = byFrame.maxBy(files => (sizeOf(files.filter(isCell)), files.head._2.frame.id))
      val (cells, over) = main.partition(isCell)
      val pieces = piecesOf(cells)
      val mean = sizeOf(cells).toDouble / math.max(1, cells.size)
      val fresh = unplaced.map(_.getLen).sum
      if (pieces.length < FewestCells) Left(s"with ${pieces.length} cells along the curve all is rewritten at once")
      else if (2 * sizeOf(cells) < total) Left("the cells along the curve hold less than half of the bytes")
      else if (mean < SmallestMean * options.targetFileSize || mean > LargestMean * options.targetFileSize)
        Left("the cells along the curve are of another size than the files asked for")
      else chosen(folder, main.head._2.frame, pieces, cells, over, unplaced, total, fresh)
    }
  }

  private def chosen(
      folder: DataFolder,
      frame: CurveFrame,
      pieces: IndexedSeq[CurvePiece],
      cells: Seq[(FileStatus, CurveInterval)],
      over: Seq[(FileStatus, CurveInterval)],
      unplaced: Seq[FileStatus],
      total: Long,
      fresh: Long
  ): Either[String, Rewrite] = {
    val runsOver = math.max(1, frame.curve.columns - (0 until frame.curve.columns).count(frame.curve.bits(_) == 0))
    val overPieces = over.map { case (f, i) => CurvePiece(i.low, i.high, f.getLen) }.toIndexedSeq
    val share = f"${100.0 * fresh / total}%.1f %% of the bytes are new"
    if (lieBeyond(frame, unplaced)) {
      val reason = s"$share, and lie beyond the boundaries of the cells: they are files of their own"
      Right(Rewrite(folder, unplaced, files(fresh), None, incremental = true, reason, without(folder, unplaced)))
    } else
      IncrementalPolicy.choose(pieces, overPieces, fresh, options.targetFileSize, runsOver) match {
        case None                                                                => Left(share)
        case Some(choice) if choice.ratio > WorstRatio && choice.more > FewFiles =>
          Left(f"$share, and a lookup would read ${choice.ratio}%.2f times the files")
        case Some(choice) =>
          val first = if (choice.from == 0) 0L else pieces(choice.from).low
          val until = if (choice.until == pieces.length) frame.last + 1 else pieces(choice.until).low
          val rewritten =
            (cells.collect { case (f, i) if choice.until > choice.from && i.low >= first && i.low < until => f } ++
              over.zipWithIndex.collect { case ((f, _), i) if choice.absorbed(i) => f } ++ unplaced).toSet
          val inputs = folder.files.filter(rewritten)
          val starts =
            if (choice.until == choice.from) IndexedSeq.empty
            else first +: (choice.from + 1 until choice.until).map(pieces(_).low)
          val bytes = inputs.map(_.getLen).sum
          val placement = Placement(
            frame,
            starts,
            if (starts.isEmpty) 0L else until,
            bytes.toDouble / options.targetFileSize
          )
          val reason =
            f"$share; ${100.0 * bytes / total}%.1f %% are written: ${starts.length} of ${pieces.length} cells and " +
              f"${choice.absorbed.size} of ${over.size} files over them are merged with new rows, the other new rows lie " +
              f"over the cells; a lookup reads about ${choice.ratio}%.2f times the files of a full rewrite"
          val unit = UnitPlacement(placement, unplaced.map(_.getPath).toSet)
          Right(
            Rewrite(folder, inputs, files(bytes), Some(unit), incremental = true, reason, without(folder, inputs))
          )
      }
  }

  private def files(bytes: Long): Int = FileCounts.bySize(Seq(bytes), options.targetFileSize).head

  private def without(folder: DataFolder, files: Seq[FileStatus]): Seq[FileStatus] = folder.files.diff(files)

  private def interval(f: FileStatus): Option[CurveInterval] =
    for {
      s <- index
      all <- intervals
      ordinal = s.ordinalOf(names.of(f.getPath), f.getLen, f.getModificationTime)
      if ordinal >= 0
      i <- all.of(ordinal)
      if i.frame.columns.map(_.key) == columns
    } yield i

  /** Whether most of the new bytes are in files that have no value within the boundaries of some column. */
  private def lieBeyond(frame: CurveFrame, unplaced: Seq[FileStatus]): Boolean = {
    val beyond = read(unplaced).filter { input =>
      columns.indices.exists { c =>
        (frame.distributions(c), input.footer.stats.getOrElse(columns(c), ColumnStats.unknown)) match {
          case (d: LongDistribution, ColumnStats(min: Long, max: Long, _, _)) if d.distinct > 0 =>
            min > d.values.last || max < d.values.head
          case (d: BytesDistribution, ColumnStats(min: Array[Byte], max: Array[Byte], _, _)) if d.distinct > 0 =>
            Arrays.compareUnsigned(min, d.values.last) > 0 || Arrays.compareUnsigned(max, d.values.head) < 0
          case _ => false
        }
      }
    }
    beyond.nonEmpty && 2 * beyond.map(_.status.getLen).sum > unplaced.map(_.getLen).sum
  }
}

private[command] object IncrementalSelection {

  /** Fewer are cheap to rewrite, and some of them are much. */
  private val FewestCells = 8

  /** Of the target size: others were made for another target. */
  private val SmallestMean = 0.4
  private val LargestMean = 2.0

  /** Files per lookup, of those after a full rewrite, from which on that is done, unless it is about so few. */
  private val WorstRatio = 1.5
  private val FewFiles = 3

  private def isCell(f: (FileStatus, CurveInterval)): Boolean = f._2.layer == CurveInterval.Cell

  private def sizeOf(files: Seq[(FileStatus, CurveInterval)]): Long = files.map(_._1.getLen).sum

  /** Files that share a value of the curve are one piece. */
  private def piecesOf(cells: Seq[(FileStatus, CurveInterval)]): IndexedSeq[CurvePiece] =
    cells.sortBy { case (_, i) => (i.low, i.high) }.foldLeft(Vector.empty[CurvePiece]) {
      case (done :+ last, (f, i)) if i.low <= last.high =>
        done :+ CurvePiece(last.low, math.max(last.high, i.high), last.bytes + f.getLen)
      case (done, (f, i)) => done :+ CurvePiece(i.low, i.high, f.getLen)
    }
}
