package org.sparkzorder.command

import java.io.ByteArrayOutputStream

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.index.{IndexContents, IndexFile, IndexSnapshot, MemorySource}
import org.sparkzorder.indexing.RecordedWorkload
import org.sparkzorder.predicate._
import org.sparkzorder.stats._
import org.sparkzorder.table.PlainTable
import org.sparkzorder.workload.{Form, WorkloadSketch}
import org.sparkzorder.write.KeyColumn
import org.sparkzorder.write.sample.ColumnSample

/**
 * What an index would take and save, before it is made (`CREATE SKIPPING INDEX .. DRY RUN`). The index is built in
 * memory, and values that are drawn from the table's rows are looked up in it.
 */
private[command] object SkippingIndexForecast {

  val schema: StructType = NamedCommand.columns(
    "column" -> StringType,
    "kind" -> StringType,
    "files" -> LongType,
    "bytes" -> LongType,
    "bound_files?" -> DoubleType,
    "mean_files?" -> DoubleType,
    "queries" -> LongType,
    "saved_fraction?" -> DoubleType
  )

  private val Sampled = 500

  /**
   * A row for each column.
   *
   * @param columns to forecast, with the values that are kept
   * @param stats of these columns, in the table's files
   */
  def of(table: PlainTable, columns: IndexedColumns, stats: Seq[(FileId, FileStats)]): Seq[Row] = {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, IndexContents(stats))
    val index = IndexFile.open(new MemorySource(table.name, out.toByteArray), Int.MaxValue.toLong)
    val recorded = RecordedWorkload.of(table)
    val sampled = samples(table, columns.keys)
    columns.keys.map { key =>
      val lookups = sampled(key).map(lookup(index, key, _))
      def mean(f: Lookup => Int) = Option.when(lookups.nonEmpty)(lookups.map(f(_).toDouble).sum / lookups.size)
      val (queries, saved) = ofRecorded(recorded, key, index.files, mean(_.byBounds), mean(_.byValues))
      Row(
        key.path.mkString("."),
        columns.members.get(key).fold("BOUNDS")(_.name),
        index.files.toLong,
        index.bytesOf(key),
        mean(_.byBounds).map(Double.box).orNull,
        mean(_.byValues).map(Double.box).orNull,
        queries,
        saved.map(Double.box).orNull
      )
    }
  }

  private def samples(table: PlainTable, keys: Seq[ColumnKey]): Map[ColumnKey, Seq[Value]] = {
    val bounded = keys.filter(k => OrderedValue.encoding(k.dataType).isDefined)
    val drawn =
      if (bounded.isEmpty) IndexedSeq.empty
      else ColumnSample.draw(
        table.session,
        table.relation.fileFormat,
        table.dataSchema,
        table.relation.options,
        table.listed.flatMap(_.files),
        bounded.map(k => KeyColumn(k.path, k.dataType, 1d)),
        Sampled,
        s"CREATE SKIPPING INDEX ON ${table.target.title} DRY RUN"
      )
    val found = bounded.zip(drawn).map { case (key, values) => key -> values.toSeq.flatMap(valueOf) }.toMap
    keys.map(k => k -> found.getOrElse(k, Nil)).toMap
  }

  /** A long byte string was cut, and is no value of the column. */
  private def valueOf(encoded: Any): Option[Value] = encoded match {
    case null                                                      => None
    case v: Long                                                   => Some(LongValue(v))
    case bytes: Array[Byte] if bytes.length < KeyEncoding.MaxBytes => Some(new BytesValue(bytes))
    case _                                                         => None
  }

  private final case class Lookup(byBounds: Int, byValues: Int)

  private def lookup(index: IndexSnapshot, key: ColumnKey, value: Value): Lookup = {
    val asked = Comparison(Column(key.path, key.dataType), Operator.Equal, value)
    val byBounds = Evaluation.keep(asked, index)
    Lookup(byBounds.cardinality, MembershipEvaluation.keep(asked, index, byBounds).cardinality)
  }

  /** How many recorded queries ask for values of the column, and which share of the files that they read it saves. */
  private def ofRecorded(
      recorded: WorkloadSketch,
      key: ColumnKey,
      files: Int,
      byBounds: Option[Double],
      byValues: Option[Double]
  ): (Long, Option[Double]) = {
    val uses = for {
      (kind, sketch) <- recorded.kinds.toSeq
      (use, where) <- kind.zip(sketch.uses) if use.path == key.path && use.form != Form.Range
    } yield (sketch.queries, where.starts.total.toDouble / math.max(1L, sketch.queries))
    val queries = uses.map(_._1).sum
    // A file is read unless it is left out for each of the values.
    def read(mean: Double) = uses.map { case (n, values) => n * files * (1 - math.pow(1 - mean / files, values)) }.sum
    val saved = for (before <- byBounds; after <- byValues if queries > 0 && read(before) > 0)
      yield 1 - read(after) / read(before)
    (queries, saved)
  }
}
