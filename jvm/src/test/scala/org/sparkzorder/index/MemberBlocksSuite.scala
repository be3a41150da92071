package org.sparkzorder.index

import java.io.ByteArrayOutputStream
import java.nio.{ByteBuffer, ByteOrder}
import java.util.BitSet

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.membership.{MembershipHash, MembershipKind}
import org.sparkzorder.stats._

/** The values of columns in an index file. */
class MemberBlocksSuite extends AnyFunSuite {
  import Indexes._

  private val schema = StructType.fromDDL("k bigint, n int")
  private val k = ColumnKey(Seq("k"), LongType)
  private val n = ColumnKey(Seq("n"), IntegerType)
  private val all = { val bits = new BitSet; bits.set(0, 1000); bits }

  private def file(name: String, values: Seq[Long]): (FileId, FileStats) = {
    val collector = new StatsCollector(schema, IndexedColumns(Seq(k, n), Map(k -> MembershipKind.Values)))
    values.foreach(v => collector.add(InternalRow(v, v.toInt)))
    FileId(name, 1L, 1L) -> collector.result()
  }

  private def has(index: IndexSnapshot, name: String, value: Long): Option[Boolean] = {
    val ordinal = index.ordinalOf(name, 1L, 1L)
    index.members(k.path, k.dataType).flatMap(_.reader(all)(ordinal)).map(_.mayHave(value, MembershipHash.of(value)))
  }

  private val files = Seq.tabulate(40)(i => file(s"f$i", Seq(i.toLong, 100L + i, 1000L * i)))

  test("values come back for each file, and a column without values has none") {
    val index = open(written(IndexContents(files)))
    assert(index.memberColumns == Seq(k) && index.members(n.path, n.dataType).isEmpty)
    files.indices.foreach { i =>
      assert(Seq(i.toLong, 100L + i, 1000L * i).forall(v => has(index, s"f$i", v).contains(true)))
      assert(has(index, s"f$i", 7777L).contains(false))
    }
  }

  test("blocks that are wanted soon are read with others, and each is read once") {
    val source = new BytesSource(written(IndexContents(files)))
    val index = IndexFile.open(source, 64L << 20)
    val wanted = new BitSet
    (0 until 40 by 2).foreach(wanted.set)
    val reader = index.members(k.path, k.dataType).get.reader(wanted)
    source.reads = 0
    (0 until 40 by 2).foreach(i => assert(reader(i).exists(_.mayHave(i.toLong, MembershipHash.of(i.toLong)))))
    assert(source.reads == 1)
    (0 until 40 by 2).foreach(i => assert(reader(i).isDefined))
    assert(source.reads == 1)
    // A change of the index reads them at once, too.
    val contents = IndexContents.merge(IndexFile.open(source, 64L << 20), _.path != "f3", Nil)
    source.reads = 0
    written(contents)
    assert(source.reads < 10)
  }

  test("a merge copies the values of files that stay, and takes those of added ones") {
    val old = open(written(IndexContents(files)))
    val added = file("new", Seq(5L))
    val merged = open(written(IndexContents.merge(old, _.path != "f3", Seq(added))))
    assert(has(merged, "f2", 102L).contains(true) && has(merged, "f2", 103L).contains(false))
    assert(has(merged, "new", 5L).contains(true) && has(merged, "new", 6L).contains(false))
    val without = open(written(IndexContents.merge(old, _ => true, Seq(added), keepMembers = _ => false)))
    assert(without.memberColumns.isEmpty && without.column(k.path, k.dataType).isDefined)
    val excluded = open(written(IndexContents.merge(old, _ => true, Nil, keepColumn = _ != k)))
    assert(excluded.memberColumns.isEmpty && excluded.column(k.path, k.dataType).isEmpty)
  }

  test("a file without bounds of the column has no values either") {
    val some = files.zipWithIndex.map {
      case ((id, s), 4) => id -> s.copy(columns = s.columns.updated(k, ColumnStats(null, null, 0L, 0L)))
      case ((id, s), 5) => id -> s.copy(columns = s.columns - k)
      case (other, _)   => other
    }
    val index = open(written(IndexContents(some)))
    assert(has(index, "f4", 4L).isEmpty && has(index, "f5", 5L).isEmpty && has(index, "f6", 6L).contains(true))
    val none = open(written(IndexContents(files.map { case (id, s) => id -> s.copy(columns = s.columns - k) })))
    assert(none.memberColumns.isEmpty)
  }

  test("values stop where the index would get too large") {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, IndexContents(files), mostBytes = 1000)
    val index = open(out.toByteArray)
    val known = files.indices.count(i => has(index, s"f$i", i.toLong).isDefined)
    assert(known > 0 && known < 40)
    assert(index.column(k.path, k.dataType).isDefined)
  }

  test("damage is taken for missing values, and never for other ones", InRest) {
    val bytes = written(IndexContents(files))
    val random = new Random(1)
    var missing = 0
    (1 to 3000).foreach { _ =>
      val damaged = bytes.clone()
      val at = 8 + random.nextInt(damaged.length - 40)
      (at until at + 1 + random.nextInt(8)).foreach(i => damaged(i) = random.nextInt().toByte)
      try {
        val index = open(damaged)
        files.indices.foreach { i =>
          if (index.ordinalOf(s"f$i", 1L, 1L) >= 0) {
            val found = has(index, s"f$i", i.toLong)
            assert(!found.contains(false))
            if (found.isEmpty) missing += 1
          }
        }
      } catch { case _: IndexFormatException => () }
    }
    assert(missing > 1000)
  }

  test("places outside of the file are refused, whatever the checksums say") {
    val bytes = written(IndexContents(files))
    Seq("k_values_from", "k_values_until").foreach { name =>
      Seq(Long.MaxValue - 5, Long.MinValue, -2L, bytes.length + 1L).foreach { place =>
        def patched(raw: Array[Byte]) =
          ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN).putLong(raw.length - 8, place).array
        val read = open(withColumn(bytes, name, patched))
        assert(has(read, "f39", 39L).isEmpty && read.column(k.path, k.dataType).isDefined)
      }
    }
  }
}
