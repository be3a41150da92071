package org.sparkzorder.index

import java.lang.management.ManagementFactory
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.util.Random

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import com.github.luben.zstd.Zstd
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.Mutation
import org.sparkzorder.codec.Checksum
import org.sparkzorder.predicate._
import org.sparkzorder.stats._

/**
 * Index files that are damaged by chance or on purpose. Each is refused with our exception, or it
 * is read and can be used without an error. A file with a wrong checksum never says anything else
 * than the original.
 */
class IndexFuzzSuite extends AnyFunSuite {
  private val limit = 1L << 20
  private val mapper = new ObjectMapper()
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** An index as it was written, with its contents. */
  private final class Original(seed: Long) {
    private val values = new RandomValues(seed)
    private val statistics = Indexes.random(values, 1 + values.random.nextInt(12))
    val bytes: Array[Byte] = Indexes.written(IndexContents(statistics, Map("columns" -> """[["a"]]""")))
    val said: Map[FileId, Any] = Indexes.all(statistics)
    val footerLength: Int = ByteBuffer.wrap(bytes).getInt(bytes.length - 16)
    val footerFrom: Int = bytes.length - 16 - footerLength

    def footer: JsonNode = mapper.readTree(Arrays.copyOfRange(bytes, footerFrom, footerFrom + footerLength))
  }

  private val originals = (1L to 40L).map(new Original(_))

  private def sealing(blocks: Array[Byte], footer: Array[Byte]): Array[Byte] = blocks ++ footer ++
    ByteBuffer.allocate(8).putInt(footer.length).putInt(Checksum.crc32(footer).toInt).array ++ "ZORDIDX\n".getBytes(
      UTF_8
    )

  /** The contents of one block are changed, and all checksums are made right again. */
  private def withBlock(o: Original, random: Random, change: Array[Byte] => Array[Byte]): Array[Byte] = {
    val footer = o.footer
    val places =
      footer.get("fileBlock") +: (0 until footer.get("columns").size).map(footer.get("columns").get(_).get("block"))
    val place = places(random.nextInt(places.length)).asInstanceOf[ObjectNode]
    val (at, length) = (place.get("offset").asInt, place.get("length").asInt)
    val packed = Arrays.copyOfRange(o.bytes, at + Block.IdSize, at + length)
    val raw = change(Zstd.decompress(packed, place.get("rawLength").asInt))
    val block = Block.pack(Arrays.copyOfRange(o.bytes, at, at + Block.IdSize), raw)
    place.put(
      "offset",
      o.footerFrom
    ).put("length", block.length).put("rawLength", raw.length).put("crc", Checksum.crc32(block))
    sealing(o.bytes.take(o.footerFrom) ++ block, mapper.writeValueAsBytes(footer))
  }

  /** Does everything that queries and statements do with an index. */
  private def use(snapshot: IndexSnapshot, random: Random): Unit = {
    snapshot.columns.foreach { key =>
      val column = Column(key.path, key.dataType)
      val value: Value = OrderedValue.encoding(key.dataType) match {
        case Some(Encoding.Bytes) => new BytesValue(Array(random.nextInt().toByte))
        case _                    => LongValue(random.nextLong())
      }
      val p =
        if (OrderedValue.encoding(key.dataType).isEmpty) IsNull(column)
        else
          Or(
            And(Not(IsNull(column)), Comparison(column, Operator.all(random.nextInt(Operator.all.length)), value)),
            Not(In.of(column, Seq(value), hasNull = random.nextBoolean()))
          )
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
        case 1 => "footer" -> sealing(
            o.bytes.take(o.footerFrom),
            mutation.ofJson(Arrays.copyOfRange(o.bytes, o.footerFrom, o.footerFrom + o.footerLength))
          )
        case 2 => "footer's bytes" -> sealing(
            o.bytes.take(o.footerFrom),
            mutation.ofBytes(Arrays.copyOfRange(o.bytes, o.footerFrom, o.footerFrom + o.footerLength))
          )
        case _ => "block" -> withBlock(o, random, mutation.ofBytes)
      }
      withClue(s"file $n, $kind: ") {
        val before = threads.getCurrentThreadAllocatedBytes
        try {
          val snapshot = Indexes.open(bytes, limit)
          if (kind == "bytes") {
            // A damaged column is missing, but no file is.
            val said = Indexes.all(snapshot)
            assert(said.keySet == o.said.keySet)
          }
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

  test("a block that claims to be far larger in the file than in memory is not read") {
    val o = originals.head
    val footer = o.footer.deepCopy[ObjectNode]()
    footer.get("fileBlock").asInstanceOf[ObjectNode].put("offset", 8).put("length", 50 << 20)
    val source = new BlockSource {
      private val json = mapper.writeValueAsBytes(footer)
      private val end = sealing(Array.emptyByteArray, json)
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
    val e = intercept[IndexFormatException](IndexFile.open(source, 64L << 20))
    assert(e.getMessage.contains("cannot hold only"))
  }

  test("paths that are chosen for their hash do not stop a query") {
    val same = Seq.tabulate(5000)(n => FileId("p", n.toLong, 1L) -> FileStats(1, Map.empty))
    val e = intercept[IndexFormatException](Indexes.open(Indexes.written(IndexContents(same))))
    assert(e.getMessage.contains("one hash"))
  }
}
