package org.sparkzorder.write.job

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.OpenUpload
import org.sparkzorder.layout._
import org.sparkzorder.stats.{FileStats, IndexedColumns}
import org.sparkzorder.write.{Dimension, FileGroup, KeyColumn}
import org.sparkzorder.write.check.ReadBackRows
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
