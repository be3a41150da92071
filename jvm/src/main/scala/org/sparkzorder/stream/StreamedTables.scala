package org.sparkzorder.stream

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.{History, HistoryEntry, TableState}
import org.sparkzorder.commit.machine.{ReadableState, Recovery}
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.commit.{CommitException, FileMeta, SideNames, TableFolder}
import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{ForeignFormats, RecoveryErrors, Targets}

/**
 * The tables that a stream or Hive's reader takes its files from, by its path or pattern. Waits
 * some seconds for an operation that is exchanging files.
 */
private[sparkzorder] final class StreamedTables(session: classic.SparkSession, base: Path, waitSeconds: Long = 2L) {
  private val top = Iterator.iterate(base)(_.getParent)
    .find(p => p.getParent == null || !SparkOwn.isPattern(p)).get

  private var known = Option.empty[(Seq[(Path, StreamedTables.HistoryState)], Provenance)]

  /**
   * Waits until no operation is half done in the folders, so that a listing made afterwards is whole. Gives up silently
   * if that cannot be reached: each batch looks again.
   */
  def settle(): Unit =
    try { settled(Nil); () }
    catch { case _: CommitException | _: java.io.IOException => () }

  /** What the records of these tables say while no operation is half done. None if no table has a side folder. */
  def provenance(files: Seq[Path]): Option[Provenance] = {
    val tables = settledOrFail(files)
    val now = StreamedTables.versions(tables)
    if (now.isEmpty) None
    else {
      if (!known.exists(_._1 == now)) known = Some(now -> StreamedTables.read(tables.map(_._1)))
      known.map(_._2)
    }
  }

  /** The published state of these tables, which stays equal while no file is moved. Empty if no table is ours. */
  def versions(files: Seq[Path]): Seq[(Path, StreamedTables.HistoryState)] =
    StreamedTables.versions(settledOrFail(files))

  private def settledOrFail(files: Seq[Path]): Seq[(TableFolder, ReadableState)] =
    RecoveryErrors.translateErrors(RecoveryErrors.quoted) {
      val found = settled(files)
      found.collectFirst { case (folder, s) if s.around.isDefined => folder.root }.foreach { root =>
        throw ZOrderErrors.halfPublished(RecoveryErrors.quoted(root), waitSeconds)
      }
      found
    }

  private def settled(files: Seq[Path]): Seq[(TableFolder, ReadableState)] = {
    val conf = session.sessionState.conf
    val wait = waitSeconds * 1000
    val settings = LockSettings(timeoutMillis = conf.getConf(ZOrderConf.lockTimeoutSeconds) * 1000)
    val folders = roots(files)
      .filterNot(root => Targets.isSurelyMissing(session, new Path(root, SideNames.Side)))
      .map(root => TableFolder(root, ObjectStores.ops(Targets.fileSystem(session, root))))
    Recovery.settled(folders, wait, settings).filterNot(_._2.state == TableState.NoSideFolder)
  }

  /**
   * Folders that may be roots of tables with these files: the files' own folders, those above them up to the stream's
   * path, and tables above that of which it is a partition.
   */
  private def roots(files: Seq[Path]): Seq[Path] = {
    val below = files.map(_.getParent).distinct.flatMap { folder =>
      val path = Iterator.iterate(folder)(_.getParent).takeWhile(_ != null).toVector
      val (inside, rest) = path.span(_.depth > top.depth)
      inside ++ rest.headOption.filter(_.toUri.getPath == top.toUri.getPath)
    }
    val above = (top +: files.map(_.getParent)).distinct.flatMap(ForeignFormats.withTablesAbove)
    (below ++ above).distinctBy(_.toUri.getPath)
  }
}

