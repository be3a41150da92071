package org.sparkzorder.skipping

import java.nio.file.{Files, Path => JPath}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.mapreduce.{Job, TaskAttemptID}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.spark.sql.{Column, DataFrame, Encoders, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{LocalSpark, TestRest}

/**
 * The cases of Delta, Hudi and Iceberg over files that Spark or OPTIMIZE has written, through the extension's own rule:
 * no wrong skip, and every skip that Spark's semantics allow. Delta's cases whose columns go together share a table, a
 * partition for each. Where a file is read that holds no matching row, the reason stands beside the exception.
 */
@TestRest
class RealOracleSuite extends AnyFunSuite with LocalSpark {
  import OracleCases._
  import RealOracleSuite._

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.sql.session.timeZone" -> "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.threshold" -> "10000"
  )

  private var tables = 0

  /** A table of files that Spark's own writer makes, without a job for each. */
  private final class RealTable(format: String, schema: StructType) {
    tables += 1
    private val path = dir.toPath.resolve(s"t$tables")
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

    private lazy val encode = ExpressionEncoder(schema).resolveAndBind().createSerializer()

    def writeRows(file: String, rows: Seq[Row]): Unit = write(file, rows.map(encode(_).copy()))

    def run(statement: String): Unit = { spark.sql(statement).collect(); () }

    /** What a query made now reads: the files' paths in the table, without an extension. */
    def reader: Reader = new Reader(path, spark.read.schema(schema).format(format).load(path.toString))

    /** What EXPLAIN SKIPPING says. */
    def explained(condition: String): Long =
      spark.sql(s"EXPLAIN SKIPPING SELECT * FROM $name WHERE $condition").head().getAs[Long]("files_kept")
  }

  private final class Reader(root: JPath, rows: DataFrame) {
    def kept(condition: String): Set[String] = kept(rows.where(condition))
    def kept(condition: Column): Set[String] = kept(rows.where(condition))

    private def kept(query: DataFrame): Set[String] =
      query.queryExecution.sparkPlan.collect { case s: FileSourceScanExec => s.relation.location }
        .flatMap(_.listFiles(Nil, Nil)).flatMap(_.files).map(_.getPath.toUri.getPath)
        .map(file => root.relativize(JPath.of(file)).toString.replaceFirst("[.][a-z.]+$", "")).toSet
  }

  private final class DeltaCase(json: JsonNode) {
    val id: Int = json.get("id").asInt
    private val frames: Seq[DataFrame] = if (json.has("rows_sql")) Seq(spark.sql(json.get("rows_sql").asText))
    else {
      val ddl = Option(json.get("schema")).getOrElse(json.get("inferred_schema")).asText
      val files = Option(json.get("files")).map(_.elements.asScala.toSeq).getOrElse(Seq(json.get("data"))).map(texts)
      files.map(rows => spark.read.schema(ddl).json(spark.createDataset(rows)(Encoders.STRING)))
    }
    val schema: StructType = StructType(frames.head.schema.map(_.copy(nullable = true)))
    val files: Seq[Seq[InternalRow]] = frames.map(_.queryExecution.toRdd.map(_.copy()).collect().toSeq)

    /** How many files come after the index, as those that Delta had no statistics of. */
    val unknown: Int = Map(48 -> 3, 60 -> 2).getOrElse(id, 0)
    val directory = s"of_case=$id"
    def file(i: Int) = s"$directory/f$i"
    def conditions(kind: String): Seq[String] = texts(json.get(kind))
    def matching(condition: String): Int = json.get("files_with_matching_rows").get(condition).asInt
    def expected(condition: String): Option[Int] =
      Option(json.get("expected_files")).flatMap(e => Option(e.get(condition))).map(_.asInt)

    /** Conditions that hold for no row: no file need be read. */
    def hopeless: Seq[String] = conditions("misses") ++ conditions("hits_prunable_in_principle")

    def write(table: RealTable, of: StructType, some: Range): Unit = {
      val from = of.map(field => schema.indexWhere(_.name.equalsIgnoreCase(field.name)))
      def value(row: InternalRow, k: Int): Any = if (from(k) < 0) null else row.get(from(k), of(k).dataType)
      some.foreach { i =>
        table.write(file(i), files(i).map(row => new GenericInternalRow(of.indices.map(value(row, _)).toArray[Any])))
      }
    }
  }

  private lazy val deltaCases: Seq[DeltaCase] =
    read("delta_skipping_cases").elements.asScala.toSeq.map(new DeltaCase(_))

  /** Cases that the format can hold, grouped with those that agree in the types of the columns which they share. */
  private def grouped(format: String): Seq[(StructType, Seq[DeltaCase])] = {
    def find(schema: StructType, field: StructField) = schema.find(_.name.equalsIgnoreCase(field.name))
    val writable = deltaCases.filterNot(c => format == "orc" && notInOrc(c.id))
    writable.foldLeft(Vector.empty[(StructType, Vector[DeltaCase])]) { (groups, c) =>
      groups.indexWhere { case (schema, _) =>
        c.schema.forall(f => find(schema, f).forall(_.dataType == f.dataType))
      } match {
        case -1 => groups :+ (c.schema -> Vector(c))
        case i  =>
          val (schema, of) = groups(i)
          groups.updated(i, StructType(schema ++ c.schema.filter(find(schema, _).isEmpty)) -> (of :+ c))
      }
    }
  }

  /** Fails where a file is read in vain without an excuse, and where an excuse is not needed any more. */
  private def assertExcused(of: String, inVain: Seq[(Int, String)]): Unit = {
    val excuses = exceptions.filter(_.tables.contains(of))
    val unexcused = inVain.filterNot { case (_, condition) => excuses.exists(_.covers(condition)) }
    assert(unexcused == Nil)
    assert(excuses.filterNot(e => inVain.exists(v => e.covers(v._2))).map(_.condition) == Nil, s"is no excuse for $of")
  }

  Seq("parquet", "orc").foreach { format =>
    test(s"Delta's data skipping cases, $format files with an index of their footers") {
      var skipped = 0
      val inVain = grouped(format).flatMap { case (schema, group) =>
        val table = new RealTable(format, schema)
        group.foreach(c => c.write(table, schema, c.unknown until c.files.size))
        table.run(s"CREATE SKIPPING INDEX ON ${table.name}")
        group.foreach(c => c.write(table, schema, 0 until c.unknown))
        val reader = table.reader
        // The same rule decides for all conditions: one of each table tells whether EXPLAIN shows what it did.
        group.flatMap(_.conditions("hits_must_read")).find(_.toLowerCase != "true").foreach { condition =>
          assert(table.explained(condition) == reader.kept(condition).size, condition)
        }
        group.flatMap { c =>
          val late = (0 until c.unknown).map(c.file).toSet
          val kept = (c.conditions("hits") ++ c.hopeless).distinct
            .map(condition => condition -> reader.kept(condition).filter(_.startsWith(s"${c.directory}/"))).toMap
          kept.foreach { case (condition, files) =>
            assert(files.size >= c.matching(condition), s"${c.id}: $condition: $files")
            assert(late.isEmpty || late.subsetOf(files), s"${c.id}: $condition: $files")
          }
          skipped += c.conditions("hits_prunable_in_principle").count(kept(_).isEmpty)
          val more = kept.keys.filter(condition => c.expected(condition).exists(_ < kept(condition).size))
          (c.hopeless.filter(kept(_).size > late.size) ++ more).map(c.id -> _)
        }
      }
      assertExcused(s"$format footers", inVain)
      info(s"$skipped conditions skip files that Delta reads in vain")
    }

    test(s"Delta's data skipping cases, $format files of OPTIMIZE") {
      val inVain = grouped(format).flatMap { case (schema, group) =>
        val table = new RealTable(format, schema)
        group.foreach(c => c.write(table, schema, c.files.indices))
        table.run(s"OPTIMIZE ${table.name} FULL")
        val reader = table.reader
        group.flatMap { c =>
          def kept(condition: String) = reader.kept(condition).exists(_.startsWith(s"${c.directory}/"))
          c.conditions("hits_must_read")
            .foreach(condition => assert(kept(condition) || c.matching(condition) == 0, s"${c.id}: $condition"))
          c.hopeless.filter(kept).map(c.id -> _)
        }
      }
      assertExcused(s"$format OPTIMIZE", inVain)
    }

    test(s"Hudi's data skipping cases, $format files") {
      val cases = read("hudi_skipping_cases").get("cases").elements.asScala.toSeq
      val table = new RealTable(format, RealFiles.HudiSchema)
      for (c <- cases; f <- c.get("files").properties.asScala) {
        val id = c.get("id").asText
        table.writeRows(s"$id-${f.getKey}", RealFiles.hudi(f.getValue, hudiUnknown.get(id)))
      }
      table.run(s"CREATE SKIPPING INDEX ON ${table.name} (A, B, C)")
      val reader = table.reader
      cases.foreach { c =>
        val id = c.get("id").asText
        val ansi = Option(c.get("session")).exists(_.get("spark.sql.ansi.enabled").asBoolean)
        withSettings("spark.sql.ansi.enabled" -> ansi.toString) {
          val kept = reader.kept(c.get("predicate").asText).filter(_.startsWith(s"$id-")).map(_.drop(id.length + 1))
          // Our casts are used where no value of a file is too large for them.
          val safe = if (id == "hudi.38") Set("file_2") else texts(c.get("safe_keep")).toSet
          val clue = s"$id: ${c.get("predicate")}: $kept"
          if (c.get("kind").asText == "optional_transform")
            assert(texts(c.get("expected_keep")).toSet.subsetOf(kept) && kept.subsetOf(safe), clue)
          else assert(kept == safe, clue)
        }
      }
    }

    test(s"Iceberg's inclusive metrics cases, $format files") {
      val oracle = read("iceberg_metrics_cases")
      val files = oracle.get("files").properties.asScala.map(e => e.getKey -> e.getValue).toMap
      val schema = RealFiles.icebergSchema(files.values)
      val table = new RealTable(format, schema)
      val cases = oracle.get("cases").elements.asScala.toSeq.map(new IcebergCase(_))
      def rows(file: String, column: String): Seq[Row] = {
        val asked = cases.filter(_.file == file).groupMap(_.path)(_.literals).map { case (k, v) => k -> v.flatten }
        RealFiles.iceberg(files(file), column, asked)
          .map(v => Row.fromSeq(schema.names.toSeq.map(n => if (n == column) v else null)))
      }
      val made = cases.map(_.key).distinct.map(key => key -> rows(key._1, key._2)).toMap
      // Files of which nothing is known: here, those that were written after the index.
      val (late, early) = made.partition { case (key, _) => key._1 == "missingStats" || key._2 == "no_stats" }
      def name(key: (String, String)) = s"${key._1}-${key._2}"
      def write(some: Map[(String, String), Seq[Row]]): Unit =
        some.foreach { case (key, of) => table.writeRows(name(key), of) }
      write(early)
      table.run(s"CREATE SKIPPING INDEX ON ${table.name}")
      write(late)
      val reader = table.reader
      cases.foreach { c =>
        val kept = reader.kept(c.sql).contains(name(c.key))
        val matches =
          spark.createDataFrame(made(c.key).asJava, schema).where(c.sql).queryExecution.optimizedPlan match {
            case l: LocalRelation => l.data.nonEmpty
            case other            => fail(s"$other")
          }
        // The rows are made so that one matches wherever Iceberg must keep the file.
        if (c.tight || !c.keep) assert(matches == c.keep, s"${c.clue}: the rows made for it")
        assert(kept == (matches || late.contains(c.key)), c.clue)
      }
    }
  }

  test("Delta's strings that are cut, three times as long as our bounds") {
    val strings = read("delta_string_truncation_cases").get("cases").elements.asScala.map(_.get("input").asText).toSeq
      .distinct.filter(_.nonEmpty)
    val long = strings.map(s => s * (400 / s.length + 1))
    val schema = StructType.fromDDL("s STRING")
    Seq("parquet", "orc").foreach { format =>
      val table = new RealTable(format, schema)
      long.zipWithIndex.foreach { case (s, i) => table.writeRows(s"f$i", Seq(Row(s), Row(s + "b"))) }
      Seq(
        s"CREATE SKIPPING INDEX ON ${table.name}",
        s"OPTIMIZE ${table.name} FULL ZORDER BY (s) OPTIONS ('num-files' = '${long.size}')"
      ).foreach { statement =>
        table.run(statement)
        val reader = table.reader
        long.zip(strings).foreach { case (value, start) =>
          val equal = reader.kept(col("s") === lit(value))
          assert(equal.nonEmpty && equal.size <= long.count(_.startsWith(start)), value)
          for (condition <- Seq(col("s") === value + "b", col("s") > value, col("s").startsWith(value)))
            assert(reader.kept(condition).nonEmpty, value)
        }
        assert(reader.kept(col("s") < lit(" ")).isEmpty)
      }
    }
  }

  // Of `delta_zorder_cases` the ranges, partitions and noise are Delta's way of dividing rows, which we do otherwise:
  // ids are mid-points of a distribution, cut points are aligned, no byte is random. What the statement says, and what
  // it refuses, is in sql-tests. `FunctionsSuite` checks the interleaved bits.
  test("Delta's hundred rows in four files: a lookup touches no more of ours") {
    val delta = read("delta_zorder_cases").get("optimize_zorder_stats").get("after").elements.asScala.toSeq
    def touched(bounds: Seq[(Int, Int)]): Int = bounds.map { case (lo, hi) => hi - lo + 1 }.sum
    val schema = StructType.fromDDL("c1 INT, c2 INT, c3 INT")
    val table = new RealTable("parquet", schema)
    table.writeRows("f", (0 until 100).map(i => Row(i, 99 - i, (i + 50) % 100)))
    table.run(s"OPTIMIZE ${table.name} ZORDER BY (c1, c2, c3) OPTIONS ('num-files' = '4', 'rewrite-all' = 'true')")
    val bounds = spark.sql(s"DESCRIBE SKIPPING INDEX ON ${table.name}").collect().toSeq
      .map(r => (r.getAs[String]("min").toInt, r.getAs[String]("max").toInt))
    assert(bounds.size == 3 * delta.size)
    val theirs = delta.flatMap(f => (0 until 3).map(i => (f.get(1).get(i).asInt, f.get(2).get(i).asInt)))
    info(s"lookups of all values touch ${touched(bounds)} files of ours, ${touched(theirs)} of Delta's")
    assert(touched(bounds) <= touched(theirs))
  }
}

object RealOracleSuite {

  /** Cases that Spark's ORC writer cannot hold: timestamps at the end of their range come back as others. */
  private val notInOrc: Set[Int] = Set(54, 55, 57, 58)

  private final case class Exception(tables: Set[String], condition: String) {
    def covers(text: String): Boolean = condition.r.findFirstIn(text).isDefined
  }

  /** Conditions of Delta's of which a file is read in vain. */
  private val exceptions: Seq[Exception] = Seq(
    // Of arrays, maps and structs the nulls are counted by OPTIMIZE's own write, not read from footers.
    Exception(Set("orc footers"), raw"arr_col|map_col|struct_col IS"),
    // An ORC file's instants depend on the zone of the JVM that reads them.
    Exception(Set("orc footers", "orc OPTIMIZE"), raw"\bc?c5\b|\bts\b")
  )

  /**
   * Of Hudi's cases those over files without statistics of B, and rows by which the files that it keeps must be kept.
   * An index of ours knows B of all files.
   */
  private val hudiUnknown: Map[String, String] = Map("hudi.26" -> "abc", "hudi.28" -> "b")
}
