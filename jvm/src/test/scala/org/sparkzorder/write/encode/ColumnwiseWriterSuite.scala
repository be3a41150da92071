package org.sparkzorder.write.encode

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.hadoop.mapreduce.{TaskAttemptContext, TaskAttemptID}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetOutputFormat}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.execution.datasources.parquet._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/** Files that are written column by column, beside those of Spark's writer: all bytes are the same. */
class ColumnwiseWriterSuite extends AnyFunSuite {
  import ColumnwiseWriterSuite._

  private val all = new StructType()
    .add("a", IntegerType).add("b", LongType).add("c", StringType).add("d", DoubleType).add("e", FloatType)
    .add("f", BooleanType).add("g", ByteType).add("h", ShortType).add("i", DecimalType(9, 2)).add("j", BinaryType)
    .add("k", DateType).add("l", TimestampType).add("m", TimestampNTZType).add("n", DecimalType(18, 4))
    .add("o", YearMonthIntervalType()).add("p", DayTimeIntervalType()).add("q", DecimalType(1, 1))
    .add("r", DecimalType(38, 10)).add("s", DecimalType(19, 0))

  private val nested = new StructType().add("x", ArrayType(IntegerType)).add("y", new StructType().add("z", LongType))

  private def value(random: Random, dataType: DataType, distinct: Int): Any = {
    val n = random.nextInt(distinct)
    dataType match {
      case IntegerType | DateType | _: YearMonthIntervalType => n * 7919
      case ByteType                                          => n.toByte
      case ShortType                                         => n.toShort
      case d: DecimalType if d.precision > 18                =>
        Decimal(BigDecimal(BigInt(45, random) * BigInt(n) * (if (n % 2 == 0) -1 else 1), d.scale), d.precision, d.scale)
      case d: DecimalType =>
        Decimal((n * 7919L - 500) % math.pow(10, d.precision.toDouble).toLong, d.precision, d.scale)
      case StringType =>
        UTF8String.fromString(if (n == 7) "long" * (1 + random.nextInt(30000)) else "é" * (n % 9) + n)
      case BinaryType    => Array.fill(n % 20)(n.toByte)
      case DoubleType    => Seq(0d, Double.NaN, n / 3d, n.toDouble)(n % 4)
      case FloatType     => Seq(0f, Float.NaN, n / 3f)(n % 3)
      case BooleanType   => n % 2 == 0
      case _: ArrayType  => new GenericArrayData(Array.fill(n % 3)(n))
      case _: StructType => InternalRow(n.toLong)
      case _             => n * 7919L * 1000003L
    }
  }

  private def rows(random: Random, schema: StructType): Seq[UnsafeRow] = {
    val project = UnsafeProjection.create(schema)
    val distinct = Seq(1, 10, 300, 5000)(random.nextInt(4))
    def field(f: StructField) =
      if (f.nullable && random.nextInt(7) == 0) null else value(random, f.dataType, distinct)
    Seq.fill(random.nextInt(4000))(project(InternalRow.fromSeq(schema.map(field))).copy())
  }

  private def conf(random: Random, schema: StructType): Configuration = {
    val conf = new Configuration(false)
    ParquetWriteSupport.setSchema(schema, conf)
    def set(key: String, values: Any*): Unit = conf.set(key, values(random.nextInt(values.length)).toString)
    set(ParquetOutputFormat.WRITE_SUPPORT_CLASS, classOf[ParquetWriteSupport].getName)
    set(SQLConf.PARQUET_WRITE_LEGACY_FORMAT.key, "false", "false", "true")
    set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS", "INT96")
    set(SQLConf.PARQUET_FIELD_ID_WRITE_ENABLED.key, "true")
    set("spark.sql.parquet.variant.annotateLogicalType.enabled", "true")
    set("parquet.compression", "SNAPPY", "UNCOMPRESSED", "ZSTD")
    set("parquet.writer.version", "PARQUET_1_0", "PARQUET_1_0", "PARQUET_2_0")
    set("parquet.enable.dictionary", "true", "true", "false")
    set("parquet.dictionary.page.size", 300, 1 << 20)
    set("parquet.block.size", 20000, 128 << 20)
    set("parquet.block.row.count.limit", 777, Int.MaxValue, Int.MaxValue)
    set("parquet.page.size", 500, 1 << 20)
    set("parquet.page.row.count.limit", 50, 20000)
    set("parquet.page.size.row.check.min", 1, 100)
    set("parquet.page.size.check.estimate", "true", "false")
    set("parquet.bloom.filter.enabled", "false", "false", "true")
    conf
  }

