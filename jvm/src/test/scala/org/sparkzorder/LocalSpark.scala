package org.sparkzorder

import java.io.File
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.commons.io.FileUtils
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
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

  /** How many jobs some work starts. */
  protected def jobs(work: => Any): Int = {
    val (started, last) = (new AtomicInteger, new CountDownLatch(1))
    val listener = new SparkListener {
      override def onJobStart(start: SparkListenerJobStart): Unit =
        if (start.properties.getProperty("last") != null) last.countDown() else { started.incrementAndGet(); () }
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      work
      // Listeners get events in order: after that of a last job they have got all.
      spark.sparkContext.setLocalProperty("last", "yes")
      spark.sparkContext.parallelize(Seq(1), 1).count()
      assert(last.await(20, TimeUnit.SECONDS))
      started.get
    } finally {
      spark.sparkContext.setLocalProperty("last", null)
      spark.sparkContext.removeSparkListener(listener)
    }
  }
}

/** Files of the repository. Tests run in some folder below its root. */
object Repository {
  val root: Path = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
    .find(folder => Files.exists(folder.resolve("build.sbt"))).get
}
