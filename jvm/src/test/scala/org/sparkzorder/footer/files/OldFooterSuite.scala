package org.sparkzorder.footer.files

import java.nio.ByteBuffer

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.footer.{DataFormat, FooterFixture}
import org.sparkzorder.stats.ColumnKey

/** Footers of old writers, made by changing footers of today. */
class OldFooterSuite extends AnyFunSuite with FooterFixture {

  private def createdBy(status: FileStatus): String = {
    var by = ""
    changed(status, "old")(m => by = m.getCreated_by)
    by
  }

  private def bytes(text: String) = ByteBuffer.wrap(text.getBytes("UTF-8"))

  test("deprecated bounds of strings are in the order of signed bytes, and never used") {
    val df = spark.sql("SELECT * FROM VALUES ('a'), ('c\u00e9'), ('cz') AS t(s)")
    val today = written(df, DataFormat.Parquet, "signed")
    val schema = StructType.fromDDL("s string")
    def isUnused(by: String): Unit = {
      val old = changed(today, "old") { metadata =>
        metadata.setCreated_by(by)
        metadata.unsetColumn_orders()
        metadata.getRow_groups.asScala.flatMap(_.getColumns.asScala).foreach { column =>
          val s = column.getMeta_data.getStatistics
          s.unsetMin_value()
          s.unsetMax_value()
          s.setMin(bytes("a"))
          s.setMax(bytes("cz"))
        }
      }
      val read = footer(old, DataFormat.Parquet, schema)
      assert(!read.stats.get(key(schema, "s")).exists(_.hasBounds), by)
    }
    // The second is believed otherwise. With the setting, Spark's own reader uses these bounds for row groups.
    for (by <- Seq("parquet-mr version 1.8.2 (build c6522788629e590a53eb79874b95f6c3ff11f16c)", createdBy(today))) {
      withSettings("parquet.strings.signed-min-max.enabled" -> "true")(isUnused(by))
      isUnused(by)
    }
  }

  test("bounds of binary decimals are used only if the writer is known to order them by value") {
    val df = spark.sql("SELECT CAST(id - 5 AS DECIMAL(30, 2)) AS d, id FROM range(10)")
    val status = written(df, DataFormat.Parquet, "decimals")
    val (d, id) = (key(df.schema, "d"), key(df.schema, "id"))
    assert(footer(status, DataFormat.Parquet, df.schema).stats.keySet == Set(d, id))
    Seq(
      "parquet-mr version 1.9.0 (build 38262e2c80015d0935dad20f8e18f2d6f9fbd03c)" -> Set(d, id),
      "parquet-mr version 1.10.1 (build a89df8f9932b6ef6633d06069e50c9b7970bebd1)" -> Set.empty[ColumnKey],
      "other version 1.0" -> Set(d, id)
    ).foreach { case (by, untrusted) =>
      val f = footer(changed(status, "old")(_.setCreated_by(by)), DataFormat.Parquet, df.schema)
      assert(f.untrusted == untrusted && f.stats.keySet == Set(d, id) -- untrusted, by)
    }
  }
}