  private def context(conf: Configuration) = new TaskAttemptContextImpl(conf, new TaskAttemptID)

  private def newFile(): Path = Files.createTempDirectory("columnwise").resolve("a.parquet")

  private def written(file: Path, conf: Configuration, rows: Seq[UnsafeRow])(of: OutputWriter => RowWriter) =
    writtenBy(file, new ParquetOutputWriter(file.toString, context(conf)), rows)(of)

  private def writtenBy(file: Path, spark: OutputWriter, rows: Seq[UnsafeRow])(of: OutputWriter => RowWriter) = {
    val writer = of(spark)
    // A row may change when it is written.
    val shared = rows.headOption.map(_.copy())
    rows.foreach { r =>
      shared.foreach(_.copyFrom(r))
      shared.foreach(writer.write)
    }
    writer.end()
    spark.close()
    try Files.readAllBytes(file).toVector
    finally {
      Files.delete(file)
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      ()
    }
  }

  /** Dictionaries as Spark's writer has them. */
  private def likeSpark(schema: StructType) = FloatDictionaries(Set.empty, schema.fieldNames.map(Seq(_)).toSet)

  private def withCorrected[T](test: => T): T = {
    val own = new SQLConf
    Seq(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key, SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key)
      .foreach(own.setConfString(_, "CORRECTED"))
    SQLConf.withExistingConf(own)(test)
  }

  test("all bytes of a file are those of Spark's writer")(bytesAreThoseOfSpark(4))

  test("all bytes of many files are those of Spark's writer", InRest)(bytesAreThoseOfSpark(60))

  private def bytesAreThoseOfSpark(files: Int): Unit = {
    val random = new Random(11)
    val file = newFile()
    var columnwise = 0
    withCorrected((1 to files).foreach { _ =>
      val fields = random.shuffle(all.fields.toSeq).take(1 + random.nextInt(all.length)) ++
        nested.fields.filter(_ => random.nextInt(12) == 0)
      val schema = StructType(fields.map(f => if (random.nextInt(5) == 0) f.copy(nullable = false) else f))
      val (own, data) = (conf(random, schema), rows(random, schema))
      val spark = written(file, own, data)(RowWriter.of)
      val ours = written(file, own, data) { w =>
        val made = OwnEncodings.of(w, schema, Some(likeSpark(schema)))
        if (made.isInstanceOf[ColumnwiseWriter]) columnwise += 1
        made
      }
      assert(spark == ours, s"${schema.catalogString}, ${data.length} rows")
    })
    assert(columnwise > files / 3, columnwise)
  }

  test("no reader trusts a dictionary of a column with -0.0, and others have theirs") {
    val schema = StructType.fromDDL("d DOUBLE, f FLOAT, clean DOUBLE, `p.q` DOUBLE")
    for (isOwn <- Seq(true, false); version <- Seq("PARQUET_1_0", "PARQUET_2_0")) {
      val own = conf(new Random(3), schema)
      own.set("parquet.enable.dictionary", "true")
      own.set("parquet.writer.version", version)
      own.set("parquet.page.size", "500")
      own.set(SQLConf.PARQUET_WRITE_LEGACY_FORMAT.key, "false")
      val file = newFile()
      val parquet = new SparkToParquetSchemaConverter(new SQLConf).convert(schema)
      val floats = FloatDictionaries.takeFrom(own, parquet, Set(Seq("clean")))
      // Each column has some 5.0 first, so that its dictionary begins well.
      val data = (1 to 2000).map { n =>
        val (negative, positive) = (if (n > 500 && n % 3 == 0) -0d else 5d, if (n % 3 == 0) 0d else 5d)
        UnsafeProjection.create(schema)(InternalRow(negative, negative.toFloat, positive, negative)).copy()
      }
      val found = withCorrected(inDictionaries(file, new ParquetOutputWriter(file.toString, context(own)), data) { w =>
        val made = OwnEncodings.of(w, schema, Option.when(isOwn)(floats))
        assert(made.isColumnwise == isOwn)
        made
      })
      assert(found == Map("d" -> false, "f" -> false, "clean" -> isOwn, "p.q" -> false), (isOwn, version))
    }
  }

