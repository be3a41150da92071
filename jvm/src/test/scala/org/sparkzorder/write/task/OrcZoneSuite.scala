package org.sparkzorder.write.task

import java.io.IOException
import java.util.TimeZone

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class OrcZoneSuite extends AnyFunSuite {

  private def in(zone: String)(body: => Unit): Unit = {
    val before = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone(zone))
    try body
    finally TimeZone.setDefault(before)
  }

  test("an executor must have the clocks of the driver, under whatever name") {
    in("Europe/Berlin") {
      OrcZone.refuseOther("Europe/Berlin")
      OrcZone.refuseOther("Arctic/Longyearbyen")
      val e = intercept[IOException](OrcZone.refuseOther("UTC"))
      assert(e.getMessage.contains("Europe/Berlin") && e.getMessage.contains("UTC"))
    }
    in("GMT")(OrcZone.refuseOther("UTC"))
    // As java.util.TimeZone names zones of three letters.
    in("America/New_York")(OrcZone.refuseOther("America/New_York"))
    in("UTC")(OrcZone.refuseOther("UCT"))
  }

  test("clocks are in columns of timestamps, however deep") {
    def isUsedBy(ddl: String) = OrcZone.isUsedBy(StructType.fromDDL(ddl))
    assert(Seq("a TIMESTAMP", "a TIMESTAMP_NTZ", "a ARRAY<STRUCT<b: MAP<STRING, TIMESTAMP>>>").forall(isUsedBy))
    assert(!isUsedBy("a DATE, b ARRAY<STRUCT<c: STRING>>, d MAP<STRING, BIGINT>"))
  }
}
