package org.sparkzorder.index

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.stats._

class IndexFileSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private val a = ColumnKey(Seq("a"), LongType)
  private val s = ColumnKey(Seq("s", "x.y"), StringType)

  private val small = Seq(
    FileId("a.parquet", 10, 1000) -> FileStats(
      3,
      Map(a -> ColumnStats(1L, 5L, 1, 0), s -> ColumnStats("x".getBytes, "z".getBytes, 0, 0))
    ),
    FileId("b.parquet", 20, 2000) -> FileStats(0, Map(a -> ColumnStats(null, null, 0, 0)))
  )

  test("an index that was written and read has the same files, statistics and properties") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val files = Indexes.random(values, values.random.nextInt(20))
      val properties = Map("columns" -> "[[\"a\"]]", "ü" -> "")
      val snapshot = Indexes.open(Indexes.written(IndexContents(files, properties)))
      assert(Indexes.all(snapshot) == Indexes.all(files))
      assert(snapshot.properties == properties)
      files.foreach { case (id, _) =>
        val i = snapshot.ordinalOf(id.path, id.length, id.modificationTime)
        assert(i >= 0 && snapshot.fileId(i) == id)
        assert(snapshot.ordinalOf(id.path, id.length + 1, id.modificationTime) == -1)
        assert(snapshot.ordinalOf(id.path, id.length, id.modificationTime + 1) == -1)
        assert(snapshot.ordinalOf(id.path + "x", id.length, id.modificationTime) == -1)
        assert(snapshot.ordinalOf(id.path.dropRight(1), id.length, id.modificationTime) == -1 || id.path.length > 2)
      }
    }
  }

  test("merging keeps, drops, replaces and adds") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val before = Indexes.random(values, values.random.nextInt(12))
      val old = Indexes.open(Indexes.written(IndexContents(before, Map("k" -> "v"))))
      val fresh = Indexes.random(values, values.random.nextInt(6), "g")
      val again = before.take(2).map { case (id, stats) => id -> stats.copy(columns = stats.columns.take(1)) }
      val keep = (id: FileId) => id.path.hashCode % 3 != 0
      val merged = Indexes.open(Indexes.written(IndexContents.merge(old, keep, fresh ++ again)))
      assert(Indexes.all(merged) == Indexes.all(before.filter(f => keep(f._1)) ++ fresh ++ again))
      assert(merged.files == Indexes.all(merged).size)
      assert(merged.properties == Map("k" -> "v"))
    }
  }

  test("a column is only found by its exact path and type") {
    val snapshot = Indexes.open(Indexes.written(IndexContents(small)))
    val column = snapshot.column(Seq("a"), LongType).get.asInstanceOf[LongStatsColumn]
    assert(column.min(0) == 1 && column.max(0) == 5 && column.bounded.get(0) && !column.bounded.get(1))
    assert(column.nullCounts.toSeq == Seq(1, 0) && column.nanCounts == null)
    val strings = snapshot.column(Seq("s", "x.y"), StringType).get
    assert(strings.nullCounts.toSeq == Seq(0, -1))
    Seq(
      Seq("A") -> LongType,
      Seq("a") -> IntegerType,
      Seq("s.x.y") -> StringType,
      Seq("s", "x", "y") -> StringType
    ).foreach {
      case (path, dt) => assert(snapshot.column(path, dt).isEmpty)
    }
  }

  test("a column whose type names a class is ignored, and the class is not loaded") {
    val udt = s"""{"type":"udt","class":"${classOf[LoadedClass].getName}","pyClass":null,"sqlType":"long"}"""
    val inside = s"""{"type":"array","elementType":$udt,"containsNull":true}"""
    val field = s"""{"type":"struct","fields":[{"name":"","type":$udt,"nullable":true,"metadata":{}}]}"""
    val before = LoadedClass.instances
    for (json <- Seq(udt, inside, field)) assert(TypeTexts.dataType(json).isEmpty, json)
    def quoted(text: String) = "\"type\":" + new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(text)
    val hostile = Indexes.withFooter(
      Indexes.written(IndexContents(small)),
      _.replace(quoted(TypeTexts.of(LongType)), quoted(field))
    )
    assert(Indexes.open(hostile).columns == Seq(s))
    assert(LoadedClass.instances == before)
  }

  test("statistics that make no sense are taken as unknown") {
    val stats = FileStats(2, Map(a -> ColumnStats(5L, 1L, 3, -7), s -> ColumnStats("x".getBytes, null, 0, 0)))
    val read = Indexes.open(Indexes.written(IndexContents(Seq(FileId("f", 1, 1) -> stats)))).fileStats(0)
    assert(read == FileStats(2, Map(a -> ColumnStats(null, null, -1, 0), s -> ColumnStats(null, null, 0, 0))))
    val wrong = FileStats(2, Map(a -> ColumnStats("x".getBytes, "y".getBytes, 0, 0)))
    intercept[IllegalArgumentException](Indexes.written(IndexContents(Seq(FileId("f", 1, 1) -> wrong))))
  }

  test("bounds that are too long are cut") {
    val long = Array.fill(500)(97.toByte)
    val read = Indexes.open(Indexes.written(IndexContents(Seq(FileId("f", 1, 1) -> FileStats(
      1,
      Map(s -> ColumnStats(long, long, 0, 0))
    )))))
    val c = read.fileStats(0).columns(s)
    assert(c.min.asInstanceOf[Array[Byte]].sameElements(long.take(128)))
    assert(c.max.asInstanceOf[Array[Byte]].sameElements(long.take(127) :+ 98.toByte))
  }

  test("collated columns are not mistaken for binary ones") {
    val lower = ColumnKey(Seq("c"), StringType("UTF8_LCASE"))
    val list = ColumnKey(Seq("l"), ArrayType(StringType("UNICODE_CI")))
    val stats = Map(lower -> ColumnStats(null, null, 0, 0), list -> ColumnStats(null, null, 1, 0))
    val read = Indexes.open(Indexes.written(IndexContents(Seq(FileId("f", 1, 1) -> FileStats(1, stats)))))
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
    val bytes = Indexes.written(IndexContents(small, Map("k" -> "v")))
    forAll { (seed: Long) =>
      val random = new scala.util.Random(seed)
      val hostile = Indexes.withFooter(
        bytes,
        { json =>
          val numbers = "\\d+".r.findAllMatchIn(json).toIndexedSeq
          val m = numbers(random.nextInt(numbers.length))
          val values = Seq(
            "0", "-1", "1", "2147483647", "4294967296", "9223372036854775807", "99999999999999999999", "1.5", "null",
            "[]", "\"a\""
          )
          json.substring(0, m.start) + values(random.nextInt(values.length)) + json.substring(m.end)
        }
      )
      try Indexes.all(Indexes.open(hostile))
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
    Seq("9223372036854775807,9", "-1,9", "4,9223372036854775807", "4,-1").foreach(place =>
      assert(refused("\"path\":\\[\\d+,\\d+", s"\"path\":[$place").contains("outside of the file or not together"))
    )
    assert(refused("\"version\":1", "\"version\":2").contains("newer spark-zorder"))
    assert(refused("\"version\":1", "\"version\":0").contains("version 0"))
    val big =
      Indexes.written(IndexContents(Seq.tabulate(100000)(i => FileId("f" + i, 1, 1) -> FileStats(1, Map.empty))))
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
    val snapshot = Indexes.open(Indexes.written(IndexContents(small)))
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
