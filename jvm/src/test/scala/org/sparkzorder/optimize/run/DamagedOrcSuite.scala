package org.sparkzorder.optimize.run

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.OrcFile
import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.LocalSpark

/** ORC files whose stripes have a damaged footer. Their other footers are intact. */
class DamagedOrcSuite extends AnyFunSuite with LocalSpark {

  /** @param damage what comes in place of the bytes of the first stripe's footer */
  private def table(name: String, codec: String, damage: Int => Array[Byte]): (File, File) = {
    val folder = new File(dir, name)
    spark.range(0, 1000, 1, 2).selectExpr("id k", "concat('s', id) s", "timestamp_seconds(id) t", "id / 7 d")
      .write.option("compression", codec).orc(folder.toString)
    val file = folder.listFiles.filter(_.getName.endsWith(".orc")).min
    val reader = OrcFile.createReader(new Path(file.toURI), OrcFile.readerOptions(new Configuration))
    val stripe = reader.getStripes.asScala.head
    reader.close()
    new File(folder, s".${file.getName}.crc").delete()
    val at = (stripe.getOffset + stripe.getIndexLength + stripe.getDataLength).toInt
    val length = stripe.getFooterLength.toInt
    val bytes: Array[Byte] = Files.readAllBytes(file.toPath).patch(at, damage(length), length)
    Files.write(file.toPath, bytes)
    (folder, file)
  }

  private val damages =
    Seq("zeros" -> ((n: Int) => new Array[Byte](n)), "noise" -> ((n: Int) => new Random(5).nextBytes(n)))

  for {
    codec <- Seq("none", "zlib")
    (name, damage) <- damages
  } test(s"$name, codec $codec: each statement names the file") {
    val (folder, file) = table(s"$codec-$name", codec, damage)
    val names = folder.list.toSet
    val optimize = s"OPTIMIZE orc.`$folder` ZORDER BY (k)"
    Seq(optimize, s"$optimize DRY RUN", s"CREATE SKIPPING INDEX ON orc.`$folder`").foreach { sql =>
      val error = intercept[Throwable](spark.sql(sql).collect())
      assert(error.asInstanceOf[SparkThrowable].getCondition == "ZORDER_NOT_A_DATA_FILE", s"$sql: $error")
      assert(error.getMessage.contains(file.getName), s"$sql: $error")
    }
    assert(folder.list.toSet == names)
  }
}
