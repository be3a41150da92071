package org.sparkzorder.stream

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, GlobFilter, Path}
import org.apache.spark.sql.zorder.SparkOwn
import org.apache.spark.sql.{classic, Row}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.connector.read.streaming.{Offset => ReadOffset, ReadLimit}
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.streaming.Offset
import org.apache.spark.sql.execution.streaming.runtime.{FileStreamSource, FileStreamSourceLog, FileStreamSourceOffset}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.{WorkerThreads, WrittenNames}
import org.sparkzorder.commit.upkeep.RestorePlan
import org.sparkzorder.compat._
import org.sparkzorder.errors.{ZOrderErrors, ZOrderRuntimeException}
import org.sparkzorder.table.{PlacedFile, PlacedFiles, TableRoots, Targets}

/** What was decided for the first part of a stream's log, up to a batch, and by which records. */
private final case class Decided(until: Long, provenance: Provenance, contents: LoggedContents, deliveries: Deliveries)

/**
 * Spark's stream of files, which reads each row once although OPTIMIZE and RESTORE move rows to other files. The log of
 * files that the stream has seen stays Spark's. The log and the tables' records decide which of its files are read, and
 * which other files in their place.
 */
private[stream] final class TableStreamSource(
    session: classic.SparkSession,
    path: String,
    className: String,
    schema: StructType,
    partitionColumns: Seq[String],
    metadataPath: String,
    options: CaseInsensitiveMap[String]
) extends FileStreamSource(
      session,
      path,
      className,
      schema,
      partitionColumns,
      metadataPath,
      options
    ) {
  private val base = Targets.qualified(session, new Path(path))

  /** Files that are looked at at the same time. */
  private final val Threads = 32
  private val fs = Targets.fileSystem(session, base)
  refuseCatalogTable()
  private val tables = new StreamedTables(session, base, waitSeconds = 30L)
  private lazy val seenLog = new FileStreamSourceLog(FileStreamSourceLog.VERSION, session, metadataPath)

  private var decided = Option.empty[Decided]

  /** The files of all batches up to one, by batch. Read once, since the log may be long. */
  private var loggedBatches = Option.empty[(Long, Vector[Seq[Logged]])]

  private def loggedUntil(from: Long): Seq[Seq[Logged]] =
    if (from < 0) Nil
    else
      loggedBatches.filter(_._1 == from).getOrElse {
        val read = seenLog.allFiles().filter(_.batchId <= from).toSeq.groupBy(_.batchId).toSeq.sortBy(_._1)
          .map { case (_, entries) => entries.map(e => logged(e.sparkPath.toPath, e.timestamp)) }
        val found = (from, read.toVector)
        loggedBatches = Some(found)
        found
      }._2

  /** Such a table gets a new folder with each operation, and the stream's log knows files of one folder. */
  private def refuseCatalogTable(): Unit =
    if (!SparkOwn.isPattern(base) && TableRoots.isMoving(session, base))
      throw ZOrderErrors.streamOfCatalogTable(base.toUri.getPath)

  override def latestOffset(start: ReadOffset, limit: ReadLimit): ReadOffset = {
    tables.settle()
    super.latestOffset(start, limit)
  }

  override def prepareForTriggerAvailableNow(): Unit = {
    tables.settle()
    super.prepareForTriggerAvailableNow()
  }

  override def getBatch(start: Option[Offset], end: Offset): classic.Dataset[Row] = {
    val (from, to) =
      (start.map(FileStreamSourceOffset(_).logOffset).getOrElse(-1L), FileStreamSourceOffset(end).logOffset)
    val batches = seenLog.get(Some(from + 1), Some(to)).toSeq.sortBy(_._1)
      .map { case (_, entries) => entries.toSeq.map(e => logged(e.sparkPath.toPath, e.timestamp)) }
    val plain = super.getBatch(start, end)
    val relations = plain.queryExecution.logical.collect { case l: LogicalRelation => l.relation }
    val listed = relations.collect { case r: HadoopFsRelation => r.location.inputFiles.length }.sum
    val files = batches.flatten.map(f => pathOf(f.path))
    // When a stream starts, Spark asks for the previous batch again and does not run it. So an error must wait for the
    // run.
    val chosen =
      try Right(placed(from, to, batches, listed < files.length, tables.provenance(files)))
      catch { case e: ZOrderRuntimeException => Left(e) }
    def through(index: HadoopFsRelation => FileIndex) = {
      val plan = plain.queryExecution.logical.transform {
        case l: LogicalRelation =>
          l.relation match {
            case r: HadoopFsRelation => l.copy(relation = strict(r, index(r)))
            case _                   => l
          }
      }
      SparkOwn.rows(session, plan)
    }
    chosen match {
      case Right(None)    => plain
      case Right(Some(f)) => through(r => new PlacedFiles(session, r.options, Some(schema), f))
      case Left(error)    => through(r => new FailingFiles(r.location, error))
    }
  }

  /** With `ignoreMissingFiles` off: a file that is moved while the batch runs must be an error, not missing rows. */
  private def strict(r: HadoopFsRelation, index: FileIndex): HadoopFsRelation = {
    val options = CaseInsensitiveMap(r.options) + ("ignoreMissingFiles" -> "false")
    r.copy(location = index, options = options)(r.sparkSession)
  }

  /**
   * The files to read; None if Spark's own of the batch are right. `lacking` if Spark found fewer than the batch has.
   */
  @tailrec private def placed(
      from: Long,
      to: Long,
      batches: Seq[Seq[Logged]],
      lacking: Boolean,
      before: Option[Provenance]
  ): Option[Seq[PlacedFile]] = {
    val files = batches.flatten
    val found = before.map(chosen(from, batches, _))
    // An operation may have moved files while we looked.
    val isLate = found.fold(lacking)(_.exists(_._2.isEmpty))
    val now = if (isLate) tables.provenance(files.map(f => pathOf(f.path))) else before
    if (now != before) {
      placed(from, to, batches, lacking, now)
    } else {
      if (found.isEmpty) checkUnknown(files.map(_.path), from, None)
      found.map { all =>
        val gone = all.collect { case (place, None) if place.path != place.name => place.name }
        if (gone.nonEmpty) throw ZOrderErrors.streamFilesGone(base.toUri.getPath, gone)
        decided = decided.map(_.copy(until = to))
        loggedBatches = loggedBatches.filter(_._1 == from).map { case (_, seen) => (to, seen ++ batches) }
        // Other files that are gone were deleted from the folder. Spark leaves these out, too.
        all.collect { case (place, Some(status)) => PlacedFile(pathOf(place.name), status) }
      }
    }
  }

  private def chosen(
      from: Long,
      batches: Seq[Seq[Logged]],
      provenance: Provenance
  ): Seq[(FileLocation, Option[FileStatus])] = {
    val (contents, now) = contentsOf(from, batches, provenance)
    checkUnknown(contents, from, Some(now))
    WorkerThreads.map(contents.map(c => c -> provenance.place(c)), Threads) { case (c, place) =>
      val there = statusOf(place.path)
      // The file may have been moved back by hand.
      val broughtBack =
        if (there.isDefined || place.path == place.name) None
        else statusOf(place.name).filter(s => Provenance.timeOf(c).contains(s.getModificationTime))
      broughtBack.fold(place -> there)(status => FileLocation(place.name, place.name) -> Some(status))
    }
  }

  /** The contents to read for these batches, and the decisions behind them. */
  private def contentsOf(from: Long, batches: Seq[Seq[Logged]], provenance: Provenance): (Seq[String], Decided) = {
    // New records may say more about files that were seen earlier. Then all decisions are made again from the start.
    val start = decided.filter(d => d.until == from && from >= 0 && (d.provenance eq provenance)).getOrElse {
      val contents = new LoggedContents(provenance, stampOf)
      val fresh = Decided(-1, provenance, contents, newDeliveries)
      loggedUntil(from).foreach(see(_, fresh))
      fresh
    }
    // Invalid until this batch is done: if it fails, decisions start again.
    decided = Some(start.copy(until = -1))
    (batches.flatMap(see(_, start)).distinct, start)
  }

  private def see(files: Seq[Logged], by: Decided): Seq[String] =
    by.contents.of(files).flatMap(by.deliveries.see(_, by.provenance))

  private def logged(path: Path, time: Long): Logged = Logged(path.toUri.getPath, time)

  /**
   * Fails if rows might be delivered twice: a file was written by OPTIMIZE or brought back by RESTORE, or was made from
   * such a file, and no record of it is left. Its rows are new if all files that the stream has seen in this folder are
   * still there, or are known to have been moved.
   *
   * @param contents to read
   */
  private def checkUnknown(contents: Seq[String], from: Long, by: Option[Decided]): Unit = if (from >= 0) {
    lazy val before = loggedUntil(from).flatten
    lazy val known = before.groupMap(_.path)(_.time)
    val provenance = by.map(_.provenance)
    def isUnknown(content: String): Boolean = {
      val path = Provenance.inPlace(content).path
      val name = pathOf(path).getName
      val isNew = WrittenNames.isOurs(name) || RestorePlan.isRenamed(name) || provenance.exists(_.mayBeBack(content))
      // Without records only the name tells, and the log is not read for it.
      (isNew || provenance.isDefined) && (known.get(path) match {
        case Some(times) => provenance.exists(p => times.exists(p.isInDoubt(path, _, stampOf(path))))
        case None        => isNew
      })
    }
    val unknown = contents.flatMap(origins(_, provenance)).distinct.filter(isUnknown).map(Provenance.inPlace(_).path)
    if (unknown.nonEmpty) {
      val folders = unknown.map(pathOf(_).getParent).toSet
      // Another file of that name does not have the rows that the stream has seen.
      def isThere(f: Logged) = statusOf(f.path).exists(_.getModificationTime == f.time)
      val lost = before.find { f =>
        folders(pathOf(f.path).getParent) && !by.exists(d => d.provenance.isKnown(d.contents.of(f))) && !isThere(f)
      }
      lost.foreach(f => throw ZOrderErrors.streamUnknownFile(base.toUri.getPath, unknown.head, f.path))
    }
  }

  /** The contents without a known writer that a content was made from, or the content itself. */
  private def origins(content: String, provenance: Option[Provenance]): Seq[String] = {
    val seen = mutable.LinkedHashSet(content)
    val left = mutable.Queue(content)
    def madeFrom(next: String) = provenance.flatMap(_.creator(next)).map(_.inputs)
    while (left.nonEmpty) left ++= madeFrom(left.dequeue()).toSeq.flatten.filter(seen.add)
    seen.toSeq.filter(madeFrom(_).isEmpty)
  }

  private def statusOf(path: String): Option[FileStatus] =
    try Some(fs.getFileStatus(pathOf(path)))
    catch { case _: FileNotFoundException => None }

  private def stampOf(path: String): Option[Stamp] = statusOf(path).map(s => Stamp(s.getModificationTime, s.getLen))

  private def pathOf(path: String): Path = new Path(base.toUri.getScheme, base.toUri.getAuthority, path)

  private def newDeliveries: Deliveries = {
    val byName = options.get("pathGlobFilter").map(new GlobFilter(_))
    val byPath = if (SparkOwn.isPattern(new Path(base.getName))) Some(new GlobFilter(base.getName)) else None
    new Deliveries(content => {
      val path = pathOf(Provenance.inPlace(content).path)
      byName.forall(_.accept(path)) && (path.depth != base.depth || byPath.forall(_.accept(path)))
    })
  }
}
