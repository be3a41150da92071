package org.sparkzorder.write.encode

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

class WriterLimitsSuite extends AnyFunSuite {

  private def set(change: Configuration => Unit)(settings: (String, Any)*): Configuration = {
    val conf = new Configuration(false)
    settings.foreach { case (key, value) => conf.set(key, value.toString) }
    change(conf)
    conf
  }

  test("a Bloom filter is not larger than its row group") {
    def most(settings: (String, Any)*) = set(BloomFilterSize.limit)(settings: _*).get("parquet.bloom.filter.max.bytes")
    assert(most() == null)
    assert(most("parquet.block.size" -> (128 << 20)) == null)
    assert(most("parquet.block.size" -> 9000) == "8192")
    assert(most("parquet.block.size" -> 10) == "1024")
    assert(most("parquet.block.size" -> 9000, "parquet.bloom.filter.max.bytes" -> 4096) == "4096")
    assert(most("parquet.block.size" -> (64 << 10), "parquet.bloom.filter.max.bytes" -> (1 << 20)) == "65536")
  }

  test("pages without compression have version 1") {
    def version(settings: (String, Any)*) = set(PageVersion.keepReadable)(settings: _*).get("parquet.writer.version")
    assert(version("parquet.compression" -> "UNCOMPRESSED", "parquet.writer.version" -> "v2") == "v1")
    assert(version("parquet.compression" -> "UNCOMPRESSED", "parquet.writer.version" -> "PARQUET_2_0") == "v1")
    assert(version("parquet.compression" -> "ZSTD", "parquet.writer.version" -> "v2") == "v2")
    assert(version("parquet.compression" -> "SNAPPY") == null)
  }
}
