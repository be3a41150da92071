package org.sparkzorder.footer

import java.nio.file.{Files, Path => JPath}

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.StructType
import org.scalatest.{Assertions, BeforeAndAfterAll, Suite}

import org.sparkzorder.footer.files.FooterReaders
import org.sparkzorder.indexing.FileScan
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileStats, IndexableColumns, IndexedColumns, OrderedValue}

/** A Spark session, a temporary folder, and a comparison of footers with rows. */
trait FooterFixture extends BeforeAndAfterAll { this: Suite with Assertions =>

  lazy val spark: SparkSession = {
    val session = SparkSession.builder().master("local[2]").appName("footers")
      .config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC")
      .config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  lazy val folder: JPath = Files.createTempDirectory("zorder-footers")

  override protected def afterAll(): Unit = {
    spark.stop()
    Files.walk(folder).sorted(java.util.Comparator.reverseOrder[JPath]).forEach(p => Files.delete(p))
    super.afterAll()
  }

  def conf = spark.asInstanceOf[ClassicSession].sessionState.newHadoopConf()
  def settings = FooterSettings.of(spark.asInstanceOf[ClassicSession].sessionState.conf)

  def under[A](pairs: (String, String)*)(body: => A): A = {
    val before = pairs.map { case (k, _) => k -> spark.conf.getOption(k) }
    pairs.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally before.foreach { case (k, v) => v.fold(spark.conf.unset(k))(spark.conf.set(k, _)) }
  }

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

  def footer(status: FileStatus, format: DataFormat, schema: StructType): FileFooter =
    footer(status, format, schema, IndexableColumns.of(schema))

  def footer(status: FileStatus, format: DataFormat, schema: StructType, columns: Seq[ColumnKey]): FileFooter =
    FooterReaders.of(format, conf, schema, columns, settings).read(status)

  def scanned(status: FileStatus, format: DataFormat, schema: StructType): FileStats =
    FileScan.scan(spark, Seq((0, status)), format, schema, IndexedColumns(IndexableColumns.of(schema))).getOrElse(
      0,
      FileStats(0, Map.empty)
    )

  def key(schema: StructType, path: String*): ColumnKey =
    IndexableColumns.of(schema).find(_.path == path).getOrElse(fail(s"no column ${path.mkString(".")}"))

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

  private def encloses(s: ColumnStats, truth: ColumnStats): Unit = {
    assert(OrderedValue.order.compare(s.min, truth.min) <= 0)
    assert(OrderedValue.order.compare(s.max, truth.max) >= 0)
  }
}
