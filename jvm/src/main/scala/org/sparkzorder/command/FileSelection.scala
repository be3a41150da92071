package org.sparkzorder.command

import scala.collection.mutable

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.HistoryEntry
import org.sparkzorder.layout.{AlignedCuts, FileCounts, LayoutSpec}
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{DataFolder, RelativePath}
import org.sparkzorder.write.UnitPlacement

/**
 * Files of one folder that are rewritten together, into so many.
 *
 * @param placement when they come to files that are along a curve already
 * @param incremental whether others of the folder are left as they are
 * @param reason why these files
 * @param rest files of the folder that are left, once for all of the folder's rewrites
 */
private[command] final case class Rewrite(
    folder: DataFolder,
    files: Seq[FileStatus],
    outputFiles: Int,
    placement: Option[UnitPlacement] = None,
    incremental: Boolean = false,
    reason: String = "",
    rest: Seq[FileStatus] = Nil
)

/** Which files an OPTIMIZE rewrites, and into how many. */
private[command] object FileSelection {

  /**
   * Clustering. A folder whose files all are of the layout already is left alone, unless all are to be rewritten or another number of
   * files is asked for. Of a folder with new files, as few others as will do are rewritten with them, where that is known.
   *
   * @param limited files may have so many rows at most, so that more files than asked for are what was asked for
   * @param along says of a folder, and of which files are in the layout, what to rewrite, or why all of it
   */
  def clustered(
      folders: Seq[DataFolder],
      layout: LayoutSpec,
      history: => Seq[HistoryEntry],
      names: RelativePath,
      options: OptimizeOptions,
      full: Boolean,
      limited: Boolean,
      along: IncrementalSelection
  ): Seq[Rewrite] = {
    val counts = outputCounts(folders.map(_.files.map(_.getLen).sum), options)
    lazy val layouts = layoutsOf(folders.flatMap(_.files).map(idOf(names, _)), history)
    def isLaidOut(f: FileStatus): Boolean = layouts.get(idOf(names, f)).contains(layout.json)
    folders.zip(counts).flatMap { case (folder, count) =>
      def all(reason: String) = Seq(Rewrite(folder, folder.files, count, reason = reason))
      if (full || options.rewriteAll) all("a full rewrite was asked for")
      else if (!folder.files.exists(isLaidOut)) all("no file is known to be in this layout")
      else if (!folder.files.forall(isLaidOut))
        if (options.numFiles.isDefined) all("a number of files was asked for")
        else along.of(folder, isLaidOut).fold(all, identity)
      else if (
        options.numFiles.isDefined && !isSoMany(folder.files.size, count, layout) &&
        !(limited && folder.files.size > count)
      )
        all("another number of files was asked for")
      else Nil
    }
  }

  /** Aligned cuts give about as many files as they are asked for. */
  private def isSoMany(files: Int, wanted: Int, layout: LayoutSpec): Boolean =
    if (layout.cuts == LayoutSpec.AlignedCuts) math.abs(files - wanted) <= AlignedCuts.CountTolerance * wanted
    else files == wanted

  /**
   * Packing: small files next to each other in the order of their times come together in groups of the target size, oversized ones are split;
   * the others are left alone. With a number of files, or `full`, all files of all folders are rewritten.
   */
  def packed(folders: Seq[DataFolder], options: OptimizeOptions, full: Boolean): Seq[Rewrite] =
    if (isAll(options, full)) {
      val ordered = folders.map(f => f.copy(files = byTime(f.files)))
      ordered.zip(outputCounts(ordered.map(_.files.map(_.getLen).sum), options)).map { case (f, n) =>
        Rewrite(f, f.files, n)
      }
    } else
      folders.flatMap { folder =>
        val candidates =
          byTime(folder.files).filter(f => f.getLen < options.minFileSize || f.getLen > options.maxFileSize)
        FileGroups.nextFit(candidates, options.targetFileSize)(_.getLen).flatMap { group =>
          val outputs = FileCounts.bySize(Seq(group.map(_.getLen).sum), options.targetFileSize).head
          val changes = if (group.size == 1) outputs > 1 else group.size >= options.minInputFiles
          if (changes) Some(Rewrite(folder, group, outputs)) else None
        }
      }

  /** Whether packing rewrites all files, whatever their sizes. */
  def isAll(options: OptimizeOptions, full: Boolean): Boolean =
    options.numFiles.isDefined || full || options.rewriteAll

  /** Whether rows of several files fit into fewer ones; else they would be written again every time. */
  def canBeFewer(rewrite: Rewrite, rows: Long, maxRecords: Long): Boolean =
    rewrite.files.size == 1 || (rows + maxRecords - 1) / maxRecords < rewrite.files.size

  private def byTime(files: Seq[FileStatus]): Seq[FileStatus] =
    files.sortBy(f => (f.getModificationTime, f.getPath.getName))

  private def outputCounts(bytes: Seq[Long], options: OptimizeOptions): Seq[Int] = options.numFiles match {
    case Some(n) => FileCounts.byNumber(bytes, n)
    case None    => FileCounts.bySize(bytes, options.targetFileSize)
  }

  private def idOf(names: RelativePath, f: FileStatus): FileId =
    FileId(names.of(f.getPath), f.getLen, f.getModificationTime)

  /** By how much the clock may have been wrong that gave a record its time, in milliseconds. */
  private val ClockSlack = 10L * 60 * 1000

  /**
   * The layout that each file was written in; a file of no record has none.
   *
   * Reads as much of the history as it needs: an operation writes no file that is younger than its record.
   *
   * @param history newest first
   */
  private[command] def layoutsOf(files: Seq[FileId], history: Seq[HistoryEntry]): Map[FileId, String] = {
    // By the name that a file was written under: a RESTORE may have brought it back under another.
    val unknown = mutable.HashMap.from(files.map(f => f -> f))
    val found = Map.newBuilder[FileId, String]
    var oldest = if (files.isEmpty) Long.MaxValue else files.map(_.modificationTime).min
    val entries = history.iterator
    while (unknown.nonEmpty && entries.hasNext) {
      val entry = entries.next()
      if (oldest > entry.time + ClockSlack) unknown.clear()
      else {
        val before = unknown.size
        entry.record.outputs.foreach { o =>
          val id = FileId(o.path, o.length, o.modificationTime)
          if (o.source.isEmpty) unknown.remove(id).foreach(file => entry.record.layout.foreach(found += file -> _))
          else if (o.pathBefore != o.path) unknown.remove(id).foreach(unknown(id.copy(path = o.pathBefore)) = _)
        }
        if (unknown.nonEmpty && unknown.size < before) oldest = unknown.keysIterator.map(_.modificationTime).min
      }
    }
    found.result()
  }
}
