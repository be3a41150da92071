package org.sparkzorder.optimize.plan

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.compat._
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.IndexedBounds
import org.sparkzorder.layout._
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.stats.{ColumnKey, FileId}
import org.sparkzorder.table.{DataFolder, RelativePath}
import org.sparkzorder.write.UnitPlacement

import IncrementalSelection._

/**
 * Chooses what to rewrite in a folder where new files came to files that lie along a curve: the new files, some cells,
 * and some of the files over the cells, as [[IncrementalPolicy]] decides. New files whose values are beyond the
 * boundaries of all cells become files of their own, with small files that earlier statements made like that.
 *
 * @param columns the key columns
 * @param snapshot the index, which knows where files lie along the curve
 * @param indexed bounds of the files that the index knows
 * @param limited whether the rows in a file are limited, so that rows of one place may be in several files
 * @param read reads the bounds of the key columns from the footers of files that the index does not know
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

  private val target = options.targetFileSize
  private lazy val index = snapshot
  private lazy val intervals = index.flatMap(_.intervals)

  /**
   * @param isLaidOut whether a file was written in the layout that the statement asks for
   * @return what to rewrite, or the reason why all files of the folder have to be rewritten
   */
  def of(folder: DataFolder, isLaidOut: FileStatus => Boolean): Either[String, Seq[Rewrite]] = {
    val placed = folder.files.filter(isLaidOut).flatMap(f => intervalOf(f).map(PlacedFile(f, _)))
    val withBoundaries = placed.filter(_.interval.frame.hasBoundaries)
    if (placed.isEmpty) Left("it is not known where files lie along the curve")
    else if (withBoundaries.isEmpty) ofFewFiles(folder, placed.map(_.file))
    else {
      val found = foldersFiles(folder, placed, withBoundaries)
      if (2 * found.bytesOfCells < found.totalBytes) Left("the cells along the curve hold less than half of the bytes")
      else if (!areCellsOfSize(found)) Left("the cells along the curve are of another size than the files asked for")
      else alongCells(found)
    }
  }

  /**
   * Sorts a folder's files by what is known about their place. Of all frames, that one counts whose cells have the most
   * bytes.
   */
  private def foldersFiles(folder: DataFolder, placed: Seq[PlacedFile], framed: Seq[PlacedFile]): FolderFiles = {
    def bytesOfCells(files: Seq[PlacedFile]) = sizeOf(files.filter(_.isCell).map(_.file))
    // The id decides between two frames with equal bytes, since the order of a map must not.
    val (_, main) = framed.groupBy(_.interval.frame.id).maxBy { case (id, files) => (bytesOfCells(files), id) }
    val isMain = main.map(_.path).toSet
    val isPlaced = placed.map(_.path).toSet
    FolderFiles(
      folder = folder,
      frame = main.head.interval.frame,
      cells = main.filter(_.isCell),
      over = main.filterNot(_.isCell),
      ofOtherFrames = placed.filterNot(p => isMain(p.path)).map(_.file),
      unplaced = folder.files.filterNot(f => isPlaced(f.getPath))
    )
  }

  /**
   * A folder with few files keeps no boundaries. Its new files are merged with old ones of about
   * their size and become files of their own, until the folder has too many.
   */
  private def ofFewFiles(folder: DataFolder, placed: Seq[FileStatus]): Either[String, Seq[Rewrite]] = {
    val isPlaced = placed.map(_.getPath).toSet
    val fresh = folder.files.filterNot(f => isPlaced(f.getPath))
    val total = sizeOf(folder.files)
    val budget = budgetOf(total)
    val again = smallOnes(placed, sizeOf(fresh), budget)(identity)
    val outputFiles = filesFor(sizeOf(fresh ++ again))
    val filesAfter = placed.size - again.size + outputFiles
    val share = shareOfNew(fresh, total)
    if (sizeOf(fresh) > budget) Left(share)
    else if (filesAfter > filesFor(total) + IncrementalPolicy.FewFiles)
      Left(s"$share, and there would be $filesAfter files where a full rewrite leaves ${filesFor(total)}")
    else if (placed.map(_.getLen).max > LargestMean * target)
      Left("the files along the curve are of another size than the files asked for")
    else {
      val rewritten = (fresh ++ again).map(_.getPath).toSet
      val (inputs, rest) = folder.files.partition(f => rewritten(f.getPath))
      val reason = s"$share and become files of their own, with ${again.size} small ones of before"
      Right(Seq(Rewrite(folder, inputs, outputFiles, incremental = true, reason = reason, rest = rest)))
    }
  }

  /**
   * Whether the cells have about the size that the statement asks for. The rows of one place may be
   * several files, and so may the rows of one value, so both the number of files and the number of
   * places may give the right mean size. One small cell is right too, since all rows fit into it.
   */
  private def areCellsOfSize(found: FolderFiles): Boolean = {
    val places = found.cells.map(c => (c.interval.low, c.interval.high)).distinct.size
    Seq(found.cells.size, places).exists { files =>
      val mean = found.bytesOfCells.toDouble / files / target
      mean <= LargestMean && (mean >= SmallestMean || files == 1)
    }
  }

  private def alongCells(found: FolderFiles): Either[String, Seq[Rewrite]] = {
    val arrivals = arrivalsOf(found)
    val beside = besideCells(found.frame, arrivals)
    val ownFiles = Option.when(!arrivals.beyond.isEmpty)(asOwnFiles(found, arrivals.beyond))
    val merged =
      if (arrivals.within.isEmpty) reasonAgainstCells(found, beside).toLeft(None)
      else mergedWithCells(found, arrivals.within.files, beside).map(Some(_))
    merged.map(rewrite => withRest(found.folder, rewrite.toSeq ++ ownFiles))
  }

  /** Sorts the files that are not along the main curve by whether their values are within its boundaries. */
  private def arrivalsOf(found: FolderFiles): Arrivals = {
    def isBeyond(f: BoundedFile): Boolean = IncrementalSelection.isBeyond(found.frame, f.bounds)
    val fresh = found.unplaced.zip(read(found.unplaced)).map { case (file, bounds) => BoundedFile(file, bounds) }
    val old = found.ofOtherFrames.map(f => BoundedFile(f, indexed.of(idOf(f))))
    val small = old.filter(2 * _.file.getLen < target)
    def batch(fresh: Seq[BoundedFile], small: Seq[BoundedFile]): Batch =
      Batch(fresh, smallOnes(small, sizeOf(fresh.map(_.file)), budgetOf(found.totalBytes))(_.file))

    val beyond = batch(fresh.filter(isBeyond), small.filter(isBeyond))
    val within = batch(fresh.filterNot(isBeyond), small.filterNot(isBeyond))
    val isRewritten = (beyond.files ++ within.files).map(_.getPath).toSet
    Arrivals(beyond, within, rest = old.filterNot(f => isRewritten(f.file.getPath)))
  }

  /** What a lookup reads beside the cells once the files beyond the boundaries are files of their own. */
  private def besideCells(frame: CurveFrame, arrivals: Arrivals): BesideCells = {
    val newBytes = sizeOf(arrivals.beyond.files)
    val readOfRest = arrivals.rest.map(f => shareOfLookups(frame, f.bounds)).sum
    // A lookup reads a new file as often as the files that it is made of, weighted by their bytes.
    val readOfNew = arrivals.beyond.all.map { f =>
      shareOfLookups(frame, f.bounds) * f.file.getLen / math.max(1L, newBytes)
    }.sum
    BesideCells(
      bytes = sizeOf(arrivals.rest.map(_.file)) + newBytes,
      files = readOfRest + readOfNew * filesFor(newBytes),
      written = newBytes
    )
  }

  private def asOwnFiles(found: FolderFiles, beyond: Batch): Rewrite = {
    val again = if (beyond.again.isEmpty) "" else s", with ${beyond.again.size} small ones of before"
    val reason =
      shareOfNew(beyond.fresh.map(_.file), found.totalBytes) + " and are beyond the boundaries of the cells: they " +
        "become files of their own" + again
    Rewrite(found.folder, beyond.files, filesFor(sizeOf(beyond.files)), incremental = true, reason = reason)
  }

  /** Why the whole folder has to be rewritten, although no new rows came to the cells; None if it need not be. */
  private def reasonAgainstCells(found: FolderFiles, beside: BesideCells): Option[String] = {
    val over = piecesOver(found).map(_.piece)
    val now = IncrementalPolicy.unchanged(found.pieces, over, target, curveColumns(found.frame), beside)
    Option.when(now.isPoor)(f"a lookup would read ${now.ratio}%.2f times the files")
  }

  /** Merges new files with some cells and some files over them, as the policy chooses; or says why not. */
  private def mergedWithCells(
      found: FolderFiles,
      coming: Seq[FileStatus],
      beside: BesideCells
  ): Either[String, Rewrite] = {
    val over = piecesOver(found)
    val share = shareOfNew(coming, found.totalBytes)
    IncrementalPolicy.choose(
      cells = found.pieces,
      over = over.map(_.piece),
      newBytes = sizeOf(coming),
      target = target,
      columns = curveColumns(found.frame),
      beside = beside
    ) match {
      case None                          => Left(share)
      case Some(choice) if choice.isPoor => Left(f"$share, and a lookup would read ${choice.ratio}%.2f times the files")
      case Some(choice)                  =>
        val absorbed = choice.absorbed.toSeq.sorted.flatMap(over(_).files)
        Right(mergeOf(found, coming, absorbed, choice))
    }
  }

  /** @param absorbed files over the cells that the policy chose */
  private def mergeOf(
      found: FolderFiles,
      coming: Seq[FileStatus],
      absorbed: Seq[FileStatus],
      choice: IncrementalChoice
  ): Rewrite = {
    val range = CellRange.of(found, choice)
    val cells = found.cells.filter(range.contains).map(_.file)
    val rewritten = (cells ++ absorbed ++ coming).map(_.getPath).toSet
    val inputs = found.folder.files.filter(f => rewritten(f.getPath))
    val bytes = sizeOf(inputs)
    val placement = Placement(found.frame, range.starts, range.until, files = bytes.toDouble / target)
    val reason =
      f"${shareOfNew(coming, found.totalBytes)}; ${100.0 * bytes / found.totalBytes}%.2f %% are written: " +
        s"${range.starts.length} of ${found.pieces.length} cells and ${absorbed.size} of ${found.over.size} files " +
        "over them are merged with new rows, the other new rows go to files over the cells; a lookup reads about " +
        f"${choice.ratio}%.2f times the files of a full rewrite"
    Rewrite(
      folder = found.folder,
      files = inputs,
      outputFiles = filesFor(bytes),
      placement = Some(UnitPlacement(placement, coming.map(_.getPath).toSet)),
      incremental = true,
      reason = reason
    )
  }

  /**
   * The files over the cells. If rows of one place may be several files, these belong together:
   * merging one of them would not help without the others.
   */
  private def piecesOver(found: FolderFiles): IndexedSeq[PieceOver] = {
    val ofPlaces =
      if (limited) found.over.groupBy(o => (o.interval.low, o.interval.high)).toSeq.sortBy(_._1).map(_._2)
      else found.over.map(Seq(_))
    ofPlaces.map(PieceOver(_)).toIndexedSeq
  }

  /**
   * Small files to write again together with new ones. Each has at most twice the bytes of all that it is merged with,
   * so on its way to a file of the target size a row is written only a few times.
   *
   * @param freshBytes of the new files
   * @param budget bytes that may be written in all
   */
  private def smallOnes[T](candidates: Seq[T], freshBytes: Long, budget: Long)(fileOf: T => FileStatus): Seq[T] = {
    val ascending = candidates.sortBy(c => (fileOf(c).getLen, fileOf(c).getPath.getName))
    val bytesBefore = ascending.scanLeft(freshBytes)(_ + fileOf(_).getLen)
    ascending.zip(bytesBefore).takeWhile { case (candidate, before) =>
      val bytes = fileOf(candidate).getLen
      bytes <= 2 * before && before + bytes <= math.max(freshBytes, budget)
    }.map { case (candidate, _) => candidate }
  }

  private def filesFor(bytes: Long): Int = FileCounts.bySize(Seq(bytes), target).head

  private def idOf(f: FileStatus): FileId = FileId(names.of(f.getPath), f.getLen, f.getModificationTime)

  /** Where a file lies along a curve of these key columns, if the index knows it. */
  private def intervalOf(f: FileStatus): Option[CurveInterval] =
    for {
      s <- index
      all <- intervals
      id = idOf(f)
      ordinal = s.ordinalOf(id.path, id.length, id.modificationTime)
      if ordinal >= 0
      interval <- all.of(ordinal)
      if interval.frame.columns.map(_.key) == columns
    } yield interval
}

