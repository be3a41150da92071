package org.sparkzorder.optimize.plan

import scala.util.hashing.MurmurHash3

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.compat._
import org.sparkzorder.layout.{AlignedCuts, FileCounts, LayoutSpec}
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.table.DataFolder

/**
 * Chooses the files that an OPTIMIZE rewrites, and the number of files that each rewrite makes of them.
 *
 * @param folders of the partitions that the statement is about
 * @param full whether the statement says FULL
 * @param where the statement's predicate
 * @param namesLayout whether the statement names a layout. If not, partitions keep layouts that statements with a
 *   predicate gave them
 * @param maxRecords how many rows a file may have at most; 0 for any number
 */
private[sparkzorder] final class FileSelection(
    folders: Seq[DataFolder],
    options: OptimizeOptions,
    full: Boolean,
    maxRecords: Long,
    writers: FileWriters,
    where: Option[String] = None,
    namesLayout: Boolean = false
) {
  import FileSelection.byTime

  private lazy val origins = writers.originsOf(folders.flatMap(_.files))
  private def originOf(f: FileStatus): Option[FileOrigin] = origins.get(writers.idOf(f))

  private val rewritesAll: Boolean = full || options.rewriteAll

  /**
   * The rewrites that bring files into a layout. A folder whose files all have the layout is left
   * alone, unless the statement asks for a full rewrite or for another number of files than was asked
   * for before. Where new files came to a folder, as few old files as possible are rewritten with
   * them, if it is known where the old files lie along the curve.
   */
  def clustered(layout: LayoutSpec, incremental: IncrementalSelection): Seq[Rewrite] = {
    val asked = askedOf(Some(layout))
    lazy val isAgain = areLeft(Some(layout))
    def isLaidOut(f: FileStatus): Boolean = originOf(f).exists(_.layout == layout.json)
    def wasAsked(folder: DataFolder): Boolean =
      folder.files.forall(originOf(_).exists(_.number == asked.number)) || isAgain
    folders.zip(outputCounts(folders)).flatMap { case (folder, count) =>
      def all(reason: String) = Seq(Rewrite(folder, folder.files, count, reason = reason))
      if (rewritesAll) all("a full rewrite was asked for")
      else if (keepsLayout(folder, Some(layout))) Nil
      else if (!folder.files.exists(isLaidOut)) all("no file is known to be in this layout")
      else if (folder.files.forall(isLaidOut))
        if (hasOtherNumber(folder, count, layout) && !wasAsked(folder)) all("another number of files was asked for")
        else Nil
      else if (options.numFiles.isDefined) all("a number of files was asked for")
      else incremental.of(folder, isLaidOut).fold(all, identity)
    }
  }

  private def askedOf(layout: Option[LayoutSpec]) = FileOrigin.of(layout, where, options, maxRecords)

  /**
   * A hash of the files that the statement leaves as they are, though they were not made by its words: a folder may
   * have its share of a number of files. The same statement said again finds other shares, once the rest was rewritten.
   */
  def left(layout: Option[LayoutSpec], isRewritten: Path => Boolean = _ => false): Option[String] = {
    val asked = askedOf(layout)
    def isLeft(f: FileStatus) = !isRewritten(f.getPath) && !originOf(f).contains(asked)
    val files = if (options.numFiles.isEmpty) Nil else folders.flatMap(_.files.filter(isLeft))
    Option.when(files.nonEmpty)(MurmurHash3.unorderedHash(files.map(writers.idOf)).toHexString)
  }

  /** Whether all files that were not made by the statement's words are those that it has left before. */
  private def areLeft(layout: Option[LayoutSpec]): Boolean = {
    val now = left(layout)
    now.isDefined && writers.leftBy(askedOf(layout)) == now
  }

  /** Whether the statement asks for a number of files that a folder does not have. */
  private def hasOtherNumber(folder: DataFolder, wanted: Int, layout: LayoutSpec): Boolean = {
    val files = folder.files.size
    // Aligned cuts give only about the number of files that was asked for.
    val isWanted =
      if (layout.cuts == LayoutSpec.AlignedCuts) math.abs(files - wanted) <= AlignedCuts.CountTolerance * wanted
      else files == wanted
    // If a file may have only so many rows, more files than wanted may be needed.
    val hasMoreForRows = maxRecords > 0 && files > wanted
    options.numFiles.isDefined && !isWanted && !hasMoreForRows
  }

  /**
   * The rewrites that pack files, which need no layout. By size: the small files of a folder are
   * merged into files of the target size, in the order of time, and files that are too large are
   * split. By number: folders that have another number of files are rewritten. In both ways, what
   * the same statement wrote before is left alone until other files come beside it.
   */
  def packed: Seq[Rewrite] = {
    val asked = askedOf(None)
    lazy val isAgain = areLeft(None)
    def packedBefore(f: FileStatus): Boolean = originOf(f).contains(asked)
    val ordered = folders.filterNot(keepsLayout(_, None)).map(f => f.copy(files = byTime(f.files)))
    if (rewritesAll || options.numFiles.isDefined)
      ordered.zip(outputCounts(ordered)).flatMap { case (folder, count) =>
        if (rewritesAll) Some(Rewrite(folder, folder.files, count, reason = "a full rewrite was asked for"))
        else if (folder.files.size == count || folder.files.forall(packedBefore)) None
        else if (isAgain) None
        else Some(Rewrite(folder, folder.files, count, reason = "another number of files was asked for"))
      }
    else ordered.flatMap(packedBySize(_, packedBefore(_)))
  }

  /** Whether a folder has a layout of its own, so that this statement leaves it. */
  def keepsLayout(folder: DataFolder, layout: Option[LayoutSpec]): Boolean =
    !rewritesAll && !namesLayout && folder.files.exists(originOf(_).exists(_.keepsFrom(layout)))

  /**
   * A merge makes fewer files, and none of them is small, unless all their bytes are fewer than
   * those of a file. So the next statement finds nothing to do. It is the same with the parts of a
   * large file. If they were small, the file counts as one of the small ones.
   */
  private def packedBySize(folder: DataFolder, packedBefore: FileStatus => Boolean): Seq[Rewrite] = {
    def outputs(files: Seq[FileStatus]) = FileCounts.bySize(Seq(files.map(_.getLen).sum), options.targetFileSize).head
    def isSplit(f: FileStatus) = {
      val parts = outputs(Seq(f))
      parts > 1 && f.getLen > options.maxFileSize && f.getLen / parts >= options.minFileSize
    }
    val (large, small) =
      folder.files.filter(f => f.getLen < options.minFileSize || f.getLen > options.maxFileSize).partition(isSplit)
    val isMerged = small.size >= options.minInputFiles && outputs(small) < small.size && !small.forall(packedBefore)
    val merged = Rewrite(folder, small, outputs(small), reason = "there are files that are too small or too large")
    Option.when(isMerged)(merged).toSeq ++ large.filterNot(packedBefore).map { f =>
      Rewrite(folder, Seq(f), outputs(Seq(f)), reason = "there are files that are too large")
    }
  }

  /**
   * The rewrites of [[packed]] by size with no more files than rows, and without those that could not change the number
   * of files as they should. A file may have only so many rows, and one row is not split.
   *
   * @param rowsOf rows of each file
   */
  def withOtherNumber(packed: Seq[Rewrite], rowsOf: Path => Long): Seq[Rewrite] =
    if (rewritesAll || options.numFiles.isDefined) packed
    else
      packed.flatMap { rewrite =>
        val rows = rewrite.files.map(f => rowsOf(f.getPath)).sum
        val outputs = math.max(1L, math.min(rewrite.outputFiles.toLong, rows)).toInt
        val written = if (maxRecords == 0) outputs.toLong else math.max(outputs.toLong, (rows - 1) / maxRecords + 1)
        val isUseful = if (rewrite.files.size == 1) written > 1 else written < rewrite.files.size
        Option.when(isUseful)(rewrite.copy(outputFiles = outputs))
      }

  private def outputCounts(folders: Seq[DataFolder]): Seq[Int] = {
    val bytes = folders.map(_.files.map(_.getLen).sum)
    options.numFiles.fold(FileCounts.bySize(bytes, options.targetFileSize))(FileCounts.byNumber(bytes, _))
  }
}

private[sparkzorder] object FileSelection {

  private def byTime(files: Seq[FileStatus]): Seq[FileStatus] =
    files.sortBy(f => (f.getModificationTime, f.getPath.getName))
}
