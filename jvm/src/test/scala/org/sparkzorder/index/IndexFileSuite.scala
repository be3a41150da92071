package org.sparkzorder.index

import java.io.ByteArrayOutputStream
import java.lang.management.ManagementFactory
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.BitSet

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import org.sparkzorder.{InRest, Mutation, PropertySuite}
import org.sparkzorder.membership.{MembershipHash, MembershipKind}
import org.sparkzorder.predicate._
import org.sparkzorder.stats._

/**
 * Index files as they were written, and files that are damaged by chance or on purpose. Each of
 * these is refused with our exception, or it is read and can be used without an error. A file with
 * a wrong checksum never says anything else than the original.
 */
class IndexFileSuite extends PropertySuite(300) {
  private val a = ColumnKey(Seq("a"), LongType)
  private val s = ColumnKey(Seq("s", "x.y"), StringType)
  private val bounded = Map(a -> ColumnStats(1L, 5L, 1, 0), s -> ColumnStats("x".getBytes, "z".getBytes, 0, 0))
  private val small = Seq(
    FileId("a.parquet", 10, 1000) -> FileStats(3, bounded),
    FileId("b.parquet", 20, 2000) -> FileStats(0, Map(a -> ColumnStats(null, null, 0, 0)))
  )

  private val limit = 1L << 20
  private val jvm = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  private def opened(contents: IndexContents): IndexSnapshot = Indexes.open(Indexes.written(contents))

  /** A file's statistics after it was written and read. */
  private def reread(stats: FileStats): FileStats = opened(IndexContents(Seq(FileId("f", 1, 1) -> stats))).fileStats(0)

