package org.sparkzorder.write.job

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.OpenUpload
import org.sparkzorder.compat._
import org.sparkzorder.layout._
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.stats.{FileStats, IndexedColumns}
import org.sparkzorder.write.{Dimension, FileGroup, KeyColumn}
import org.sparkzorder.write.check.{ReadBackRows, RowSum}
import org.sparkzorder.write.preserve.PreservedMetadata
import org.sparkzorder.write.sample.UnitLayouts
import org.sparkzorder.write.task.OpenUploads

/**
 * What a [[RewriteJob]] is to do.
 *
 * @param dataSchema of the files, without partition columns. New files have it too, with every column nullable
 * @param readOptions of the relation
 * @param writeOptions of the data source, including Hadoop settings of the format; they may depend on the layout
 * @param sessionConf settings of the session to read and write with; they win over the caller's
 * @param keys columns to cluster by; none to keep rows in the order in which they arrived
 * @param stagingDir for units without a folder of their own; created when one of them needs it
 * @param indexed columns to collect statistics of
 * @param description shown for the jobs in Spark's UI
 * @param shape how rows are ordered and cut
 * @param sampleRows rows to sample in all; None for 100 for each output file, but at least [[LayoutSample.MinSample]]
 *   for each unit
 * @param bytes set to order rows by one key made of the bytes of all key columns; None to order by ids of their values
 * @param maxRecords most rows of a file: a file that would have more is written as several; 0 for no limit
 * @param density set when ids are made of other distributions than the columns' own in the sample
 * @param hashed whether rows are hashed before the shuffle and when they are written, and read back. False only to
 *   measure the cost
 * @param kept what the new files take over from the old ones beside the rows
 * @param uploads set on an object store
 * @param dimensions those that have some of the keys
 */
final case class RewriteSpec(
    format: FileFormat,
    dataSchema: StructType,
    readOptions: Map[String, String],
    writeOptions: LayoutModel => Map[String, String],
    sessionConf: Map[String, String],
    units: Seq[FileGroup],
    keys: Seq[KeyColumn],
    stagingDir: Path,
    indexed: IndexedColumns,
    description: String,
    shape: LayoutShape,
    sampleRows: Option[Long] = None,
    bytes: Option[BytesMapping] = None,
    maxRecords: Long = 0,
    density: Option[UnitLayouts.Density] = None,
    hashed: Boolean = true,
    kept: Option[PreservedMetadata] = None,
    uploads: Option[OpenUploads] = None,
    dimensions: Seq[Dimension] = Nil
)

/**
 * A complete file in the staging folder.
 *
 * @param path ends in [[org.sparkzorder.commit.FileNames.StagedSuffix]]
 * @param unit ordinal of its rewrite unit
 * @param slot number among the files of all units: unit after unit, and along the curve within a
 *   unit. Files that were split only because they would have too many rows share a slot
 * @param interval the part of the curve that the file holds; None where there is no curve
 * @param rowHash sum of the hashes of the rows in the file; see [[RowSum]]
 * @param upload set on an object store, where it is no file yet; its path then has no suffix
 * @param readBack what was found in the file; set unless rows were not hashed
 * @param isColumnwise whether it was written column by column
 */
final case class StagedFile(
    path: Path,
    length: Long,
    modificationTime: Long,
    rows: Long,
    unit: Int,
    slot: Int,
    stats: FileStats,
    interval: Option[CurveInterval] = None,
    rowHash: Long = 0,
    upload: Option[OpenUpload] = None,
    readBack: Option[ReadBackRows] = None,
    isColumnwise: Boolean = false
)

/**
 * @param outputs in the order of their slots; files of the same slot in the order of the curve
 * @param samples for each unit, the sampled distribution of each key column; empty if nothing was sampled
 * @param sampledRows number of rows in the sample
 * @param drifts for each unit whose rows join existing files, how far the new rows differ from these files' boundaries
 * @param read for each unit, the rows that came out of the scan; empty when they were not hashed
 */
final case class RewriteResult(
    outputs: Seq[StagedFile],
    samples: IndexedSeq[IndexedSeq[ValueDistribution]],
    sampledRows: Long,
    sampleMillis: Long,
    writeMillis: Long,
    drifts: Seq[DistributionDrift] = Nil,
    read: IndexedSeq[RowSum] = IndexedSeq.empty
) {
  def rows: Long = outputs.map(_.rows).sum

  def readBack: Seq[ReadBackRows] = outputs.flatMap(_.readBack)

  def columnwise: Int = outputs.count(_.isColumnwise)

  /** For each unit, the rows that the writers got, with the hash of those in the files. */
  def written: IndexedSeq[RowSum] = {
    val ofUnit = outputs.groupMapReduce(_.unit)(o => RowSum(o.rows, o.rowHash))(_ + _)
    samples.indices.map(ofUnit.getOrElse(_, RowSum.none))
  }
}

/**
 * Tells the statement's progress how far one rewrite is: a tenth for the sample, and the rest half for reading and
 * shuffling and half for sorting and writing, as they take in `make bench`'s tables, more or less.
 *
 * @param bytes of the input files
 * @param rows of the input files
 */
private[write] final class RewriteProgress(progress: Option[StatementProgress], bytes: Long, rows: Long) {
  import RewriteProgress._

  def step(name: String): Unit = progress.foreach(_.stepTo(name))

  /**
   * @param tasks of the sampling job, of which one has ended
   * @param isAll whether nothing follows the sample
   */
  def sampled(tasks: Int, isAll: Boolean): Unit = report(0, (if (isAll) 1d else Sample) / tasks)

  def notSampled(isAll: Boolean): Unit = sampled(tasks = 1, isAll)

  /** The sample may lead to more or fewer files than the plan has. */
  def laidOut(moreFiles: Long): Unit = progress.foreach(_.expect(Phase.Rewriting, moreFiles))

  def read(more: Long): Unit = if (rows > 0) report(0, Read * more / rows)

  /** @param tasks of the writing job, of which one has ended, with so many files */
  def written(tasks: Int, files: Int): Unit = report(files.toLong, Write / tasks)

  private def report(files: Long, share: Double): Unit = progress.foreach(_.done(Phase.Rewriting, files, bytes * share))
}

private[write] object RewriteProgress {
  private val Sample = 0.1
  private val Read = 0.45
  private val Write = 0.45
}
