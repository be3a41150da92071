package org.sparkzorder.table

import org.scalatest.funsuite.AnyFunSuite

class BucketFilesSuite extends AnyFunSuite {

  private val uuid = "f47ac10b-58cc-4372-a567-0e02b2c3d479"

  test("names that Spark gives to files of buckets") {
    Seq(
      s"part-00000-${uuid}_00003.c000.snappy.parquet",
      s"part-123456-${uuid}_123456.c001.zstd.orc",
      s"part-r-00000-${uuid}_00003.gz.parquet",
      s"00003_0_part-00000-${uuid}_00003.c000",
      s"part-00000-${uuid}_00003"
    ).foreach(name => assert(BucketFiles.isOne(name), name))
  }

  test("other names with digits after an underscore") {
    Seq(
      s"part-00000-$uuid-c000.snappy.parquet",
      s"part-00000-$uuid-a7.zstd.parquet",
      "000003_0",
      "log_2026.parquet",
      "part_00001.parquet",
      s"part-00000-${uuid}_1.parquet"
    ).foreach(name => assert(!BucketFiles.isOne(name), name))
  }
}
