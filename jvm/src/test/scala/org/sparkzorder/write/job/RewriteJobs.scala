package org.sparkzorder.write.job

import java.io.File

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{DataFrame => ClassicFrame}
import org.apache.spark.sql.execution.datasources.{FileFormat, OutputWriter, OutputWriterFactory, PartitionedFile}
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.scalatest.Suite

import org.sparkzorder.LocalSpark
import org.sparkzorder.layout.{BytesMapping, LayoutShape, LayoutSpec}
import org.sparkzorder.stats.{IndexableColumns, IndexedColumns}
import org.sparkzorder.write.{FileGroup, KeyColumn}

/** Files that a suite writes, and jobs that rewrite them. */
trait RewriteJobs extends LocalSpark { this: Suite =>
  private var folders = 0

  protected def folder(): Path = {
    folders += 1
    new Path(new File(dir, s"f$folders").toURI)
  }

  protected def written(df: DataFrame, format: String = "parquet"): Source = {
    val path = folder()
    df.write.format(format).save(path.toString)
    new Source(path, format)
  }

  /** The data files of a folder. */
  protected final class Source(val path: Path, val format: String) {
    val schema: StructType = spark.read.format(format).load(path.toString).schema

    /** A unit of all files, in the order of their names. */
    def unit(outputFiles: Int): FileGroup = {
      val fs = path.getFileSystem(spark.sparkContext.hadoopConfiguration)
      val files = fs.listStatus(path).filter(_.getPath.getName.startsWith("part-")).sortBy(_.getPath.getName)
      FileGroup(files.toSeq.map(f => f -> spark.read.format(format).load(f.getPath.toString).count()), outputFiles)
    }

    def keys(names: String*): Seq[KeyColumn] = names.map(n => KeyColumn(Seq(n), schema(n).dataType, 1d))

    def read(files: Seq[StagedFile]): ClassicFrame =
      spark.read.format(format).schema(schema).load(files.map(_.path.toString): _*)

    def rowsOf(file: StagedFile): Seq[Row] = read(Seq(file)).collect().toSeq
  }

  /** Rewrites units of one schema. Hashes of the rows that are read and written must agree. */
  protected def rewrite(
      source: Source,
      units: Seq[FileGroup],
      keys: Seq[KeyColumn],
      conf: Map[String, String] = Map.empty,
      sampleRows: Option[Long] = None,
      shape: LayoutShape = LayoutShape(LayoutSpec.ZOrder, aligned = false),
      maxRecords: Long = 0,
      bytes: Option[BytesMapping] = None,
      by: Option[FileFormat] = None,
      staging: Path = folder()
  ): RewriteResult = {
    val format = by.getOrElse(if (source.format == "orc") new OrcFileFormat else new ParquetFileFormat)
    val (schema, none) = (source.schema, Map.empty[String, String])
    val indexed = IndexedColumns(IndexableColumns.of(schema))
    val spec = RewriteSpec(format, schema, none, _ => none, conf, units, keys, staging, indexed, "OPTIMIZE", shape)
      .copy(sampleRows = sampleRows, maxRecords = maxRecords, bytes = bytes)
    val result = new RewriteJob(spark, spec).run()
    assert(result.read == result.written && result.read.map(_.rows) == units.map(_.rows))
    result
  }
}

/** Parquet with readers and writers of its own. */
abstract class OtherParquet extends ParquetFileFormat {
  protected type Reader = PartitionedFile => Iterator[InternalRow]

  protected def writer(real: => OutputWriter): OutputWriter = real
  protected def reader(real: Reader, columns: StructType): Reader = real

  override def prepareWrite(
      session: SparkSession,
      job: Job,
      options: Map[String, String],
      schema: StructType
  ): OutputWriterFactory = {
    val real = super.prepareWrite(session, job, options, schema)
    new OutputWriterFactory {
      override def getFileExtension(context: TaskAttemptContext): String = real.getFileExtension(context)
      override def newInstance(path: String, schema: StructType, context: TaskAttemptContext): OutputWriter =
        writer(real.newInstance(path, schema, context))
    }
  }

  override def buildReaderWithPartitionValues(
      session: SparkSession,
      schema: StructType,
      partitions: StructType,
      required: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      conf: Configuration
  ): Reader = {
    val real = super.buildReaderWithPartitionValues(session, schema, partitions, required, filters, options, conf)
    reader(real, required)
  }
}

/** A writer that is told the number of each row before it writes it. */
final class HookedWriter(real: OutputWriter, beforeRow: Int => Unit, closed: () => Unit = () => ())
    extends OutputWriter {
  private var rows = 0

  override def write(row: InternalRow): Unit = {
    rows += 1
    beforeRow(rows)
    real.write(row)
  }

  override def close(): Unit = {
    real.close()
    closed()
  }

  override def path(): String = real.path()
}
