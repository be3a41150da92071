package org.sparkzorder.optimize.run

import java.io.{File, RandomAccessFile}
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{Job, TaskAttemptContext}
import org.apache.parquet.column.{ColumnWriteStore, ColumnWriter}
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{LocalSpark, TestRest}
import org.sparkzorder.command.{OptimizeCommand, TableLocking}
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.optimize.plan.{OptimizePlanner, StatementContext}
import org.sparkzorder.table.{PlainTables, TableSideFolder}
import org.sparkzorder.write.preserve.PreservedMetadata

/** Writers that do not write what they get. OPTIMIZE must end before it publishes anything. */
@TestRest
class ReadBackSuite extends AnyFunSuite with LocalSpark {
  import ReadBackSuite._

  private val nested = Seq(
    "if(id % 7 = 0, null, map(concat('m', id % 3), id, 'z', null)) m", "array(id, null, id + 1) a",
    "if(id % 5 = 0, null, named_struct('d', cast(if(id % 2 = 0, '-0.0', 'NaN') as double), 's', 'x')) s",
    "cast(if(id % 2 = 0, '-0.0', 'NaN') as float) f", "date'2020-01-01' + cast(id as int) dt"
  )
  private val flat = Seq("id % 10 * 1000 n", "concat('s', id % 7) s", "if(id % 11 = 0, null, id / 7) d")

  private def table(
      name: String,
      format: String,
      columns: Seq[String],
      options: Map[String, String] = Map.empty
  ): File = {
    val folder = new File(dir, name)
    spark.range(0, 300, 1, 3).selectExpr("id k" +: columns: _*).write.format(format).options(options)
      .save(folder.toString)
    folder
  }

  private def files(folder: File): Set[String] = folder.list.toSet.filterNot(_.endsWith(".crc"))
  private def parts(folder: File): Set[String] = files(folder).filter(_.startsWith("part-"))

  private def rows(folder: File, format: String): Seq[String] =
    spark.read.format(format).load(folder.toString).collect().map(_.toString).sorted.toSeq

  private def metrics(folder: File, format: String): Map[String, String] = {
    spark.sql(s"OPTIMIZE $format.`$folder` ZORDER BY (k) OPTIONS ('num-files' = '2')").collect()
    spark.sql(s"DESCRIBE HISTORY $format.`$folder`").head().getAs[Map[String, String]]("operationMetrics")
  }

  /** Carries OPTIMIZE out with writers that change what they get, or what they have written. */
  private def optimizeWith(folder: File, format: String, of: OutputWriterFactory => OutputWriterFactory): Unit = {
    val sql = s"OPTIMIZE $format.`$folder` ZORDER BY (k) OPTIONS ('num-files' = '2')"
    val statement = spark.sessionState.sqlParser.parsePlan(sql).asInstanceOf[OptimizeCommand].statement
    val place = PlainTables.locate(spark, statement.target)
    val plan = OptimizePlanner.plan(StatementContext.of(statement, place, TableSideFolder.look(place)))
    val faulty = plan.copy(kept = plan.kept.copy(files = plan.kept.files.map(new FaultyWriters(_, of))))
    TableLocking.lockedWithState(plan.table, "OPTIMIZE", UUID.randomUUID().toString) { (lock, state) =>
      val groups = faulty.options.fileGroups.commits(faulty.rewrites).flatten
      OptimizeOperation.run(statement, faulty, groups, lock, state)
    }
    ()
  }

  private def assertRefused(folder: File, format: String, condition: String)(
      of: OutputWriterFactory => OutputWriterFactory
  ): String = {
    val (before, names) = (rows(folder, format), parts(folder))
    val error = intercept[ZOrderRuntimeException](optimizeWith(folder, format, of))
    assert(error.getCondition == s"ZORDER_VERIFICATION_FAILED.$condition", error)
    assert(rows(folder, format) == before && parts(folder) == names)
    assert(files(folder).forall(n => !n.contains("-zorder-")))
    error.getMessage
  }

  private val ZeroChanged = "-0.0 that is 0.0"

