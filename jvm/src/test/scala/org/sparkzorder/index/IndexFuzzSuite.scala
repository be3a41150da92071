package org.sparkzorder.index

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.Mutation
import org.sparkzorder.predicate._
import org.sparkzorder.stats._

/**
 * Index files that are damaged by chance or on purpose. Each is refused with our exception, or it
 * is read and can be used without an error. A file with a wrong checksum never says anything else
 * than the original.
 */
class IndexFuzzSuite extends AnyFunSuite {
  private val limit = 1L << 20
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** An index as it was written, with its contents. */
  private final class Original(seed: Long) {
    private val values = new RandomValues(seed)
    private val statistics = Indexes.random(values, 1 + values.random.nextInt(12))
    val bytes: Array[Byte] = Indexes.written(IndexContents(statistics, Map("columns" -> """[["a"]]""")))
    val said: Map[FileId, Any] = Indexes.all(statistics)
    val parts: Indexes.Parts = Indexes.parts(bytes)
    val columns: IndexedSeq[String] = Indexes.placesOf(bytes).fieldNames.asScala.toIndexedSeq
  }

  private val originals = (1L to 40L).map(new Original(_))

  /** Does everything that queries and statements do with an index. */
  private def use(snapshot: IndexSnapshot, random: Random): Unit = {
    snapshot.columns.foreach { key =>
      val column = Column(key.path, key.dataType)
      val value: Value = OrderedValue.encoding(key.dataType) match {
        case Some(Encoding.Bytes) => new BytesValue(Array(random.nextInt().toByte))
        case _                    => LongValue(random.nextLong())
      }
      def compared = Comparison(column, Operator.all(random.nextInt(Operator.all.length)), value)
      val p =
        if (OrderedValue.encoding(key.dataType).isEmpty) IsNull(column)
        else Or(And(Not(IsNull(column)), compared), Not(In.of(column, Seq(value), hasNull = random.nextBoolean())))
      Evaluation.keep(p, snapshot)
    }
    (0 until snapshot.files).foreach { i =>
      val id = snapshot.fileId(i)
      snapshot.ordinalOf(id.path, id.length, id.modificationTime)
      snapshot.fileStats(i).columns.foreach { case (key, c) =>
        if (c.hasBounds) Seq(c.min, c.max).foreach(OrderedValue.display(key.dataType, _))
      }
    }
    if (random.nextInt(20) == 0) Indexes.open(Indexes.written(IndexContents.merge(snapshot, _ => true, Nil)))
  }

  test("mutated index files are refused or can be used") {
    val random = new Random(20261121)
    val mutation = new Mutation(random)
    val total = Mutation.files(0.6)
    // Warms up, so that what is allocated only once does not count for a file.
    originals.foreach(o => use(Indexes.open(o.bytes, limit), random))
    val started = System.nanoTime()
    var refused, read = 0
    val instances = LoadedClass.instances
    var most = 0L
    Mutation.silently((0 until total).foreach { n =>
      val o = originals(random.nextInt(originals.length))
      val (kind, bytes) = random.nextInt(4) match {
        case 0 => "bytes" -> mutation.ofBytes(o.bytes)
        case 1 => "footer" -> o.parts.copy(json = mutation.ofJson(o.parts.json)).bytes
        case 2 => "footer's bytes" -> o.parts.copy(json = mutation.ofBytes(o.parts.json)).bytes
        case _ => "column" -> Indexes.withColumn(o.bytes, mutation.pick(o.columns), mutation.ofBytes)
      }
      withClue(s"file $n, $kind: ") {
        val before = threads.getCurrentThreadAllocatedBytes
        try {
          val snapshot = Indexes.open(bytes, limit)
          // A damaged column is missing, but no file is.
          if (kind == "bytes") assert(Indexes.all(snapshot).keySet == o.said.keySet)
          use(snapshot, random)
          read += 1
        } catch { case _: IndexFormatException => refused += 1 }
        val allocated = threads.getCurrentThreadAllocatedBytes - before
        most = math.max(most, allocated)
        assert(allocated < 64 * (bytes.length + limit), "memory taken without bound")
      }
    })
    val seconds = (System.nanoTime() - started) / 1e9
    info(
      f"$total index files: $refused refused, $read read; $most bytes allocated at most; ${total / seconds}%.0f a second"
    )
    assert(refused > total / 4 && read > total / 20)
    assert(LoadedClass.instances == instances, "a class was loaded that a file names")
  }

  test("a column that claims to have far more bytes than it may have in memory is not read") {
    val o = originals.head
    val json = new String(o.parts.json, UTF_8)
      .replaceFirst("\"rows\":\\[(\\d+),\\d+", "\"rows\":[$1," + (50 << 20)).getBytes(UTF_8)
    val source = new BlockSource {
      private val end = o.parts.copy(columns = Array.emptyByteArray, json = json).bytes
      def name: String = "sparse"
      def length: Long = (100L << 20) + end.length
      def read(offset: Long, length: Int): Array[Byte] = {
        assert(length < (1 << 20), s"$length bytes are read")
        val bytes = new Array[Byte](length)
        val skipped = offset - (100L << 20)
        val from = math.max(0L, -skipped).toInt
        System.arraycopy(end, math.max(0L, skipped).toInt, bytes, from, length - from)
        bytes
      }
    }
    assert(intercept[IndexFormatException](IndexFile.open(source, limit)).getMessage.contains("outside of the file"))
  }

  test("a small column that is large in memory is refused before it is decompressed") {
    val bytes = Indexes.withColumn(originals.head.bytes, "path", _ => new Array[Byte](10 << 20))
    assert(intercept[IndexFormatException](Indexes.open(bytes, limit)).getMessage.contains("more than the 1048576"))
  }

  test("paths that are chosen for their hash do not stop a query") {
    val same = Seq.tabulate(5000)(n => FileId("p", n.toLong, 1L) -> FileStats(1, Map.empty))
    val e = intercept[IndexFormatException](Indexes.open(Indexes.written(IndexContents(same))))
    assert(e.getMessage.contains("one hash"))
  }
}
