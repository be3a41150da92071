package org.sparkzorder.memory

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.Condition.Opaque

class FilterMemorySuite extends AnyFunSuite {

  private def filter(text: String, table: String = "file:/t"): FilterKey =
    FilterKey(table, "settings", Set(Opaque(text)))

  private def file(i: Int, time: Long = 1L, values: String = ""): ReadFile =
    ReadFile(new Path(s"file:/t/f$i"), 10L, time, values)

  private def knows(memory: FilterMemory, filter: FilterKey)(file: ReadFile): Boolean = {
    val status = new FileStatus(file.length, false, 1, 1L, file.time, file.path)
    memory.filesWithout(filter).exists(_.has(FileStatusWithMetadata(status), file.values))
  }

  test("a file is known by its path, length, time and partition") {
    val memory = new FilterMemory(1L << 20, 1000)
    memory.remember(filter("a"), Seq(file(1), file(2)))
    val known = knows(memory, filter("a")) _
    assert(known(file(1)) && known(file(2)) && !known(file(3)))
    assert(!known(file(1, time = 2)) && !known(file(1).copy(length = 11)) && !known(file(1, values = "1:p")))
    assert(!knows(memory, filter("b"))(file(1)))
    memory.remember(filter("a"), Seq(file(3)))
    assert(known(file(1)) && known(file(3)))
    // The file has changed, and what was known about it is about no file any more.
    memory.remember(filter("b"), Seq(file(1, time = 2)))
    assert(!known(file(1)) && !known(file(1, time = 2)) && known(file(2)))
  }

  test("no two values of partitions have one text") {
    val schema = StructType.fromDDL("a STRING, b STRING")
    val values = Seq(null, "null", "-", "x", "", ";", "x;-", "=1")
    val texts = for (a <- values; b <- values)
      yield RememberedFiles.valuesOf(InternalRow(UTF8String.fromString(a), UTF8String.fromString(b)), schema)
    assert(texts.distinct.length == values.length * values.length)
  }

  test("filters that were used least recently are dropped first") {
    val memory = new FilterMemory(100000, 1000)
    val filters = (0 until 1000).map(i => filter(s"$i" * 10))
    for (f <- filters) {
      memory.remember(f, Seq(file(1)))
      assert(memory.filesWithout(filters.head).isDefined)
    }
    assert(memory.sizeOf(_ => true).bytes <= 100000)
    assert(memory.sizeOf(_ => true).filters > 100)
    assert(memory.filesWithout(filters.last).isDefined && memory.filesWithout(filters(1)).isEmpty)
  }

  test("the names of files have a bound, and a table that loses them loses its filters") {
    val memory = new FilterMemory(1L << 20, 1000)
    memory.remember(filter("a", "file:/s"), (0 until 600).map(file(_)))
    memory.remember(filter("a", "file:/t"), (0 until 600).map(file(_)))
    assert(memory.knows("file:/t") && !memory.knows("file:/s"))
    assert(memory.sizeOf(_ == "file:/s") == MemorySize(0, 0))
    memory.remember(filter("a", "file:/u"), (0 until 1001).map(file(_)))
    assert(!memory.knows("file:/u") && memory.filesWithout(filter("a", "file:/u")).isEmpty)
  }

  test("a table is forgotten by its folder, or by a folder above") {
    val memory = new FilterMemory(1L << 20, 1000)
    val tables = Seq("file:/t", "file:/t/a", "file:/ta", "file:/x\nfile:/t/b")
    for (table <- tables) memory.remember(filter("a", table), Seq(file(1)))
    memory.forget(TableNames.isAt(_, new Path("file:/t")))
    assert(tables.filter(memory.knows) == Seq("file:/ta"))
  }
}