  test("an index that was written and read has the same files, statistics and properties") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val files = Indexes.random(values, values.random.nextInt(20))
      val properties = Map("columns" -> "[[\"a\"]]", "ü" -> "")
      val snapshot = opened(IndexContents(files, properties))
      assert(Indexes.all(snapshot) == Indexes.all(files))
      assert(snapshot.properties == properties)
      files.foreach { case (id, _) =>
        val i = snapshot.ordinalOf(id.path, id.length, id.modificationTime)
        assert(i >= 0 && snapshot.fileId(i) == id)
        for ((path, length, time) <- Seq(("", 1, 0), ("", 0, 1), ("x", 0, 0)))
          assert(snapshot.ordinalOf(id.path + path, id.length + length, id.modificationTime + time) == -1)
        assert(snapshot.ordinalOf(id.path.dropRight(1), id.length, id.modificationTime) == -1 || id.path.length > 2)
      }
    }
  }

  test("merging keeps, drops, replaces and adds") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val before = Indexes.random(values, values.random.nextInt(12))
      val old = opened(IndexContents(before, Map("k" -> "v")))
      val fresh = Indexes.random(values, values.random.nextInt(6), "g")
      val again = before.take(2).map { case (id, stats) => id -> stats.copy(columns = stats.columns.take(1)) }
      val keep = (id: FileId) => id.path.hashCode % 3 != 0
      val merged = opened(IndexContents.merge(old, keep, fresh ++ again))
      assert(Indexes.all(merged) == Indexes.all(before.filter(f => keep(f._1)) ++ fresh ++ again))
      assert(merged.files == Indexes.all(merged).size)
      assert(merged.properties == Map("k" -> "v"))
    }
  }

  test("a column is only found by its exact path and type") {
    val snapshot = opened(IndexContents(small))
    val column = snapshot.column(Seq("a"), LongType).get.asInstanceOf[LongStatsColumn]
    assert(column.min(0) == 1 && column.max(0) == 5 && column.bounded.get(0) && !column.bounded.get(1))
    assert(column.nullCounts.toSeq == Seq(1, 0) && column.nanCounts == null)
    val strings = snapshot.column(Seq("s", "x.y"), StringType).get
    assert(strings.nullCounts.toSeq == Seq(0, -1))
    assert(snapshot.column(Seq("A"), LongType).isEmpty && snapshot.column(Seq("a"), IntegerType).isEmpty)
    assert(Seq(Seq("s.x.y"), Seq("s", "x", "y")).forall(snapshot.column(_, StringType).isEmpty))
  }

  test("a column whose type names a class is ignored, and the class is not loaded") {
    val udt = s"""{"type":"udt","class":"${classOf[LoadedClass].getName}","pyClass":null,"sqlType":"long"}"""
    val inside = s"""{"type":"array","elementType":$udt,"containsNull":true}"""
    val field = s"""{"type":"struct","fields":[{"name":"","type":$udt,"nullable":true,"metadata":{}}]}"""
    val before = LoadedClass.instances
    for (json <- Seq(udt, inside, field)) assert(TypeTexts.dataType(json).isEmpty, json)
    def quoted(text: String) = "\"type\":" + new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(text)
    val bytes = Indexes.written(IndexContents(small))
    // If this Spark does not know a type, only the columns of this type are missing.
    val unknown = TypeTexts.of(StringType).replace("string", "quaternion")
    for ((known, other, left) <- Seq((LongType, field, s), (StringType, unknown, a))) {
      val read = Indexes.open(Indexes.withFooter(bytes, _.replace(quoted(TypeTexts.of(known)), quoted(other))))
      assert(read.columns == Seq(left) && read.column(left.path, left.dataType).isDefined)
    }
    assert(LoadedClass.instances == before)
  }

  test("statistics that make no sense are taken as unknown") {
    val stats = FileStats(2, Map(a -> ColumnStats(5L, 1L, 3, -7), s -> ColumnStats("x".getBytes, null, 0, 0)))
    val known = Map(a -> ColumnStats(null, null, -1, 0), s -> ColumnStats(null, null, 0, 0))
    assert(reread(stats) == FileStats(2, known))
    val wrong = FileStats(2, Map(a -> ColumnStats("x".getBytes, "y".getBytes, 0, 0)))
    intercept[IllegalArgumentException](Indexes.written(IndexContents(Seq(FileId("f", 1, 1) -> wrong))))
  }

  test("bounds that are too long are cut") {
    val long = Array.fill(500)(97.toByte)
    val c = reread(FileStats(1, Map(s -> ColumnStats(long, long, 0, 0)))).columns(s)
    assert(c.min.asInstanceOf[Array[Byte]].sameElements(long.take(128)))
    assert(c.max.asInstanceOf[Array[Byte]].sameElements(long.take(127) :+ 98.toByte))
  }

  test("collated columns are not mistaken for binary ones") {
    val lower = ColumnKey(Seq("c"), StringType("UTF8_LCASE"))
    val list = ColumnKey(Seq("l"), ArrayType(StringType("UNICODE_CI")))
    val stats = Map(lower -> ColumnStats(null, null, 0, 0), list -> ColumnStats(null, null, 1, 0))
    val read = opened(IndexContents(Seq(FileId("f", 1, 1) -> FileStats(1, stats))))
    assert(read.column(Seq("c"), StringType).isEmpty && read.column(Seq("l"), ArrayType(StringType)).isEmpty)
    assert(read.fileStats(0).columns == stats)
  }

  private def check(bytes: Array[Byte]): Unit =
    try {
      val read = Indexes.open(bytes)
      val got = Indexes.all(read)
      val expected = Indexes.all(small)
      // A column that cannot be read is missing. Everything else must be there, and right.
      assert(got.keySet == expected.keySet)
      (0 until read.files).foreach { i =>
        val (stats, (_, original)) = (read.fileStats(i), small.find(_._1 == read.fileId(i)).get)
        assert(stats.rows == original.rows)
        val known = original.copy(columns = original.columns.filter(c => stats.columns.contains(c._1)))
        assert(Indexes.comparable(stats) == Indexes.comparable(known))
      }
    } catch { case _: IndexFormatException => }

  test("a file that is truncated anywhere, or has any byte changed, is refused or read right") {
    val bytes = Indexes.written(IndexContents(small, Map("k" -> "v")))
    bytes.indices.foreach { n =>
      intercept[IndexFormatException](Indexes.open(bytes.take(n)))
      check(bytes.drop(n))
      Seq(0x01, 0x80, 0xff).foreach { mask =>
        val garbled = bytes.clone()
        garbled(n) = (garbled(n) ^ mask).toByte
        check(garbled)
      }
    }
    check(bytes ++ bytes)
    check(bytes :+ 0.toByte)
  }

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
    var refused, read = 0
    val instances = LoadedClass.instances
    Mutation.silently((0 until total).foreach { n =>
      val o = originals(random.nextInt(originals.length))
      val (kind, bytes) = random.nextInt(4) match {
        case 0 => "bytes" -> mutation.ofBytes(o.bytes)
        case 1 => "footer" -> o.parts.copy(json = mutation.ofJson(o.parts.json)).bytes
        case 2 => "footer's bytes" -> o.parts.copy(json = mutation.ofBytes(o.parts.json)).bytes
        case _ => "column" -> Indexes.withColumn(o.bytes, mutation.pick(o.columns), mutation.ofBytes)
      }
      withClue(s"file $n, $kind: ") {
        val before = jvm.getCurrentThreadAllocatedBytes
        try {
          val snapshot = Indexes.open(bytes, limit)
          // A damaged column is missing, but no file is.
          if (kind == "bytes") assert(Indexes.all(snapshot).keySet == o.said.keySet)
          use(snapshot, random)
          read += 1
        } catch { case _: IndexFormatException => refused += 1 }
        val allocated = jvm.getCurrentThreadAllocatedBytes - before
        assert(allocated < 64 * (bytes.length + limit), "memory taken without bound")
      }
    })
    assert(refused > total / 4 && read > total / 20)
    assert(LoadedClass.instances == instances, "a class was loaded that a file names")
  }

  test("a column that claims to have far more bytes than it may have in memory is not read") {
    val o = originals.head
    val json = new String(o.parts.json, UTF_8)
      .replaceFirst("\"rows\":\\[(\\d+),\\d+", "\"rows\":[$1," + (20 << 20)).getBytes(UTF_8)
    val bytes = o.parts.copy(columns = new Array[Byte](32 << 20), json = json).bytes
    val source = new Indexes.BytesSource(bytes) {
      override def read(offset: Long, length: Int): Array[Byte] = {
        assert(length < (1 << 20), s"$length bytes are read")
        super.read(offset, length)
      }
    }
    assert(intercept[IndexFormatException](IndexFile.open(source, limit)).getMessage.contains("outside of the file"))
  }

  test("sizes above the limit are refused before memory is allocated") {
    val bytes = Indexes.written(IndexContents(small))
    def refused(from: String, to: String): String =
      intercept[IndexFormatException](Indexes.open(Indexes.withFooter(bytes, _.replaceFirst(from, to)))).getMessage
    assert(refused("\"files\":2", "\"files\":30").contains("not one of 30 files"))
    assert(refused("\"files\":2", "\"files\":268435456").contains("more than the 67108864"))
    assert(refused("\"files\":2", "\"files\":2147483648").contains("2147483648 files"))
    for (place <- Seq("9223372036854775807,9", "-1,9", "4,9223372036854775807", "4,-1"))
      assert(refused("\"path\":\\[\\d+,\\d+", s"\"path\":[$place").contains("outside of the file or not together"))
    assert(refused("\"version\":1", "\"version\":2").contains("newer spark-zorder"))
    assert(refused("\"version\":1", "\"version\":0").contains("version 0"))
    val many = Seq.tabulate(100000)(i => FileId("f" + i, 1, 1) -> FileStats(1, Map.empty))
    val big = Indexes.written(IndexContents(many))
    assert(intercept[IndexFormatException](Indexes.open(big, 1000000)).getMessage.contains("more than the 1000000"))
    // A small column that is large in memory is refused before it is decompressed.
    val packed = Indexes.withColumn(bytes, "path", _ => new Array[Byte](10 << 20))
    assert(intercept[IndexFormatException](Indexes.open(packed, limit)).getMessage.contains("more than the 1048576"))
  }

  test("paths that are chosen for their hash do not stop a query") {
    val same = Seq.tabulate(5000)(n => FileId("p", n.toLong, 1L) -> FileStats(1, Map.empty))
    val e = intercept[IndexFormatException](Indexes.open(Indexes.written(IndexContents(same))))
    assert(e.getMessage.contains("one hash"))
  }

  test("if another index replaces the file of a snapshot, the two are not mixed") {
    val source = new Indexes.BytesSource(Indexes.written(IndexContents(small)))
    val snapshot = IndexFile.open(source, 1 << 20)
    source.bytes = Indexes.written(IndexContents(small))
    assert(snapshot.column(Seq("a"), LongType).isEmpty)
  }

  test("many threads get the same column object") {
    val snapshot = opened(IndexContents(small))
    val seen = java.util.concurrent.ConcurrentHashMap.newKeySet[StatsColumn]()
    val threads = (1 to 8).map(_ => new Thread(() => snapshot.column(Seq("a"), LongType).foreach(c => seen.add(c))))
    threads.foreach(_.start())
    threads.foreach(_.join())
    assert(seen.size == 1)
  }

  test("a column of numbers takes less than 25 bytes a file in memory", InRest) {
    val files = Seq.tabulate(100000) { i =>
      val id = FileId(f"p=${i % 100}/part-$i%05d-c000.snappy.parquet", 100000000L + i % 7, 1700000000000L + i)
      id -> FileStats(1000000, Map(a -> ColumnStats(i * 7919L % 100003, i * 7919L % 100003 + 10000, 0, 0)))
    }
    val snapshot = Indexes.open(Indexes.written(IndexContents(files)), 1L << 30)
    files.zipWithIndex.foreach { case ((id, _), i) =>
      assert(snapshot.ordinalOf(id.path, id.length, id.modificationTime) == i)
    }
    val before = snapshot.memoryBytes
    assert(snapshot.column(a.path, a.dataType).isDefined)
    assert((snapshot.memoryBytes - before).toDouble / files.size < 25)
  }

  private def id(n: Int) = FileId(s"f$n", n.toLong, 1L)
  private def numbered(of: Range): Seq[(FileId, FileStats)] = of.map(n => id(n) -> FileStats(1L, Map.empty))
  private def origins(s: IndexSnapshot): Map[FileId, String] = s.origins((0 until s.files).map(s.fileId))

  test("origins stay with their files through merges, copies and an index that is made anew") {
    val written = Map(id(1) -> "{a}", id(2) -> "{b}", id(3) -> "{a}")
    val first = opened(IndexContents(numbered(1 to 5), origins = written))
    assert(origins(first) == written && (0 until 5).map(first.originOf).count(_.isEmpty) == 2)
    val copy = FileId("copy", 9L, 9L)
    val added = numbered(3 to 4) ++ numbered(6 to 7)
    val ofAdded = Map(id(6) -> "{c}", id(4) -> "{b}")
    val change = IndexContents.merge(first, _ != id(2), added, copied = Map(id(2) -> copy), origins = ofAdded)
    val merged = opened(change)
    // The third file was added anew, and nothing is known of it.
    assert(origins(merged) == Map(id(1) -> "{a}", copy -> "{b}", id(4) -> "{b}", id(6) -> "{c}"))
    assert(origins(opened(IndexContents(numbered(1 to 9), origins = merged.origins(numbered(1 to 4).map(_._1))))) ==
      Map(id(1) -> "{a}", id(4) -> "{b}"))
    // An index without origins has no block of them.
    val bytes = Indexes.written(IndexContents(numbered(1 to 3)))
    assert(origins(Indexes.open(bytes)).isEmpty && !Indexes.placesOf(bytes).has(FileOrigins.Columns.head))
  }

  test("origins for which there is no room are left out") {
    val long = "x" * (FileOrigins.MaxTextBytes / 2)
    val origins = IndexedSeq(Some(s"${long}1"), Some("short"), Some(s"${long}2"), Some("short"))
    val read = Indexes.open(Indexes.having(4)(FileOrigins.write(_, origins)))
    assert((0 until 4).map(read.originOf(_).map(_.length)) == Seq(Some(long.length + 1), Some(5), None, Some(5)))
  }

  test("damaged bytes of origins are refused or read, and nothing else happens") {
    val origins = IndexedSeq(Some("{a}"), None, Some("{b}"), Some("{a}"))
    val bytes = Indexes.having(4)(FileOrigins.write(_, origins))
    val mutation = new Mutation(new Random(20261126))
    var refused = 0
    Mutation.silently(for (n <- 1 to 2500; name <- FileOrigins.Columns) withClue(s"bytes $n: ") {
      val read = Indexes.open(Indexes.withColumn(bytes, name, mutation.ofBytes))
      if ((0 until 4).forall(read.originOf(_).isEmpty)) refused += 1
    })
    assert(refused > 1000)
    // A block with a wrong checksum takes nothing else with it.
    val place = Indexes.placesOf(bytes).get(FileOrigins.Columns.head).get(0).asInt
    val garbled = Indexes.open(bytes.updated(place + 1, (bytes(place + 1) ^ 1).toByte))
    assert(garbled.files == 4 && (0 until 4).forall(garbled.originOf(_).isEmpty))
  }

  private val schemaOfValues = StructType.fromDDL("k bigint, n int")
  private val k = ColumnKey(Seq("k"), LongType)
  private val n = ColumnKey(Seq("n"), IntegerType)
  private val anyFile = { val bits = new BitSet; bits.set(0, 1000); bits }

  private def withValues(name: String, values: Seq[Long]): (FileId, FileStats) = {
    val collector = new StatsCollector(schemaOfValues, IndexedColumns(Seq(k, n), Map(k -> MembershipKind.Values)))
    values.foreach(v => collector.add(InternalRow(v, v.toInt)))
    FileId(name, 1L, 1L) -> collector.result()
  }

  private def has(index: IndexSnapshot, name: String, value: Long): Option[Boolean] = {
    val ordinal = index.ordinalOf(name, 1L, 1L)
    val members = index.members(k.path, k.dataType).flatMap(_.reader(anyFile)(ordinal))
    members.map(_.mayHave(value, MembershipHash.of(value)))
  }

  private val valued = Seq.tabulate(40)(i => withValues(s"f$i", Seq(i.toLong, 100L + i, 1000L * i)))

  test("values come back for each file, and a column without values has none") {
    val index = opened(IndexContents(valued))
    assert(index.memberColumns == Seq(k) && index.members(n.path, n.dataType).isEmpty)
    valued.indices.foreach { i =>
      assert(Seq(i.toLong, 100L + i, 1000L * i).forall(v => has(index, s"f$i", v).contains(true)))
      assert(has(index, s"f$i", 7777L).contains(false))
    }
  }

  test("blocks that are wanted soon are read with others, and each is read once") {
    val source = new Indexes.BytesSource(Indexes.written(IndexContents(valued)))
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
    Indexes.written(contents)
    assert(source.reads < 10)
  }

  test("a merge copies the values of files that stay, and takes those of added ones") {
    val old = opened(IndexContents(valued))
    val added = withValues("new", Seq(5L))
    val merged = opened(IndexContents.merge(old, _.path != "f3", Seq(added)))
    assert(has(merged, "f2", 102L).contains(true) && has(merged, "f2", 103L).contains(false))
    assert(has(merged, "new", 5L).contains(true) && has(merged, "new", 6L).contains(false))
    val without = opened(IndexContents.merge(old, _ => true, Seq(added), keepMembers = _ => false))
    assert(without.memberColumns.isEmpty && without.column(k.path, k.dataType).isDefined)
    val excluded = opened(IndexContents.merge(old, _ => true, Nil, keepColumn = _ != k))
    assert(excluded.memberColumns.isEmpty && excluded.column(k.path, k.dataType).isEmpty)
  }

  test("a file without bounds of the column has no values either") {
    val some = valued.zipWithIndex.map {
      case ((id, s), 4) => id -> s.copy(columns = s.columns.updated(k, ColumnStats(null, null, 0L, 0L)))
      case ((id, s), 5) => id -> s.copy(columns = s.columns - k)
      case (other, _)   => other
    }
    val index = opened(IndexContents(some))
    assert(has(index, "f4", 4L).isEmpty && has(index, "f5", 5L).isEmpty && has(index, "f6", 6L).contains(true))
    val none = opened(IndexContents(valued.map { case (id, s) => id -> s.copy(columns = s.columns - k) }))
    assert(none.memberColumns.isEmpty)
  }

  test("values stop where the index would get too large") {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, IndexContents(valued), mostBytes = 1000)
    val index = Indexes.open(out.toByteArray)
    val known = valued.indices.count(i => has(index, s"f$i", i.toLong).isDefined)
    assert(known > 0 && known < 40)
    assert(index.column(k.path, k.dataType).isDefined)
  }

  test("damage is taken for missing values, and never for other ones", InRest) {
    val bytes = Indexes.written(IndexContents(valued))
    val random = new Random(1)
    var missing = 0
    (1 to 3000).foreach { _ =>
      val damaged = bytes.clone()
      val at = 8 + random.nextInt(damaged.length - 40)
      (at until at + 1 + random.nextInt(8)).foreach(i => damaged(i) = random.nextInt().toByte)
      try {
        val index = Indexes.open(damaged)
        valued.indices.foreach { i =>
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
    val bytes = Indexes.written(IndexContents(valued))
    Seq("k_values_from", "k_values_until").foreach { name =>
      Seq(Long.MaxValue - 5, Long.MinValue, -2L, bytes.length + 1L).foreach { place =>
        def patched(raw: Array[Byte]) =
          ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN).putLong(raw.length - 8, place).array
        val read = Indexes.open(Indexes.withColumn(bytes, name, patched))
        assert(has(read, "f39", 39L).isEmpty && read.column(k.path, k.dataType).isDefined)
      }
    }
  }
}

/** A class of which a hostile index wants Spark to create an instance. */
class LoadedClass extends UserDefinedType[AnyRef] {
  LoadedClass.instances += 1
  override def sqlType: DataType = LongType
  override def serialize(obj: AnyRef): Any = obj
  override def deserialize(datum: Any): AnyRef = datum.asInstanceOf[AnyRef]
  override def userClass: Class[AnyRef] = classOf[AnyRef]
}

object LoadedClass {
  @volatile var instances = 0
}