  /** For each leaf, whether a reader may leave out a row group by its dictionary. */
  private def inDictionaries(file: Path, spark: OutputWriter, rows: Seq[UnsafeRow])(of: OutputWriter => RowWriter) = {
    val writer = of(spark)
    rows.foreach(writer.write)
    writer.end()
    spark.close()
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new HadoopPath(file.toUri), new Configuration(false)))
    try reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala).groupBy(_.getPath.toDotString).map {
        case (leaf, chunks) => leaf -> chunks.exists(!_.getEncodingStats.hasNonDictionaryEncodedPages)
      }
    finally reader.close()
  }

  test("a null in a column that has none is an error") {
    val schema = new StructType().add("a", IntegerType, nullable = false)
    val row = UnsafeProjection.create(new StructType().add("a", IntegerType))(InternalRow(null)).copy()
    val own = conf(new Random(1), schema)
    own.set("parquet.page.size.row.check.min", "100")
    val error = withCorrected(intercept[IllegalStateException] {
      written(newFile(), own, Seq.fill(50)(row))(OwnEncodings.of(_, schema, Some(likeSpark(schema))))
    })
    assert(error.getMessage.contains("`a`: a null"))
  }

  test("Spark's writer writes a file where parquet-java lacks a private field, or has another type there") {
    val schema = new StructType().add("a", IntegerType).add("b", StringType)
    val (own, data) = (conf(new Random(5), schema), rows(new Random(6), schema))
    val file = newFile()
    val spark = withCorrected(written(file, own, data)(RowWriter.of))
    val writers = Seq[AnyRef](null, "no writer", NoStore(0L, 0L), OtherType(0, 0L)).map(Holder(_))
    (Seq[AnyRef](null, new Object) ++ writers).foreach { internals =>
      val found = withCorrected(writtenBy(file, new OtherInternals(file, context(own), internals), data) { w =>
        val made = OwnEncodings.of(w, schema, Some(likeSpark(schema)))
        assert(!made.isColumnwise, s"$internals")
        made
      })
      assert(found == spark, s"$internals")
    }
  }

  test("if the setting is off, Spark's writer writes a file, with its own settings of dictionaries") {
    val schema = new StructType().add("a", IntegerType).add("b", DoubleType)
    val (own, data) = (conf(new Random(5), schema), rows(new Random(6), schema))
    own.set("parquet.enable.dictionary", "false")
    val spark = withCorrected(written(newFile(), own, data)(RowWriter.of))
    val found = withCorrected(written(newFile(), own, data) { w =>
      // The file that is begun last decides for all in parquet-java.
      val other = new Configuration(own)
      other.set("parquet.enable.dictionary", "true")
      val made = OwnEncodings.of(w, schema, None)
      new ParquetOutputWriter(newFile().toString, context(other)).close()
      assert(!made.isColumnwise)
      made
    })
    assert(found == spark)
  }
}

private object ColumnwiseWriterSuite {

  /** As if Spark's writer had another one in it. */
  final class OtherInternals(file: Path, context: TaskAttemptContext, val recordWriter: AnyRef)
      extends ParquetOutputWriter(file.toString, context)

  final case class Holder(internalWriter: AnyRef)
  final case class NoStore(recordCount: Long, recordCountForNextMemCheck: Long)
  final case class OtherType(recordCount: Int, recordCountForNextMemCheck: Long)
}