private[sparkzorder] object IncrementalSelection {

  /** Cells whose mean size is not in this range, as a share of the target size, were made for another target. */
  private val SmallestMean = 0.4
  private val LargestMean = 2.0

  private final case class PlacedFile(file: FileStatus, interval: CurveInterval) {
    def path: Path = file.getPath
    def isCell: Boolean = interval.layer == CurveInterval.Cell
  }

  private final case class BoundedFile(file: FileStatus, bounds: IndexedSeq[FileBounds])

  /**
   * The files of a folder, by what is known about their place.
   *
   * @param frame the frame that placed the cells and the files over them
   * @param ofOtherFrames files that another frame placed
   * @param unplaced files whose place is not known
   */
  private final case class FolderFiles(
      folder: DataFolder,
      frame: CurveFrame,
      cells: Seq[PlacedFile],
      over: Seq[PlacedFile],
      ofOtherFrames: Seq[FileStatus],
      unplaced: Seq[FileStatus]
  ) {
    val totalBytes: Long = sizeOf(folder.files)
    val bytesOfCells: Long = sizeOf(cells.map(_.file))

    /**
     * The cells in the order of the curve. Files that share values of the curve are one piece. Two
     * files that share only the last value of the one and the first value of the other are two
     * pieces: equal cuts may part the rows of a value.
     */
    val pieces: IndexedSeq[CurvePiece] =
      cells.sortBy(c => (c.interval.low, c.interval.high)).foldLeft(Vector.empty[CurvePiece]) {
        case (done :+ last, c) if c.interval.low < last.high || c.interval.low == last.low =>
          done :+ CurvePiece(last.low, math.max(last.high, c.interval.high), last.bytes + c.file.getLen)
        case (done, c) => done :+ CurvePiece(c.interval.low, c.interval.high, c.file.getLen)
      }
  }

  /** New files, and small old files that are written again with them. */
  private final case class Batch(fresh: Seq[BoundedFile], again: Seq[BoundedFile]) {
    def all: Seq[BoundedFile] = fresh ++ again
    def files: Seq[FileStatus] = all.map(_.file)
    def isEmpty: Boolean = fresh.isEmpty && again.isEmpty
  }

  /**
   * The files that are not along the main curve.
   *
   * @param beyond files whose values are beyond the boundaries of all cells
   * @param within the other files to rewrite, whose rows have their places among the cells
   * @param rest files of other frames that stay as they are
   */
  private final case class Arrivals(beyond: Batch, within: Batch, rest: Seq[BoundedFile])

  /** Files over the cells with the same interval, that are merged together or not at all. */
  private final case class PieceOver(placed: Seq[PlacedFile]) {
    def files: Seq[FileStatus] = placed.map(_.file)
    val piece: CurvePiece = CurvePiece(placed.head.interval.low, placed.head.interval.high, sizeOf(files))
  }

  /**
   * Cells next to each other that are written anew.
   *
   * @param starts the first value of the curve that goes to each cell
   * @param until the first value behind the last cell; 0 if there are no cells
   */
  private final case class CellRange(starts: IndexedSeq[Long], until: Long) {
    def contains(cell: PlacedFile): Boolean =
      starts.nonEmpty && cell.interval.low >= starts.head && cell.interval.low < until
  }

  private object CellRange {
    def of(found: FolderFiles, choice: IncrementalChoice): CellRange = {
      val pieces = found.pieces
      // The first cell of all also takes smaller values than it has now, and the last one larger values.
      val starts = (choice.from until choice.until).map(i => if (i == 0) 0L else pieces(i).low)
      val until =
        if (starts.isEmpty) 0L
        else if (choice.until == pieces.length) found.frame.last + 1
        else pieces(choice.until).low
      CellRange(starts, until)
    }
  }

  private def sizeOf(files: Seq[FileStatus]): Long = files.map(_.getLen).sum
  private def budgetOf(totalBytes: Long): Long = (IncrementalPolicy.Budget * totalBytes).toLong

  private def shareOfNew(fresh: Seq[FileStatus], totalBytes: Long): String =
    f"${100.0 * sizeOf(fresh) / totalBytes}%.2f %% of the bytes are new"

  /** The first of a folder's rewrites lists the files that none of them takes. */
  private def withRest(folder: DataFolder, rewrites: Seq[Rewrite]): Seq[Rewrite] = {
    val rewritten = rewrites.flatMap(_.files.map(_.getPath)).toSet
    rewrites.head.copy(rest = folder.files.filterNot(f => rewritten(f.getPath))) +: rewrites.tail
  }

  private def curveColumns(frame: CurveFrame): Int =
    math.max(1, (0 until frame.curve.columns).count(frame.curve.bits(_) > 0))

  /** Whether all values of a file are outside the boundaries of some column. */
  private def isBeyond(frame: CurveFrame, bounds: IndexedSeq[FileBounds]): Boolean =
    frame.distributions.zip(bounds).exists {
      case (d: LongDistribution, FileBounds.Longs(min, max)) if d.distinct > 0 =>
        min > d.values.last || max < d.values.head
      case (d: BytesDistribution, FileBounds.Bytes(min, max)) if d.distinct > 0 =>
        ByteArrays.compareUnsigned(min, d.values.last) > 0 || ByteArrays.compareUnsigned(max, d.values.head) < 0
      case _ => false
    }

  /**
   * The share of lookups that read a file with these bounds: lookups of values that the cells hold,
   * on the mean of the key columns.
   */
  private def shareOfLookups(frame: CurveFrame, bounds: IndexedSeq[FileBounds]): Double =
    frame.distributions.zip(bounds).map { case (d, b) => FilesTouched.mean(d, Seq(b)) }.sum / bounds.length
}
