package org.sparkzorder.optimize.plan

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.Record
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.optimize.options.OptimizeOptions

class RememberedSizeSuite extends AnyFunSuite {
  private val layout =
    LayoutSpec(LayoutSpec.ZOrder, LayoutSpec.RangeMapping, LayoutSpec.AlignedCuts, Seq(Seq("a") -> 1.0))
  private val other = layout.copy(columns = Seq(Seq("b") -> 1.0))
  private val asked = OptimizeOptions.parse(Nil, "parquet", folderBytes = Nil)

  private def record(parameters: Map[String, String], spec: Option[LayoutSpec] = Some(layout)): Record =
    Record(1, "op", "OPTIMIZE", 1, "me", parameters, Map.empty, Nil, Nil, spec.map(_.json))

  private def of(predicate: String, history: Record*): OptimizeOptions =
    RememberedSize.of(asked, Some(layout), predicate, bytes = 1000, history.iterator)

  private val tenFiles = record(Map("num-files" -> "10"))
  private val partition = record(Map("predicate" -> "p = 1"))

  test("a number of files is remembered for the same predicate, also after an operation on some partitions") {
    assert(of("", tenFiles).targetFileSize == 100)
    assert(of("", partition, record(Map.empty, spec = None), tenFiles).targetFileSize == 100)
    assert(of("p = 1", tenFiles) == asked)
    assert(of("p = 1", tenFiles, record(Map("predicate" -> "p = 1", "num-files" -> "4"))).targetFileSize == 250)
  }

  test("the newest operation with the same predicate decides") {
    assert(of("", record(Map("target-file-size-bytes" -> "7")), tenFiles).targetFileSize == 7)
    assert(of("", record(Map.empty), tenFiles) == asked)
  }

  test("a size is remembered for any predicate") {
    assert(of("p = 1", record(Map("target-file-size-bytes" -> "7"))).targetFileSize == 7)
  }

  test("another layout remembers nothing, and neither does an operation of long ago") {
    assert(of("", record(Map("num-files" -> "10"), Some(other))) == asked)
    assert(of("", Seq.fill(100)(partition) :+ tenFiles: _*) == asked)
  }

  test("packing remembers a size of packing, with the sizes below and above which files are packed") {
    def packed(history: Record*) = RememberedSize.of(asked, None, "", bytes = 1000, history.iterator)
    val sized = packed(partition, record(Map("target-file-size-bytes" -> "100"), spec = None))
    assert((sized.targetFileSize, sized.minFileSize, sized.maxFileSize) == ((100, 75, 180)))
    assert(packed(record(Map("num-files" -> "10"), spec = None)).targetFileSize == 100)
    assert(packed(tenFiles) == asked)
  }

  test("a statement that sets a size has it") {
    val said = OptimizeOptions.parse(Seq("target-file-size-bytes" -> "5"), "parquet", folderBytes = Nil)
    assert(RememberedSize.of(said, Some(layout), "", 1000, Iterator(tenFiles)) == said)
  }
}
