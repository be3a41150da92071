package org.sparkzorder.optimize

import scala.collection.mutable

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.{Record, WritingOperation}
import org.sparkzorder.layout.{AlignedCuts, FileCounts, LayoutSpec}
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{DataFolder, RelativePath}

/** Which files an OPTIMIZE rewrites, and into how many. */
private[sparkzorder] object FileSelection {

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
      history: => Seq[WritingOperation],
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
   * the others are left alone. With `full`, all files of all folders are rewritten; with a number of files, those of folders that have
   * another number and do not come from the same statement.
   *
   * @param repeated of the files that the same statement has written before
   */
  def packed(
      folders: Seq[DataFolder],
      options: OptimizeOptions,
      full: Boolean,
      repeated: => Set[FileStatus]
  ): Seq[Rewrite] =
    if (isAll(options, full) || options.numFiles.isDefined) {
      val ordered = folders.map(f => f.copy(files = byTime(f.files)))
      val counts = outputCounts(ordered.map(_.files.map(_.getLen).sum), options)
      lazy val done = repeated
      ordered.zip(counts).flatMap { case (f, n) =>
        if (isAll(options, full)) Some(Rewrite(f, f.files, n, reason = "a full rewrite was asked for"))
        else if (f.files.size == n || f.files.forall(done)) None
        else Some(Rewrite(f, f.files, n, reason = "another number of files was asked for"))
      }
    } else
      folders.flatMap { folder =>
        val candidates =
          byTime(folder.files).filter(f => f.getLen < options.minFileSize || f.getLen > options.maxFileSize)
        FileGroups.nextFit(candidates, options.targetFileSize)(_.getLen).flatMap { group =>
          val outputs = FileCounts.bySize(Seq(group.map(_.getLen).sum), options.targetFileSize).head
          if (group.size == 1)
            Option.when(outputs > 1)(Rewrite(folder, group, outputs, reason = "there are files that are too large"))
          else
            Option.when(group.size >= options.minInputFiles)(
              Rewrite(folder, group, outputs, reason = "there are files that are too small or too large")
            )
        }
      }

  /** Whether packing rewrites all files, whatever their sizes and their number. */
  def isAll(options: OptimizeOptions, full: Boolean): Boolean = full || options.rewriteAll

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

  /** The layout that each file was written in; a file of no record has none. */
  private[sparkzorder] def layoutsOf(files: Seq[FileId], history: Seq[WritingOperation]): Map[FileId, String] =
    recordsOf(files, history).flatMap { case (file, record) => record.layout.map(file -> _) }

  /** Files that packing has written before, for a statement with this predicate and this number of files. */
  def packedBefore(
      folders: Seq[DataFolder],
      history: => Seq[WritingOperation],
      names: RelativePath,
      numFiles: Int,
      where: Option[String]
  ): Set[FileStatus] = {
    val files = folders.flatMap(_.files)
    val records = recordsOf(files.map(idOf(names, _)), history)
    def isSame(r: Record) = r.operation == "OPTIMIZE" && r.layout.isEmpty &&
      OptimizeOptions.numFiles(r.parameters).contains(numFiles) && r.parameters.getOrElse(
        "predicate",
        ""
      ) == where.getOrElse("")
    files.filter(f => records.get(idOf(names, f)).exists(isSame)).toSet
  }

  /**
   * The operation that wrote each file.
   *
   * Reads as much of the history as it needs: an operation writes no file that is younger than its record.
   *
   * @param history newest first
   */
  private def recordsOf(files: Seq[FileId], history: Seq[WritingOperation]): Map[FileId, Record] = {
    // By the name that a file was written under: a RESTORE may have brought it back under another.
    val unknown = mutable.HashMap.from(files.map(f => f -> f))
    val found = Map.newBuilder[FileId, Record]
    var oldest = if (files.isEmpty) Long.MaxValue else files.map(_.modificationTime).min
    val entries = history.iterator
    while (unknown.nonEmpty && entries.hasNext) {
      val entry = entries.next()
      if (oldest > entry.time + ClockSlack) unknown.clear()
      else {
        val before = unknown.size
        entry.record.outputs.foreach { o =>
          val id = FileId(o.path, o.length, o.modificationTime)
          if (o.source.isEmpty) unknown.remove(id).foreach(file => found += file -> entry.record)
          else if (o.pathBefore != o.path) unknown.remove(id).foreach(unknown(id.copy(path = o.pathBefore)) = _)
        }
        if (unknown.nonEmpty && unknown.size < before) oldest = unknown.keysIterator.map(_.modificationTime).min
      }
    }
    found.result()
  }
}