private[sparkzorder] object StreamedTables {

  /** Two equal versions mean that the table's records are the same. */
  type HistoryState = (Seq[FileMeta], Set[FileMeta])

  private def version(side: TableState.SideFolder): HistoryState =
    (side.done.map(_.meta), side.undone.map(_.meta).toSet)

  private def versions(tables: Seq[(TableFolder, ReadableState)]): Seq[(Path, HistoryState)] =
    tables.map { case (folder, s) => folder -> s.state }.collect { case (folder, side: TableState.SideFolder) =>
      folder.root -> version(side)
    }

  private def read(tables: Seq[TableFolder]): Provenance = {
    // Operations of each table in the order of versions. One that was undone comes before the next with its number.
    val (ofTables, forgotten) = tables.map { folder =>
      val published = History.newestFirst(folder).toVector
      val first = firstWhole(published)
      val entries = (published ++ History.undone(folder)).filter(_.record.version >= first)
      val ordered = entries.sortBy(e => (e.record.version, e.state != History.Undone)).map(folder -> _).toList
      val end = published.takeWhile(_.record.version >= first).lastOption.orElse(published.headOption)
      (ordered, end.filter(_ => first > 1).map(_.time))
    }.unzip
    val changed = merged(ofTables).flatMap { case (folder, entry) => changes(folder, entry) }
    new Provenance(changed, forgotten.flatten.maxOption)
  }

  /**
   * The first version from which on the records tell all that happened: none is missing, and none is a RESTORE over one
   * that is. What an older record tells may have changed since.
   *
   * @param published newest first
   */
  private[stream] def firstWhole(published: Seq[HistoryEntry]): Long = {
    val newest = published.headOption.fold(0L)(_.record.version)
    val chain = published.zipWithIndex.takeWhile { case (e, i) => e.record.version == newest - i }.map(_._1)
    def from(first: Long): Long = chain.takeWhile(_.record.version >= first)
      .find(e => History.target(e.record).exists(_ < first - 1)).fold(first)(e => from(e.record.version + 1))
    from(chain.lastOption.fold(1L)(_.record.version))
  }

  /**
   * Merges the operations of several tables by time. The order within a table is kept: in a table that was copied file
   * by file, times say nothing about it.
   */
  private def merged(tables: Seq[List[(TableFolder, HistoryEntry)]]): Seq[(TableFolder, HistoryEntry)] =
    if (tables.sizeIs <= 1) tables.flatten
    else {
      val left = tables.toArray
      Iterator.continually(left.indices.filter(left(_).nonEmpty)).takeWhile(_.nonEmpty).map { some =>
        val next = some.minBy(left(_).head._2.time)
        val entry = left(next).head
        left(next) = left(next).tail
        entry
      }.toList
    }

  private def changes(folder: TableFolder, entry: HistoryEntry): Seq[FolderChange] = {
    val record = entry.record
    def path(name: String) = folder.resolve(name).toUri.getPath
    record.folders.map { work =>
      val (returned, made) = work.outputs.partition(_.source.isDefined)
      FolderChange(
        s"${record.operationId} ${path(work.folder)}",
        // Those that were lost are not in the trash, which a stream that needs them finds.
        (work.inputs ++ work.lost).map { f =>
          val trash = folder.retired(f.path, record).toUri.getPath
          MovedFile(path(f.path), f.length, f.modificationTime, trash = Some(trash))
        },
        made.map(f => MovedFile(path(f.path), f.length, f.modificationTime)),
        returned.map { f =>
          MovedFile(path(f.path), f.length, f.modificationTime, Some(path(f.pathBefore)), f.source.map(path))
        },
        entry.state == History.Undone
      )
    }
  }
}

/** Stands for the files of a batch that cannot be read. The error is thrown when the batch runs. */
private[stream] final class FailingFiles(base: FileIndex, error: Throwable) extends FileIndex {
  override def rootPaths: Seq[Path] = base.rootPaths
  override def partitionSchema: StructType = base.partitionSchema
  override def refresh(): Unit = ()
  override def inputFiles: Array[String] = throw error
  override def sizeInBytes: Long = throw error
  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    throw error
}
