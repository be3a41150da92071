package org.sparkzorder.table

import org.sparkzorder.compat._

/**
 * Recognizes files of Spark's bucketed tables. Their names end with the number of the bucket:
 * `part-00000-<uuid>_00003.c000.snappy.parquet` belongs to bucket 3. In tables of Hive's format the
 * names begin with it as well.
 *
 * Trino's names have it as `_bucket-00003`, and files of Hive's transactional tables are `bucket_00003`. In tables that
 * it knows to be bucketed, Spark takes any digits after an underscore for the number. In a folder without a table
 * `log_2026.orc` is not a bucket file. Nor is Hive's `000003_0`, since Hive uses such names with and without buckets.
 */
object BucketFiles {

  private val name = {
    val uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    ("(?:\\d+_0_)?part-(?:r-)?\\d{5,}-" + uuid + "_\\d{5,}(?:\\..*)?|.+_bucket-\\d+(?:\\..*)?|bucket_\\d{5,}(?:_\\d+)?").r
  }

  def isOne(fileName: String): Boolean = name.matches(fileName)
}