  private val faults: Seq[(String, Fault)] = Seq(
    "the entry of a map lost" -> Fault(row =>
      if (!row.isNullAt(1)) {
        val (keys, values) = (row.getMap(1).keyArray(), row.getMap(1).valueArray())
        row.update(1, ArrayBasedMapData(Array[Any](keys.getUTF8String(0)), Array[Any](values.getLong(0))))
      }
    ),
    "a value in an array changed" -> Fault(row => if (row.getLong(0) == 7) row.getArray(2).setLong(0, 8)),
    ZeroChanged -> Fault(row => if (row.getFloat(4) == 0) row.update(4, 0.0f)),
    "a null that is none" -> Fault(row =>
      if (row.isNullAt(3)) row.update(3, InternalRow(1.0, UTF8String.fromString("")))
    ),
    "a date moved" -> Fault(row => if (row.getLong(0) == 299) row.update(5, row.getInt(5) + 1))
  )

  for {
    format <- Seq("orc", "parquet")
    ((name, fault), i) <- faults.zipWithIndex
    // ORC's reader may change the sign of a zero.
    if (if (format == "orc") name != ZeroChanged else i == 0 || name == ZeroChanged)
  } test(s"$name by the writer of $format") {
    val folder = table(s"$format$i", format, nested)
    val message = assertRefused(folder, format, "ROW_HASH")(new FaultyFactory(_, fault))
    assert(message.contains(s"the 300 rows in its new files for file:$folder are not those that it read"))
    if (i == 0) {
      val before = rows(folder, format)
      optimizeWith(folder, format, new FaultyFactory(_, Fault(_ => ())))
      assert(rows(folder, format) == before && files(folder).count(_.contains("-zorder-")) == 2)
    }
  }

  test("a new file that cannot be read is named, and nothing is published") {
    Seq("orc", "parquet").foreach { format =>
      val folder = table(s"cut-$format", format, nested)
      val message = assertRefused(folder, format, "READ_BACK")(new FaultyFactory(_, Fault(_ => (), closed = halve(_))))
      assert(message.contains(s"$folder/"), message)
    }
  }

  private def assertReadBack(
      name: String,
      columns: Seq[String],
      format: String = "parquet",
      options: Map[String, String] = Map.empty
  ): Unit = {
    val folder = table(name, format, columns, options)
    val before = rows(folder, format)
    val found = metrics(folder, format)
    assert(rows(folder, format) == before, name)
    assert(found.get("numReadBackFiles") == Some("2") && found.contains("readBackMillis"), name)
  }

  private val versionTwo = Map("parquet.writer.version" -> "v2", "parquet.enable.dictionary" -> "false")

  test("every new file is read back, of each format, of all types, of any width and with any reader") {
    assertReadBack("counted-orc", nested, "orc")
    assertReadBack("counted-parquet", nested)
    assertReadBack("counted-v2", nested, options = versionTwo)
    assertReadBack("counted-interval", nested :+ "make_dt_interval(0, 0, 0, id) i")
    assertReadBack("wide", flat ++ (0 until 150).map(i => s"if(id % ${i + 2} = 1, null, id + $i) c$i"))
    withSettings("spark.sql.parquet.enableVectorizedReader" -> "false")(assertReadBack("by-row", flat))
  }

  private def ofNumbers(column: String, change: Array[Int] => Unit): EncoderFault =
    EncoderFault(column, writer => change(numbersOf(writer)))

  private val encoderFaults: Seq[(String, EncoderFault)] = Seq(
    "a dictionary that gives a wrong number" -> ofNumbers("n", numbers => numbers(3) = (numbers(3) + 1) % 5),
    "two values swapped" -> ofNumbers("k", numbers => numbers.slice(3, 6).reverse.copyToArray(numbers, 3)),
    "a text of the dictionary changed" ->
      EncoderFault("s", column => field(values(column), "content").asInstanceOf[Array[Byte]](1) = '9'),
    "a null too many" -> EncoderFault("n", _.writeNull(0, 0)),
    "a value too many" -> EncoderFault("k", _.write(7L, 0, 1))
  )

  encoderFaults.zipWithIndex.foreach { case ((name, fault), i) =>
    test(s"the encoder: $name") {
      val folder = table(s"encoder$i", "parquet", flat)
      assertRefused(folder, "parquet", "ROW_HASH")(_ => new FaultyEncoders(fault))
      assert(FaultyEncoders.reached.getAndSet(0) > 0)
    }
  }

