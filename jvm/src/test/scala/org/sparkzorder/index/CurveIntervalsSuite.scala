package org.sparkzorder.index

import java.util.UUID

import scala.util.Random

import org.apache.spark.sql.types.{LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.layout._
import org.sparkzorder.stats.{ColumnKey, FileId, FileStats}

class CurveIntervalsSuite extends AnyFunSuite {
  private val random = new Random(21)

  private def frame(): CurveFrame = new CurveFrame(
    UUID.randomUUID().toString,
    IndexedSeq(
      FrameColumn(ColumnKey(Seq("a"), LongType), lasting = true),
      FrameColumn(ColumnKey(Seq("s", "x.ü"), StringType), lasting = random.nextBoolean())
    ),
    IndexedSeq(
      ValueDistribution.ofLongs(Array.fill(50)(random.nextLong()), 3),
      ValueDistribution.ofBytes(Array.fill(50)(random.nextBytes(4)), 0)
    ),
    BitPlan(Seq(1d, 2d), 10, 20)
  )

  private def interval(frame: CurveFrame): CurveInterval = {
    val low = random.nextInt(1 << 20).toLong
    CurveInterval(frame, low, low + random.nextInt((1 << 20) - low.toInt), random.nextInt(2))
  }

  private def shown(i: CurveInterval): Any = (i.frame.id, i.frame.columns, i.low, i.high, i.layer)

  private def all(s: IndexSnapshot): Map[FileId, Any] =
    (0 until s.files).flatMap(i => s.intervals.flatMap(_.of(i)).map(shown).map(s.fileId(i) -> _)).toMap

  private def files(names: String, n: Int) =
    Seq.tabulate(n)(i => FileId(s"$names$i", i.toLong, 7) -> FileStats(1, Map.empty))

  test("intervals are kept with the files they are of, through merges, and frames that nobody is of go") {
    for (_ <- 1 to 100) {
      val (one, two) = (frame(), frame())
      val before = files("a", 1 + random.nextInt(8))
      val placed = before.flatMap { case (id, _) =>
        if (random.nextInt(3) == 0) None else Some(id -> interval(if (random.nextBoolean()) one else two))
      }.toMap
      val old = Indexes.open(Indexes.written(IndexContents(before, Map.empty, placed)))
      assert(all(old) == placed.map { case (id, i) => id -> shown(i) })
      assert(old.intervals.isDefined == placed.nonEmpty)
      val added = files("b", random.nextInt(4))
      val more = added.map { case (id, _) => id -> interval(two) }.toMap
      val keep = (id: FileId) => id.length % 2 == 0
      val merged = Indexes.open(Indexes.written(IndexContents.merge(old, keep, added, placed = more)))
      assert(all(merged) == (placed.filter(p => keep(p._1)) ++ more).map { case (id, i) => id -> shown(i) })
      assert(merged.intervals.fold(0)(
        _.frames.size
      ) == (placed.filter(p => keep(p._1)) ++ more).map(_._2.frame.id).toSet.size)
      assert(Indexes.all(merged) == Indexes.all(before.filter(f => keep(f._1)) ++ added))
    }
  }

  test("damaged bytes of intervals are not read") {
    val f = frame()
    val raw = CurveIntervals.toRaw(IndexedSeq.fill(5)(Some(interval(f)))).get
    assert(CurveIntervals.fromRaw(5, raw).of(4).isDefined)
    var refused = 0
    for (_ <- 1 to 3000) {
      val damaged =
        if (random.nextBoolean()) raw.take(random.nextInt(raw.length))
        else raw.updated(random.nextInt(raw.length), random.nextInt().toByte)
      try CurveIntervals.fromRaw(5, damaged)
      catch { case _: java.io.IOException => refused += 1 }
    }
    assert(refused > 1000)
    Seq(4, 6).foreach(n => intercept[java.io.IOException](CurveIntervals.fromRaw(n, raw)))
  }

  test("an index whose intervals cannot be read has none, and its statistics") {
    val before = files("a", 3)
    val f = frame()
    val bytes = Indexes.written(IndexContents(before, Map.empty, before.map(_._1 -> interval(f)).toMap))
    val at = """"intervals":\{"offset":(\d+)""".r
    val text = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1)
    val offset = at.findFirstMatchIn(text).get.group(1).toInt
    val damaged = bytes.updated(offset + 20, (bytes(offset + 20) ^ 1).toByte)
    val read = Indexes.open(damaged)
    assert(read.intervals.isEmpty && Indexes.all(read) == Indexes.all(before))
  }
}
