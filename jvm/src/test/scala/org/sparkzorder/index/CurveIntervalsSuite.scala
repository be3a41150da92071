package org.sparkzorder.index

import java.util.UUID

import scala.util.Random

import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY
import org.apache.parquet.schema.Types
import org.apache.spark.sql.types.{LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, Mutation}
import org.sparkzorder.layout._
import org.sparkzorder.stats.{ColumnKey, FileId, FileStats}

class CurveIntervalsSuite extends AnyFunSuite {
  private val random = new Random(21)

  private def frame(): CurveFrame = {
    val id = UUID.randomUUID().toString
    val a = FrameColumn(ColumnKey(Seq("a"), LongType), lasting = true)
    val s = FrameColumn(ColumnKey(Seq("s", "x.ü"), StringType), lasting = random.nextBoolean())
    val longs = ValueDistribution.ofLongs(Array.fill(50)(random.nextLong()), 3)
    val texts = ValueDistribution.ofBytes(Array.fill(50)(random.nextBytes(4)), 0)
    new CurveFrame(id, IndexedSeq(a, s), IndexedSeq(longs, texts), BitPlan(Seq(1d, 2d), 10, 20))
  }

  private def interval(frame: CurveFrame): CurveInterval = {
    val low = random.nextInt(1 << 20).toLong
    CurveInterval(frame, low, low + random.nextInt((1 << 20) - low.toInt), random.nextInt(2))
  }

  private def shown(i: CurveInterval): Any = (i.frame.id, i.frame.columns, i.low, i.high, i.layer)

  /** The intervals as an index stores them: a frame with few different intervals loses its boundaries. */
  private def stored(placed: Map[FileId, CurveInterval]): Map[FileId, CurveInterval] = {
    val different = placed.values.groupMap(_.frame.id)(i => (i.low, i.high)).view.mapValues(_.toSet.size).toMap
    placed.map { case (id, i) => id -> (if (different(i.frame.id) < 4) i.withoutBoundaries else i) }
  }

  private def all(s: IndexSnapshot): Map[FileId, Any] =
    (0 until s.files).flatMap(i => s.intervals.flatMap(_.of(i)).map(shown).map(s.fileId(i) -> _)).toMap

  private def written(
      intervals: IndexedSeq[Option[CurveInterval]],
      length: Int => Long = _ => 1L,
      warn: String => Unit = fail(_)
  ): IndexSnapshot = Indexes.open(Indexes.having(intervals.size)(CurveIntervals.write(_, intervals, length, warn)))

  private def files(names: String, n: Int) =
    Seq.tabulate(n)(i => FileId(s"$names$i", i.toLong, 7) -> FileStats(1, Map.empty))

  private def place(files: Seq[(FileId, FileStats)])(interval: Int => CurveInterval): Map[FileId, CurveInterval] =
    files.zipWithIndex.map { case ((id, _), i) => id -> interval(i) }.toMap

  private def reread(contents: IndexContents): IndexSnapshot = Indexes.open(Indexes.written(contents))

  test("intervals stay with their files through merges, and frames without a file are dropped", InRest) {
    for (_ <- 1 to 100) {
      val (one, two) = (frame(), frame())
      val before = files("a", 1 + random.nextInt(24))
      val placed = before.flatMap { case (id, _) =>
        if (random.nextInt(3) == 0) None else Some(id -> interval(if (random.nextBoolean()) one else two))
      }.toMap
      val old = reread(IndexContents(before, Map.empty, placed))
      assert(all(old) == stored(placed).map { case (id, i) => id -> shown(i) })
      assert(old.intervals.isDefined == placed.nonEmpty)
      val added = files("b", random.nextInt(6))
      val more = added.map { case (id, _) => id -> interval(two) }.toMap
      val keep = (id: FileId) => id.length % 2 == 0
      val merged = reread(IndexContents.merge(old, keep, added, placed = more))
      val left = stored(stored(placed).filter(p => keep(p._1)) ++ more)
      assert(all(merged) == left.map { case (id, i) => id -> shown(i) })
      assert(merged.intervals.fold(0)(_.frames.size) == left.map(_._2.frame.id).toSet.size)
      assert(Indexes.all(merged) == Indexes.all(before.filter(f => keep(f._1)) ++ added))
    }
  }