  test("the history says how many files were written column by column") {
    def columnwise(name: String, format: String, columns: String*) =
      metrics(table(name, format, columns), format).get("numColumnwiseFiles")
    assert(columnwise("columnwise", "parquet", "id / 3 d", "cast(id as string) s") == Some("2"))
    assert(columnwise("columnwise-nested", "parquet", "array(id) a") == Some("0"))
    assert(columnwise("columnwise-orc", "orc", "cast(id as string) s") == Some("0"))
    withSettings("spark.zorder.write.columnwise" -> "false") {
      assert(columnwise("columnwise-off", "parquet", "cast(id as string) s") == Some("0"))
    }
  }

  test("a variant is read back as it was written, and a NaN may get the bits of another, as writers do it") {
    val json = "concat('{\"b\":[', id, ',1.50,null],\"a\":\"x\",\"c\":{\"y\":', id / 7, '}}')"
    assertReadBack("variant", nested :+ s"if(id % 3 = 0, null, parse_json($json)) v")
    val odd = udf((id: Long) =>
      java.lang.Double.longBitsToDouble(if (id % 2 == 0) 0xfff8000000000000L else 0x7ff8000000000001L)
    )
    spark.udf.register("odd", odd.asNonNullable())
    val nan = "named_struct('n', array(odd(id)), 'm', map(1, cast(odd(id) as float)), 'x', odd(id)) nan"
    assertReadBack("nan", nested :+ nan, options = versionTwo)
  }
}

private object ReadBackSuite {

  /** @param closed what happens to a file after it was closed */
  final case class Fault(row: GenericInternalRow => Unit, closed: String => Unit = _ => ())

  def halve(path: String): Unit = {
    val file = new RandomAccessFile(path, "rw")
    file.setLength(file.length / 2)
    file.close()
  }

  final class FaultyWriters(real: PreservedMetadata, of: OutputWriterFactory => OutputWriterFactory)
      extends PreservedMetadata {
    override def columns: Map[Seq[String], Seq[String]] = real.columns
    override def namesInAnyCase: Boolean = real.namesInAnyCase
    override def install(job: Job, spark: OutputWriterFactory): OutputWriterFactory = of(real.install(job, spark))
  }

  final class FaultyFactory(real: OutputWriterFactory, fault: Fault) extends OutputWriterFactory {
    override def getFileExtension(context: TaskAttemptContext): String = real.getFileExtension(context)
    override def newInstance(path: String, schema: StructType, context: TaskAttemptContext): OutputWriter = {
      val writer = real.newInstance(path, schema, context)
      new OutputWriter {
        override def path(): String = writer.path()
        override def write(row: InternalRow): Unit = {
          val values = new GenericInternalRow(row.copy().toSeq(schema).toArray)
          fault.row(values)
          writer.write(values)
        }
        override def close(): Unit = {
          writer.close()
          fault.closed(new Path(path()).toUri.getPath)
        }
      }
    }
  }

  /** @param change gets parquet-java's writer of a column as it is at the 100th row */
  final case class EncoderFault(column: String, change: ColumnWriter => Unit)

  /** Spark's own writers, whose columns are changed at the 100th row, which they get from our writer of columns. */
  final class FaultyEncoders(fault: EncoderFault) extends OutputWriterFactory {
    override def getFileExtension(context: TaskAttemptContext): String = ".parquet"
    override def newInstance(path: String, schema: StructType, context: TaskAttemptContext): OutputWriter =
      new ParquetOutputWriter(path, context) {
        override def write(row: InternalRow): Unit = {
          val records = field(field(this, "recordWriter"), "internalWriter")
          val column = field(records, "schema").asInstanceOf[MessageType].getColumnDescription(Array(fault.column))
          val writer = field(records, "columnStore").asInstanceOf[ColumnWriteStore].getColumnWriter(column)
          fault.change(writer)
          FaultyEncoders.reached.incrementAndGet()
          super.write(row)
        }
      }
  }

  object FaultyEncoders {
    val reached = new AtomicInteger
  }

  /** The values of this page that our dictionary has got. */
  def numbersOf(column: AnyRef): Array[Int] = field(field(values(column), "numbers"), "values").asInstanceOf[Array[Int]]

  def values(column: AnyRef): AnyRef = field(column, "dataColumn")

  def field(of: AnyRef, name: String): AnyRef = {
    val classes = Iterator.iterate[Class[_]](of.getClass)(_.getSuperclass).takeWhile(_ != null)
    val found = classes.flatMap(_.getDeclaredFields).find(f => f.getName == name || f.getName.endsWith("$$" + name)).get
    found.setAccessible(true)
    found.get(of)
  }
}
