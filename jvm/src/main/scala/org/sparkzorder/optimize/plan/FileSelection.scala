package org.sparkzorder.optimize.plan

import org.apache.hadoop.fs.{FileStatus, Path}

import org.sparkzorder.compat._
import org.sparkzorder.layout.{AlignedCuts, FileCounts, LayoutSpec}
import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.optimize.options.{FileGroupSchedule, OptimizeOptions}
import org.sparkzorder.table.DataFolder

/**
 * Chooses the files that an OPTIMIZE rewrites, and the number of files that each rewrite makes of
 * them.
 *
 * @param folders of the partitions that the statement is about
 * @param full whether the statement says FULL
 * @param maxRecords how many rows a file may have at most; 0 for any number
 */
private[sparkzorder] final class FileSelection(
    folders: Seq[DataFolder],
    options: OptimizeOptions,
    full: Boolean,
    maxRecords: Long,
    writers: FileWriters
) {
  import FileSelection.byTime

  private val rewritesAll: Boolean = full || options.rewriteAll

  /**
   * The rewrites that bring files into a layout. A folder whose files all have the layout is left
   * alone, unless the statement asks for a full rewrite or for another number of files. Where new
   * files came to a folder, as few old files as possible are rewritten with them, if it is known
   * where the old files lie along the curve.
   */
  def clustered(layout: LayoutSpec, incremental: IncrementalSelection): Seq[Rewrite] = {
    lazy val origins = writers.originsOf(folders.flatMap(_.files))
    def isLaidOut(f: FileStatus): Boolean = origins.get(writers.idOf(f)).contains(layout.json)
    folders.zip(outputCounts(folders)).flatMap { case (folder, count) =>
      def all(reason: String) = Seq(Rewrite(folder, folder.files, count, reason = reason))
      if (rewritesAll) all("a full rewrite was asked for")
      else if (!folder.files.exists(isLaidOut)) all("no file is known to be in this layout")
      else if (folder.files.forall(isLaidOut))
        if (hasOtherNumber(folder, count, layout)) all("another number of files was asked for") else Nil
      else if (options.numFiles.isDefined) all("a number of files was asked for")
      else incremental.of(folder, isLaidOut).fold(all, identity)
    }
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
   * The rewrites that pack files, which need no layout. By size: small files that follow each other
   * in time are merged into files of the target size, and files that are too large are split. By
   * number: folders that have another number of files are rewritten, unless the same statement
   * wrote them before.
   *
   * @param where the statement's predicate
   */
  def packed(where: Option[String]): Seq[Rewrite] =
    if (rewritesAll || options.numFiles.isDefined) packedByNumber(where) else folders.flatMap(packedBySize)

  private def packedByNumber(where: Option[String]): Seq[Rewrite] = {
    lazy val packedBefore = writers.packedBefore(folders.flatMap(_.files), where, options.numFiles)
    val ordered = folders.map(f => f.copy(files = byTime(f.files)))
    ordered.zip(outputCounts(ordered)).flatMap { case (folder, count) =>
      if (rewritesAll) Some(Rewrite(folder, folder.files, count, reason = "a full rewrite was asked for"))
      else if (folder.files.size == count || folder.files.forall(packedBefore)) None
      else Some(Rewrite(folder, folder.files, count, reason = "another number of files was asked for"))
    }
  }

  private def packedBySize(folder: DataFolder): Seq[Rewrite] = {
    def isOfOtherSize(f: FileStatus) = f.getLen < options.minFileSize || f.getLen > options.maxFileSize
    FileGroupSchedule.nextFit(byTime(folder.files).filter(isOfOtherSize), options.targetFileSize)(_.getLen).flatMap {
      group =>
        val outputs = FileCounts.bySize(Seq(group.map(_.getLen).sum), options.targetFileSize).head
        if (group.size == 1)
          Option.when(outputs > 1)(Rewrite(folder, group, outputs, reason = "there are files that are too large"))
        else
          Option.when(group.size >= options.minInputFiles)(
            Rewrite(folder, group, outputs, reason = "there are files that are too small or too large")
          )
    }
  }

  /**
   * The rewrites of [[packed]] without those that could not make fewer files, because a file may
   * have only so many rows. Otherwise every later statement would do them again.
   *
   * @param rowsOf rows of each file
   */
  def withFewerFiles(packed: Seq[Rewrite], rowsOf: Path => Long): Seq[Rewrite] =
    if (maxRecords == 0 || rewritesAll || options.numFiles.isDefined) packed
    else
      packed.filter { rewrite =>
        val rows = rewrite.files.map(f => rowsOf(f.getPath)).sum
        rewrite.files.size == 1 || (rows + maxRecords - 1) / maxRecords < rewrite.files.size
      }

  /** How many files each folder should get. */
  private def outputCounts(folders: Seq[DataFolder]): Seq[Int] = {
    val bytes = folders.map(_.files.map(_.getLen).sum)
    options.numFiles.fold(FileCounts.bySize(bytes, options.targetFileSize))(FileCounts.byNumber(bytes, _))
  }
}

private[sparkzorder] object FileSelection {

  private def byTime(files: Seq[FileStatus]): Seq[FileStatus] =
    files.sortBy(f => (f.getModificationTime, f.getPath.getName))
}
