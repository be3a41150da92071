package org.sparkzorder.footer

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path => JPath}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.parquet.format.{FileMetaData, Util}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.types.StructType
import org.scalatest.{Assertions, Suite}

import org.sparkzorder.LocalSpark
import org.sparkzorder.footer.files.FooterReaders
import org.sparkzorder.indexing.FileScan
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, IndexableColumns, IndexedColumns, OrderedValue}

/** A Spark session, a temporary folder, and a comparison of footers with rows. */
trait FooterFixture extends LocalSpark { this: Suite with Assertions =>

  override protected def settings: Map[String, String] = Map("spark.sql.session.timeZone" -> "UTC")

  protected val folder: JPath = dir.toPath

  def conf: Configuration = spark.sessionState.newHadoopConf()
  def settingsOfFooters: FooterSettings = FooterSettings.of(spark.sessionState.conf)

  /** Writes one file and returns its status. */
  def written(df: DataFrame, format: DataFormat, name: String, options: Map[String, String] = Map.empty): FileStatus = {
    val path = folder.resolve(name).toString
    df.coalesce(1).write.format(format.name).options(options).save(path)
    dataFiles(path).head
  }

  def dataFiles(path: String): Seq[FileStatus] = {
    val p = new Path(path)
    p.getFileSystem(conf).listStatus(p).toSeq.filterNot(s => s.getPath.getName.matches("[_.].*"))
  }

  def statusOf(path: JPath): FileStatus = {
    val p = new Path(path.toString)
    p.getFileSystem(conf).getFileStatus(p)
  }

  /** A copy of a Parquet file with another footer, and without a file of checksums. */
  def changed(status: FileStatus, name: String)(change: FileMetaData => Unit): FileStatus = {
    val bytes = Files.readAllBytes(JPath.of(status.getPath.toUri.getPath))
    val length = ByteBuffer.wrap(bytes, bytes.length - 8, 4).order(ByteOrder.LITTLE_ENDIAN).getInt
    val start = bytes.length - 8 - length
    val metadata = Util.readFileMetaData(new ByteArrayInputStream(bytes, start, length))
    change(metadata)
    val made = new ByteArrayOutputStream
    Util.writeFileMetaData(metadata, made)
    val end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(made.size).put("PAR1".getBytes).array
    statusOf(Files.write(folder.resolve(s"$name.parquet"), bytes.take(start) ++ made.toByteArray ++ end))
  }

  def footer(status: FileStatus, format: DataFormat, schema: StructType): FileFooter =
    footer(status, format, schema, IndexableColumns.of(schema))

  def footer(status: FileStatus, format: DataFormat, schema: StructType, columns: Seq[ColumnKey]): FileFooter =
    FooterReaders.of(format, conf, schema, columns, settingsOfFooters).read(status)

  def scanned(status: FileStatus, format: DataFormat, schema: StructType): FileStats =
    FileScan.scan(spark, Seq((0, status)), format, schema, IndexedColumns(IndexableColumns.of(schema)))
      .getOrElse(0, FileStats(0, Map.empty))

  def key(schema: StructType, path: String*): ColumnKey =
    IndexableColumns.of(schema).find(_.path == path).getOrElse(fail(s"no column ${path.mkString(".")}"))

  /** The footer of a file, whose trusted statistics hold for the rows. */
  def sound(status: FileStatus, format: DataFormat, schema: StructType): FileFooter = {
    val f = footer(status, format, schema)
    assertSound(f, scanned(status, format, schema))
    f
  }

  /** Checks that trusted statistics of a footer hold for the rows. */
  def assertSound(footer: FileFooter, rows: FileStats): Unit = {
    assert(footer.rows == rows.rows)
    footer.stats.foreach { case (k, s) =>
      val truth = rows.columns(k)
      withClue(s"${k.path.mkString(".")} ${k.dataType.catalogString}: $s against $truth: ") {
        assert(s.nullCount == truth.nullCount)
        assert(s.nanCount == truth.nanCount)
        if (s.hasBounds && truth.hasBounds) encloses(s, truth)
        if (!s.hasBounds) assert(!truth.hasBounds || footer.sessionBound.get(k).contains(SessionBound.ButForNulls))
      }
    }
    footer.loose.foreach { case (k, s) => if (rows.columns(k).hasBounds) encloses(s, rows.columns(k)) }
  }

  protected def encloses(s: ColumnStats, truth: ColumnStats): Unit = {
    assert(OrderedValue.order.compare(s.min, truth.min) <= 0)
    assert(OrderedValue.order.compare(s.max, truth.max) >= 0)
  }
}

/** Rows with a column of every type that has statistics. */
object Samples {

  /** Makes 100 rows. Every seventh value is null; `s.x` is also null where `s` is. */
  def all(spark: SparkSession): DataFrame = spark.range(100).selectExpr(
    "if(id % 7 = 0, null, id % 2 = 0) as bool", "cast(if(id % 7 = 0, null, id - 50) as tinyint) as i8",
    "cast(if(id % 7 = 0, null, id * 100 - 5000) as smallint) as i16",
    "cast(if(id % 7 = 0, null, id * 100000 - 5000000) as int) as i32",
    "if(id % 7 = 0, null, id * 10000000000 - 5) as i64", "cast(if(id % 7 = 0, null, id - 50) as float) / 4 as f32x",
    "cast(cast(if(id % 7 = 0, null, id - 50) as float) as float) as f32",
    "cast(if(id % 7 = 0, null, id - 50) as double) / 3 as f64",
    "if(id % 7 = 0, null, date_add(date'2020-01-01', cast(id as int))) as d",
    "if(id % 7 = 0, null, date_add(date'1500-01-01', cast(id as int))) as ancient",
    "if(id % 7 = 0, null, timestamp_micros(id * 1000003 - 5000000)) as ts",
    "if(id % 7 = 0, null, timestamp_micros(id - 13000000000000000)) as ancient_ts",
    "cast(if(id % 7 = 0, null, timestamp_micros(id * 1000003)) as timestamp_ntz) as ntz",
    "cast(if(id % 7 = 0, null, id - 50) as decimal(7,2)) as dec7",
    "cast(if(id % 7 = 0, null, id - 50) as decimal(17,3)) as dec17",
    "cast(if(id % 7 = 0, null, (id - 50) * 3) as decimal(38,5)) as dec38",
    "if(id % 7 = 0, null, concat('v', id, 'äé')) as str", "if(id % 7 = 0, null, cast(id as string)) as str2",
    "cast(if(id % 7 = 0, null, concat('b', id)) as binary) as bin",
    "if(id % 7 = 0, null, make_dt_interval(cast(id as int) - 50)) as dti",
    "if(id % 7 = 0, null, make_ym_interval(cast(id as int) - 50)) as ymi", "cast(null as int) as nothing",
    "if(id % 3 = 0, null, named_struct('x', if(id % 7 = 0, null, id), 'in', named_struct('y', cast(id as string)))) as s",
    "array(id, null) as arr", "map(id, 'x') as m"
  )
}
