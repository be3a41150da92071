package org.sparkzorder.index

import org.apache.spark.sql.types._

import org.sparkzorder.{InRest, Mutation, PropertySuite}
import org.sparkzorder.stats._

class IndexFileSuite extends PropertySuite(300) {
  private val a = ColumnKey(Seq("a"), LongType)
  private val s = ColumnKey(Seq("s", "x.y"), StringType)
  private val bounded = Map(a -> ColumnStats(1L, 5L, 1, 0), s -> ColumnStats("x".getBytes, "z".getBytes, 0, 0))
  private val small = Seq(
    FileId("a.parquet", 10, 1000) -> FileStats(3, bounded),
    FileId("b.parquet", 20, 2000) -> FileStats(0, Map(a -> ColumnStats(null, null, 0, 0)))
  )

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
    val hostile = Indexes.withFooter(bytes, _.replace(quoted(TypeTexts.of(LongType)), quoted(field)))
    assert(Indexes.open(hostile).columns == Seq(s))
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

  test("random footers with a right checksum throw no other exception than ours") {
    val values = "0 -1 1 2147483647 4294967296 9223372036854775807 99999999999999999999 1.5 null [] \"a\"".split(' ')
    val bytes = Indexes.written(IndexContents(small, Map("k" -> "v")))
    forAll { (seed: Long) =>
      val random = new scala.util.Random(seed)
      def change(json: String): String = {
        val numbers = "\\d+".r.findAllMatchIn(json).toIndexedSeq
        val m = numbers(random.nextInt(numbers.length))
        json.substring(0, m.start) + values(random.nextInt(values.length)) + json.substring(m.end)
      }
      try Indexes.all(Indexes.open(Indexes.withFooter(bytes, change)))
      catch { case _: IndexFormatException => }
    }
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
  }

  test("if this Spark does not know a type, only the columns of this type are missing") {
    val bytes = Indexes.written(IndexContents(small))
    val read = Indexes.open(Indexes.withFooter(bytes, _.replace("\\\"string\\\"", "\\\"quaternion\\\"")))
    assert(read.columns == Seq(a) && read.column(Seq("a"), LongType).isDefined)
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
  }

  test("an index without origins has no block of them") {
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
    val mutation = new Mutation(new scala.util.Random(20261126))
    var refused = 0
    Mutation.silently(for (n <- 1 to 2500; name <- FileOrigins.Columns) withClue(s"bytes $n: ") {
      val read = Indexes.open(Indexes.withColumn(bytes, name, mutation.ofBytes))
      if ((0 until 4).forall(read.originOf(_).isEmpty)) refused += 1
    })
    assert(refused > 1000)
  }

  test("an index whose origins cannot be read still has its statistics") {
    val bytes = Indexes.written(IndexContents(numbered(1 to 4), origins = Map(id(1) -> "{a}")))
    val offset = Indexes.placesOf(bytes).get(FileOrigins.Columns.head).get(0).asInt
    bytes(offset + 1) = (bytes(offset + 1) ^ 1).toByte
    val read = Indexes.open(bytes)
    assert(origins(read).isEmpty && read.files == 4)
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