  test("of a frame with few files only the fact that they were placed is stored, and no values") {
    val (few, many) = (frame(), frame())
    val before = files("a", 9)
    val placed = place(before)(i => CurveInterval(if (i < 3) few else many, i.toLong, i + 5L, i % 2))
    val read = reread(IndexContents(before, Map.empty, placed)).intervals.get
    val (left, whole) = (0 until 9).map(read.of(_).get).partition(!_.frame.hasBoundaries)
    assert(whole.map(_.frame.id).distinct == Seq(many.id) && whole.map(_.low) == (3 to 8))
    assert(left.size == 3 && left.forall(i => i.low == 0 && i.high == 0) && left.map(_.layer) == Seq(0, 1, 0))
    assert(left.forall(_.frame.columns == few.columns.map(_.copy(lasting = false))))
    // Many partitions with one file each share one frame without boundaries.
    val units = files("a", 1000)
    val alone = units.map(f => f._1 -> interval(frame())).toMap
    val intervals = units.map(f => alone.get(f._1)).toIndexedSeq
    assert(written(intervals).intervals.get.frames.size == 1)
    val bytes = Indexes.having(intervals.size)(CurveIntervals.write(_, intervals, _ => 1L, fail(_))).length
    assert(bytes - Indexes.having(intervals.size)(_ => ()).length < 2500)
    // Files with the same interval count as one.
    val one = written(IndexedSeq.fill(100)(Some(CurveInterval(few, 3, 4, 0))))
    assert(!one.intervals.get.frames.head.hasBoundaries)
  }

  test("there is one frame without boundaries for the same columns, and another one for other columns") {
    val columns = IndexedSeq(ColumnKey(Seq("a"), LongType), ColumnKey(Seq("s", "x"), StringType))
    val vectors = columns.map(c => c.copy(path = c.path.toVector)).toVector
    val others = Seq(columns.reverse, columns.take(1), IndexedSeq(ColumnKey(Seq("a"), StringType)))
    val ids = (columns +: vectors +: others).map(CurveFrame.withoutBoundaries(_).id)
    assert(ids.distinct.size == 4 && ids.head == ids(1))
    assert(CurveFrame.withoutBoundaries(columns).last == 0)
  }

  test("an index that is made anew has the same intervals, but readers conclude nothing from them") {
    val before = files("a", 12)
    val (one, two) = (frame(), frame())
    val placed = place(before.take(11))(i => CurveInterval(if (i % 2 == 0) one else two, i.toLong, i + 9L, i % 2))
    val old = reread(IndexContents(before, Map.empty, placed))
    assert(one.columns.head.lasting && two.columns.head.lasting)
    val asked = before.drop(1).map(_._1) :+ FileId("other", 1, 1)
    val hints = old.hints(asked)
    assert(hints.keySet == before.slice(1, 11).map(_._1).toSet)
    hints.foreach { case (id, i) =>
      val p = placed(id)
      assert((i.frame.id, i.low, i.high, i.layer) == ((p.frame.id, p.low, p.high, p.layer)))
      assert(i.frame.columns == placed(id).frame.columns.map(_.copy(lasting = false)))
    }
    val again = reread(IndexContents(before.drop(1), Map.empty, hints))
    assert(again.intervals.get.frames.forall(_.columns.forall(!_.lasting)))
  }

  test("damaged bytes of intervals are refused or read, and nothing else happens") {
    val f = frame()
    val bytes = Indexes.having(5)(CurveIntervals.write(_, IndexedSeq.fill(5)(Some(interval(f))), _ => 1L))
    assert(Indexes.open(bytes).intervals.exists(_.of(4).isDefined))
    val mutation = new Mutation(random)
    var refused = 0
    Mutation.silently(for (_ <- 1 to 600; name <- CurveIntervals.Columns) {
      if (Indexes.open(Indexes.withColumn(bytes, name, mutation.ofBytes)).intervals.isEmpty) refused += 1
    })
    assert(refused > 1000)
  }

  /** A frame of about so many bytes, whose boundaries have little in common. */
  private def large(bytes: Int): CurveFrame = {
    def value(i: Int) = java.nio.ByteBuffer.allocate(98).putInt(i << 8).put(random.nextBytes(94)).array
    val values = ValueDistribution.ofBytes(Array.tabulate(bytes / 100)(value), 0)
    val columns = IndexedSeq(FrameColumn(ColumnKey(Seq("s"), StringType), lasting = true))
    new CurveFrame(UUID.randomUUID().toString, columns, IndexedSeq(values), BitPlan(Seq(1d), 10, 10))
  }

  /** The intervals of four files of a frame. */
  private def four(frame: CurveFrame) =
    IndexedSeq.tabulate(4)(i => Some(CurveInterval(frame, i.toLong, frame.last, CurveInterval.Cell)))

  test("if there is no room for all frames, those with the most data stay, and a warning names the rest") {
    val main = large(12 << 20)
    val small = IndexedSeq.fill(30)(large(1 << 20))
    val intervals = IndexedSeq.fill(100)(four(main)).flatten ++ small.flatMap(four)
    val warnings = Seq.newBuilder[String]
    val read = written(intervals, i => if (i < 400) 1000L else i.toLong, warnings += _).intervals.get
    assert((0 until 400).forall(i => read.of(i).exists(_.frame.id == main.id)))
    // Of the other frames, those with the longest files stay.
    val kept = (400 until 520).filter(read.of(_).isDefined)
    assert(kept == (520 - kept.size until 520) && kept.size >= 12)
    val left = s"The index has no room for ${30 - kept.size / 4} of 31 sets of boundaries"
    assert(warnings.result().map(_.takeWhile(_ != ':')) == Seq(left))
    assert(read.memoryBytes > (12 << 20))
  }

