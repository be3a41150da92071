package org.sparkzorder

import java.io.File
import java.nio.file.Files

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.classic.SparkSession
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A session of a suite's own with the extension, and a folder that goes away with it. */
trait LocalSpark extends BeforeAndAfterAll { this: Suite =>
  protected var spark: SparkSession = _
  protected val dir: File = Files.createTempDirectory("zorder-suite").toFile

  protected def master: String = "local[2]"

  protected def settings: Map[String, String] = Map("spark.sql.extensions" -> "org.sparkzorder.ZOrderSparkExtension")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val builder = org.apache.spark.sql.SparkSession
      .builder()
      .master(master)
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "4")
      .config("spark.sql.warehouse.dir", new File(dir, "warehouse").toString)
    settings.foreach { case (key, value) => builder.config(key, value) }
    spark = builder.getOrCreate().asInstanceOf[SparkSession]
    spark.sparkContext.setLogLevel("WARN")
  }

  override protected def afterAll(): Unit = {
    spark.stop()
    FileUtils.deleteDirectory(dir)
    super.afterAll()
  }

  protected def withSettings[T](settings: (String, String)*)(work: => T): T = {
    val before = settings.map { case (key, _) => key -> spark.conf.getAll.get(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try work
    finally before.foreach { case (key, value) => value.fold(spark.conf.unset(key))(spark.conf.set(key, _)) }
  }
}
