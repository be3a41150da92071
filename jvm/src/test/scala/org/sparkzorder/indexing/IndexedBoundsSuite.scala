package org.sparkzorder.indexing

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.index.{BlockSource, IndexContents, IndexFile, Indexes}
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileId, FileStats}

class IndexedBoundsSuite extends AnyFunSuite {

  private def key(c: Int) = ColumnKey(Seq(s"c$c"), LongType)

  private def id(f: Int) = FileId(s"f$f", 100L, 5L)

  test("the bounds of two keys load only two columns, and columns that the index lacks are unknown") {
    val files = (0 until 10).map { f =>
      val columns = (0 until 50).map(c => key(c) -> ColumnStats(Long.box(f.toLong), Long.box(f + c.toLong), 0L, 0L))
      id(f) -> FileStats(10L, columns.toMap)
    }
    val bytes = new Indexes.BytesSource(Indexes.written(IndexContents(files)))
    val reads = ArrayBuffer.empty[Long]
    val counting = new BlockSource {
      def name: String = bytes.name
      def length: Long = bytes.length
      def read(offset: Long, length: Int): Array[Byte] = {
        reads += offset
        bytes.read(offset, length)
      }
    }
    val snapshot = IndexFile.open(counting, 64L << 20)
    reads.clear()
    val bounds = new IndexedBounds(Some(snapshot), IndexedSeq(key(3), key(40)))
    (0 until 10).foreach { f =>
      assert(bounds.of(id(f)) == Seq(FileBounds.Longs(f.toLong, f + 3L), FileBounds.Longs(f.toLong, f + 40L)))
    }
    assert(reads.length == 2)
    val unknown = Seq(FileBounds.Unknown, FileBounds.Unknown)
    assert(bounds.of(id(99)) == unknown)
    assert(bounds.of(id(3).copy(length = 101L)) == unknown)
    val lacking = new IndexedBounds(Some(snapshot), IndexedSeq(key(77), key(1)))
    assert(lacking.of(id(2)) == Seq(FileBounds.Unknown, FileBounds.Longs(2, 3)))
    assert(new IndexedBounds(None, IndexedSeq(key(1))).of(id(1)) == Seq(FileBounds.Unknown))
  }
}
