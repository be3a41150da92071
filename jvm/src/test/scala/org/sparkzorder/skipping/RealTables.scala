package org.sparkzorder.skipping

import java.nio.file.{Files, Path => JPath}

import org.apache.hadoop.mapreduce.{Job, TaskAttemptID}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType
import org.scalatest.Suite

import org.sparkzorder.LocalSpark

/** A session with the extension, and tables of files that Spark's own writer makes, without a job for each. */
trait RealTables extends LocalSpark { this: Suite =>

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.sql.session.timeZone" -> "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.threshold" -> "10000"
  )

  private val folder: JPath = dir.toPath
  private var tables = 0

  protected final class RealTable(val format: String, schema: StructType) {
    tables += 1
    private val path = folder.resolve(s"t$tables")
    val name = s"$format.`$path`"

    /** @param file its path in the table, without the format's extension */
    def write(file: String, rows: Seq[InternalRow]): Unit = {
      val data: FileFormat = if (format == "orc") new OrcFileFormat else new ParquetFileFormat
      val job = Job.getInstance(spark.sessionState.newHadoopConf())
      val factory = data.prepareWrite(spark, job, Map.empty, schema)
      val context = new TaskAttemptContextImpl(job.getConfiguration, new TaskAttemptID)
      val target = path.resolve(s"$file.$format")
      Files.createDirectories(target.getParent)
      val writer = factory.newInstance(target.toString, schema, context)
      try rows.foreach(writer.write)
      finally writer.close()
    }

    def run(statement: String): Unit = { spark.sql(statement).collect(); () }

    /** What a query made now reads: the files' paths in the table, without an extension. */
    def reader: Reader = new Reader(path, spark.read.schema(schema).format(format).load(path.toString))

    /** What EXPLAIN SKIPPING says. */
    def explained(condition: String): Long =
      spark.sql(s"EXPLAIN SKIPPING SELECT * FROM $name WHERE $condition").head().getAs[Long]("files_kept")
  }

  protected final class Reader(root: JPath, rows: DataFrame) {

    def kept(condition: String): Set[String] = kept(rows.where(condition))
    def kept(condition: Column): Set[String] = kept(rows.where(condition))

    private def kept(query: DataFrame): Set[String] =
      query.queryExecution.sparkPlan.collect { case s: FileSourceScanExec => s.relation.location }
        .flatMap(_.listFiles(Nil, Nil)).flatMap(_.files).map(_.getPath.toUri.getPath)
        .map(file => root.relativize(JPath.of(file)).toString.replaceFirst("[.][a-z.]+$", "")).toSet
  }
}