  test("frames that are too large are not even encoded, however many there are", InRest) {
    val huge = large(20 << 20)
    def another = new CurveFrame(UUID.randomUUID().toString, huge.columns, huge.distributions, huge.curve)
    val others = IndexedSeq.fill(130)(another)
    val small = frame()
    val intervals = others.flatMap(four) ++ four(small)
    val bytes = Indexes.having(524)(CurveIntervals.write(_, intervals, i => if (i < 520) 10L else 1L, _ => ()))
    assert(bytes.length < 20000)
    val read = Indexes.open(bytes).intervals.get
    assert((0 until 524).filter(read.of(_).isDefined) == (520 until 524))
    assert(written(others.flatMap(four), warn = _ => ()).intervals.isEmpty)
  }

  test("frames with more bytes than an index may have are refused before the first is made") {
    // Counts of 1 and differences of 1 take two bytes for each value, so a block that is short in
    // the file fills memory.
    val values = CurveIntervals.MaxFrameBytes / 4
    val body = new java.io.ByteArrayOutputStream
    val out = new java.io.DataOutputStream(body)
    out.writeUTF("f")
    out.writeByte(1)
    out.writeBoolean(true)
    out.writeByte(1)
    out.writeUTF("a")
    out.writeUTF(TypeTexts.of(LongType))
    val ofOne = ValueDistribution.ofLongs(Array.tabulate(values)(_.toLong + 1), 0)
    FrameBytes.write(out, IndexedSeq(ofOne), BitPlan(Seq(1d), 10, 10))
    val one = body.toByteArray
    def raw(frames: Int) = Indexes.having(frames) { to =>
      val boundaries = Types.optional(BINARY).named("curve_boundaries")
      to.shared("curve_frame", boundaries, Array.range(0, frames), IndexedSeq.fill(frames)(one))
      CurveIntervals.Columns.drop(2).foreach(to.numbers(_, PlainPage.where(frames)(_ => true), _ => 0L))
    }
    assert(Indexes.open(raw(1)).intervals.get.frames.head.distributions.head.distinct == values)
    assert(Indexes.open(raw(3)).intervals.isEmpty)
  }

  test("if the block of intervals is too large or damaged, only the intervals are missing") {
    val before = files("a", 5)
    val frame = large(1 << 20)
    val placed = place(before)(i => CurveInterval(frame, 0, i.toLong, 0))
    val bytes = Indexes.written(IndexContents(before, Map.empty, placed))
    assert(Indexes.open(bytes).intervals.isDefined)
    val offset = Indexes.placesOf(bytes).get("curve_boundaries").get(0).asInt
    val damaged = bytes.updated(offset + 20, (bytes(offset + 20) ^ 1).toByte)
    // No index is written with more bytes of frames, whatever the size of the cache.
    val lying = Indexes.withColumn(bytes, "curve_boundaries", _ => new Array[Byte](CurveIntervals.MaxFrameBytes + 1000))
    for (read <- Seq(Indexes.open(bytes, limit = 100000), Indexes.open(damaged), Indexes.open(lying)))
      assert(read.intervals.isEmpty && Indexes.all(read) == Indexes.all(before))
  }

  test("intervals that could not be read once are read the next time") {
    val before = files("a", 6)
    val f = frame()
    val placed = before.map(_._1 -> interval(f)).toMap
    val bytes = Indexes.written(IndexContents(before, Map.empty, placed))
    var down = false
    val source = new Indexes.BytesSource(bytes) {
      override def read(offset: Long, length: Int): Array[Byte] =
        if (down) throw new java.io.IOException("try again") else super.read(offset, length)
    }
    val snapshot = IndexFile.open(source, 64L << 20)
    down = true
    assert(snapshot.intervals.isEmpty)
    down = false
    val without = snapshot.memoryBytes
    assert(all(snapshot) == placed.map { case (id, i) => id -> shown(i) })
    assert(snapshot.memoryBytes > without)
    down = true
    assert(snapshot.intervals.isDefined)
    // A damaged block stays damaged, so it is not read again and again.
    down = false
    val garbled = IndexFile.open(source, 64L << 20)
    source.bytes = bytes.map(b => (b ^ 1).toByte)
    assert(garbled.intervals.isEmpty)
    val tried = source.reads
    source.bytes = bytes
    assert(garbled.intervals.isEmpty && source.reads == tried)
  }
}
