package org.sparkzorder.table

/**
 * Files of Spark's bucketed tables, which have the number of their bucket at the end of their names:
 * `part-00000-<uuid>_00003.c000.snappy.parquet` is of bucket 3. A table in the format of Hive has it in front as well.
 * Spark itself takes any digits behind an underscore for it, but only in tables that it knows to be bucketed; `log_2026.orc`
 * of an unknown folder is none. Nor is `000003_0` of Hive, which names its files so with and without buckets.
 */
object BucketFiles {

  private val name = {
    val uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    ("(?:\\d+_0_)?part-(?:r-)?\\d{5,}-" + uuid + "_\\d{5,}(?:\\..*)?").r
  }

  def isOne(fileName: String): Boolean = name.matches(fileName)
}
