package org.sparkzorder.index

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.Mutation
import org.sparkzorder.stats.{FileId, FileStats}

class FileOriginsSuite extends AnyFunSuite {
  private def id(n: Int) = FileId(s"f$n", n.toLong, 1L)

  private def files(of: Range): Seq[(FileId, FileStats)] = of.map(n => id(n) -> FileStats(1L, Map.empty))

  private def opened(contents: IndexContents): IndexSnapshot = Indexes.open(Indexes.written(contents))

  private def all(s: IndexSnapshot): Map[FileId, String] = s.origins((0 until s.files).map(s.fileId))

  test("origins stay with their files through merges, copies and an index that is made anew") {
    val written = Map(id(1) -> "{a}", id(2) -> "{b}", id(3) -> "{a}")
    val first = opened(IndexContents(files(1 to 5), origins = written))
    assert(all(first) == written && (0 until 5).map(first.originOf).count(_.isEmpty) == 2)
    val copy = FileId("copy", 9L, 9L)
    val merged = opened(IndexContents.merge(
      first,
      _ != id(2),
      files(3 to 4) ++ files(6 to 7),
      copied = Map(id(2) -> copy),
      origins = Map(id(6) -> "{c}", id(4) -> "{b}")
    ))
    // The third file was added anew, and nothing is known of it.
    assert(all(merged) == Map(id(1) -> "{a}", copy -> "{b}", id(4) -> "{b}", id(6) -> "{c}"))
    assert(all(opened(IndexContents(files(1 to 9), origins = merged.origins(files(1 to 4).map(_._1))))) ==
      Map(id(1) -> "{a}", id(4) -> "{b}"))
  }

  test("an index without origins has no block of them") {
    val bytes = Indexes.written(IndexContents(files(1 to 3)))
    assert(all(Indexes.open(bytes)).isEmpty && !Indexes.placesOf(bytes).has(FileOrigins.Columns.head))
  }

  test("texts for which there is no room are left out") {
    val long = "x" * (FileOrigins.MaxTextBytes / 2)
    val origins = IndexedSeq(Some(s"${long}1"), Some("short"), Some(s"${long}2"), Some("short"))
    val read = Indexes.open(Indexes.having(4)(FileOrigins.write(_, origins)))
    assert((0 until 4).map(read.originOf(_).map(_.length)) == Seq(Some(long.length + 1), Some(5), None, Some(5)))
  }

  test("damaged bytes are refused or read, and nothing else happens") {
    val origins = IndexedSeq(Some("{a}"), None, Some("{b}"), Some("{a}"))
    val bytes = Indexes.having(4)(FileOrigins.write(_, origins))
    val mutation = new Mutation(new scala.util.Random(20261126))
    var refused = 0
    Mutation.silently(for (n <- 1 to 2500; name <- FileOrigins.Columns) withClue(s"bytes $n: ") {
      val read = Indexes.open(Indexes.withColumn(bytes, name, mutation.ofBytes))
      if ((0 until 4).forall(read.originOf(_).isEmpty)) refused += 1
    })
    assert(refused > 1000)
  }

  test("an index whose origins cannot be read still has its statistics") {
    val bytes = Indexes.written(IndexContents(files(1 to 4), origins = Map(id(1) -> "{a}")))
    val offset = Indexes.placesOf(bytes).get(FileOrigins.Columns.head).get(0).asInt
    bytes(offset + 1) = (bytes(offset + 1) ^ 1).toByte
    val read = Indexes.open(bytes)
    assert(all(read).isEmpty && read.files == 4)
  }
}
