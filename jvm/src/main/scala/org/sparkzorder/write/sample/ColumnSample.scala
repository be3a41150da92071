package org.sparkzorder.write.sample

import java.util.SplittableRandom

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Cast}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.stats.KeyEncoding
import org.sparkzorder.write._

/**
 * Draws rows evenly from files, in one job that reads no other columns. It draws the same rows
 * whenever it runs over the same splits.
 */
object ColumnSample {
  private val Seed = 0x5a6f726465724155L

  /** A task returns at least this number of rows, if it has them. */
  private val MinOfTask = 2000

  /**
   * @param rows number of rows to draw, approximately
   * @param description shown for the job in Spark's UI
   * @param dimensions those that have some of the columns
   * @return the sampled values of each column, encoded; null for null
   */
  def draw(
      spark: SparkSession,
      format: FileFormat,
      dataSchema: StructType,
      readOptions: Map[String, String],
      files: Seq[FileStatus],
      columns: Seq[KeyColumn],
      rows: Int,
      description: String,
      dimensions: Seq[Dimension] = Nil
  ): IndexedSeq[Array[Any]] = {
    // The columns have the table's exact spelling.
    val session = RewriteSession.of(spark, Map("spark.sql.caseSensitive" -> "true"))
    val relation = FixedFileIndex.relation(session, format, NullableSchema.of(dataSchema), readOptions, files)
    val table = session.baseRelationToDataFrame(relation).queryExecution.analyzed
    val joined = dimensions.foldLeft(table)((before, d) => d.joinedTo(before, ColumnOf(table.output, d.column).get))
    val values = columns.map { c =>
      val found =
        if (c.isOfFiles) ColumnOf(table.output, c.path) else dimensions.flatMap(_.attribute(c.path)).headOption
      Alias(Cast(found.get, c.dataType), c.name)()
    }
    val query = SparkOwn.rows(session, Project(values, joined)).queryExecution
    val rdd = RewriteSession.active(session)(query.toRdd)
    val ofTask = math.max(MinOfTask, (4L * rows / math.max(1, rdd.getNumPartitions)).toInt)
    val encodings = columns.map(c => new KeyEncoding(c.dataType)).toArray
    val context = session.sparkContext
    val drawn = RewriteQueries.described(context, description)(context.runJob(rdd, task(encodings, ofTask)))
    evened(drawn.toSeq, rows, columns.length)
  }

  /** The number of rows that a task has seen, and a uniform sample of them. */
  private final case class Drawn(seen: Long, rows: Array[Array[Any]])

  private def task(encodings: Array[KeyEncoding], most: Int): (TaskContext, Iterator[InternalRow]) => Drawn =
    (context, rows) => {
      val random = new SplittableRandom(Seed + context.partitionId())
      val kept = new scala.collection.mutable.ArrayBuffer[Array[Any]]
      var seen = 0L
      rows.foreach { row =>
        val place = if (seen < most) seen else random.nextLong(seen + 1)
        seen += 1
        if (place < most) {
          val values = encodings.indices.map(c => value(row, c, encodings(c))).toArray[Any]
          if (place < kept.length) kept(place.toInt) = values else kept += values
        }
      }
      Drawn(seen, kept.toArray)
    }

  private def value(row: InternalRow, c: Int, encoding: KeyEncoding): Any =
    if (row.isNullAt(c)) null
    else if (encoding.isLong) encoding.long(row.get(c, encoding.dataType))
    else encoding.bytes(row.get(c, encoding.dataType)).clone()

  /** Takes the same share of the rows of each task. */
  private def evened(drawn: Seq[Drawn], rows: Int, columns: Int): IndexedSeq[Array[Any]] = {
    val some = drawn.filter(_.seen > 0)
    val share =
      (rows.toDouble / math.max(1L, some.map(_.seen).sum) +: some.map(d => d.rows.length.toDouble / d.seen)).min
    val taken = some.flatMap { d =>
      // The sample begins with the task's first rows in their order, so rows are taken from all parts of it.
      val n = math.max(1, math.min(d.rows.length.toLong, math.round(share * d.seen)).toInt)
      (0 until n).map(i => d.rows((i.toLong * d.rows.length / n).toInt))
    }
    (0 until columns).map(c => taken.map(_(c)).toArray)
  }
}
