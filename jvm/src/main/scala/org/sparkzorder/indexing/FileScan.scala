package org.sparkzorder.indexing

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.classic.{Dataset, SparkSession => ClassicSession}
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StructField, StructType}

import org.sparkzorder.compat._
import org.sparkzorder.conf.SessionCopy
import org.sparkzorder.footer.DataFormat
import org.sparkzorder.stats.{FileStats, IndexedColumns, StatsCollector, StatsMerge}
import org.sparkzorder.write.FixedFileIndex

/** Collects statistics from the rows, where footers cannot be trusted, in one Spark job. */
object FileScan {

  /**
   * @param files with the ordinals that the result has as its keys
   * @param schema of the table's data columns
   * @param options of the table, as its reader takes them. Damaged or missing files are never
   *   ignored, whatever the options say
   * @param byRow whether to read without batches, as Parquet's files with differences need it
   * @return an entry for each file that has rows
   * @throws org.apache.spark.SparkException when a file cannot be read
   */
  def scan(
      spark: SparkSession,
      files: Seq[(Int, FileStatus)],
      format: DataFormat,
      schema: StructType,
      indexed: IndexedColumns,
      options: Map[String, String] = Map.empty,
      byRow: Boolean = false
  ): Map[Int, FileStats] = if (files.isEmpty) Map.empty
  else {
    val columns = indexed.keys
    val session = SessionCopy.of(spark.asInstanceOf[ClassicSession], strict)
    if (byRow) session.sessionState.conf.setConf(SQLConf.PARQUET_VECTORIZED_READER_ENABLED, false)
    // ORC may find columns by position, so it needs all of them. Parquet finds them by name, so
    // other fields can be left out.
    val visible = if (format == DataFormat.Parquet) pruned(schema, columns.map(_.path.toList)) else schema
    val whole = reader(format, isWhole = indexed.members.nonEmpty)
    val relation = FixedFileIndex.relation(session, whole, visible, options, files.map(_._2))
    val names = visible.fieldNames.filter(n => columns.exists(_.path.head == n)).toSeq
    val rows = session.baseRelationToDataFrame(relation).select((names ++ relation.partitionSchema.fieldNames).map(n =>
      col(quoteIdentifier(n))
    ): _*)
    val rowSchema = StructType(names.map(n => visible(n)) ++ relation.partitionSchema.fields)
    val unit = names.size
    val parts =
      rows.asInstanceOf[Dataset[_]].queryExecution.toRdd.mapPartitions(collect(_, rowSchema, indexed, unit)).collect()
    parts.groupMapReduce { case (i, _) => files(i)._1 }(_._2)(StatsMerge.merge)
  }

  private def collect(
      rows: Iterator[InternalRow],
      schema: StructType,
      columns: IndexedColumns,
      unit: Int
  ): Iterator[(Int, FileStats)] = {
    val found = mutable.ArrayBuffer.empty[(Int, FileStats)]
    var last = -1
    var current: StatsCollector = null
    // The rows of a part of a file come one after the other, and its values take much memory until they are encoded.
    def finish(): Unit = if (current != null) found += ((last, current.result()))
    rows.foreach { row =>
      val ordinal = row.getInt(unit)
      if (current == null || ordinal != last) {
        finish()
        current = new StatsCollector(schema, columns)
        last = ordinal
      }
      current.add(row)
    }
    finish()
    found.iterator
  }

  /** @param isWhole whether each file is read by one task: the values of two parts cannot be put together */
  private def reader(format: DataFormat, isWhole: Boolean): FileFormat = (format, isWhole) match {
    case (DataFormat.Parquet, false) => new ParquetFileFormat
    case (DataFormat.Parquet, true)  => new WholeParquetFiles
    case (DataFormat.Orc, false)     => new OrcFileFormat
    case (DataFormat.Orc, true)      => new WholeOrcFiles
  }

  private final class WholeParquetFiles extends ParquetFileFormat {
    override def isSplitable(spark: SparkSession, options: Map[String, String], path: Path): Boolean = false
  }

  private final class WholeOrcFiles extends OrcFileFormat {
    override def isSplitable(spark: SparkSession, options: Map[String, String], path: Path): Boolean = false
  }

  // What would hide damaged files, or show values as they are not stored.
  private val strict = Seq("files.ignoreCorruptFiles", "files.ignoreMissingFiles", "readSideCharPadding")
    .map(key => s"spark.sql.$key" -> "false").toMap

  /** The schema with nothing but the columns and fields on these paths. */
  private[sparkzorder] def pruned(schema: StructType, paths: Seq[List[String]]): StructType = {
    val below = paths.groupMap(_.head)(_.tail)
    StructType(schema.fields.flatMap { f =>
      below.get(f.name).map { rest =>
        f.dataType match {
          case inner: StructType if !rest.contains(Nil) =>
            StructField(f.name, pruned(inner, rest), f.nullable, f.metadata)
          case _ => f
        }
      }
    })
  }
}
