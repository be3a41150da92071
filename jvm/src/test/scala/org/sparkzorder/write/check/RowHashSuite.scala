package org.sparkzorder.write.check

import java.lang.Double.longBitsToDouble
import java.lang.Float.intBitsToFloat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.CurrentFile
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.RandomValues
import org.sparkzorder.stats.RandomValues.batchOf
import org.sparkzorder.write.task.LeadingFields

class RowHashSuite extends AnyFunSuite {
  private val made = new RandomValues(16)
  private val random = made.random

  private val types: Seq[DataType] = RandomValues.fixedTypes.filterNot(t => t == null || t.isInstanceOf[TimeType]) ++
    Seq(DecimalType(9, 2), DecimalType(38, 10), CalendarIntervalType, ArrayType(IntegerType), ArrayType(StringType)) ++
    Seq(MapType(StringType, LongType), StructType.fromDDL("a INT, b STRING, c STRUCT<d: DECIMAL(30, 3)>"))

  private def value(t: DataType): Any = if (random.nextInt(4) == 0) null else made.value(t)

  private def schemaOf(types: Seq[DataType]) =
    StructType(types.zipWithIndex.map { case (t, i) => StructField(s"c$i", t) })

  private def unsafe(types: Seq[DataType], values: Seq[Any]): UnsafeRow =
    UnsafeProjection.create(types.toArray).apply(InternalRow.fromSeq(values)).copy()

  private def rowHash(schema: StructType): RowHash = new RowHash(schema, oneZero = false)

  test("a row has the same hash whatever fields follow, as a view, as a copy, and as values", InRest) {
    for (n <- Seq(1, 2, 17, 61, 62, 63, 64, 65, 130); _ <- 0 until 4) {
      val own = Seq.fill(n)(types(random.nextInt(types.length)))
      val values = own.map(value)
      val schema = schemaOf(own)
      val hash = rowHash(schema)
      val expected = hash.of(unsafe(own, values))
      val more = Seq(BinaryType, LongType, LongType, IntegerType)
      val longer = unsafe(own ++ more, values ++ more.map(value))
      assert(hash.of(longer) == expected)
      assert(hash.of(new LeadingFields(schema).of(longer)) == expected)
      assert(hash.of(InternalRow.fromSeq(values)) == expected)
    }
  }

  test("every value of every type changes the hash, and so does its position") {
    types.foreach { t =>
      // Each NaN counts as the same one.
      val values = Iterator.continually(value(t)).filterNot(v => s"$v" == "NaN").take(100).toSeq
      val rows = values.map(v => unsafe(Seq(t), Seq(v)))
      val hashes = rows.map(rowHash(schemaOf(Seq(t))).of)
      assert(hashes.distinct.length == rows.distinct.length, t)
      val two = rowHash(schemaOf(Seq(t, t)))
      for ((a, b) <- values.zip(values.tail) if unsafe(Seq(t), Seq(a)) != unsafe(Seq(t), Seq(b)))
        assert(two.of(unsafe(Seq(t, t), Seq(a, b))) != two.of(unsafe(Seq(t, t), Seq(b, a))), t)
    }
  }

  test("values with the same bytes in memory have different hashes") {
    // Padded to words, these have the same bytes.
    val binary = Seq(BinaryType)
    val padded = Seq(Array[Byte](1, 0), Array[Byte](1)).map(b => rowHash(schemaOf(binary)).of(unsafe(binary, Seq(b))))
    assert(padded.distinct.size == 2)
    val two = Seq(StringType, StringType)
    def strings(a: String, b: String) = rowHash(schemaOf(two)).of(unsafe(two, Seq(a, b).map(UTF8String.fromString)))
    assert(Set(strings("ab", "c"), strings("a", "bc"), strings("abc", ""), strings("", "abc")).size == 4)
  }

  test("the sum of a batch is that of its rows") {
    (1 to 200).foreach { n =>
      val schema = StructType(made.columns().filterNot(_.dataType.isInstanceOf[TimeType])).add("last", StringType)
      val hash = rowHash(schema)
      assert(hash.takesBatches, schema.catalogString)
      val rows = Seq.fill(random.nextInt(300))(made.row(schema))
      val batch = batchOf(rows, schema, onHeap = n % 2 == 0)
      assert(hash.sum(batch) == RowSum.of(rows.map(r => RowSum(1, hash.of(r)))), schema.catalogString)
      batch.close()
    }
    for (t <- Seq(CalendarIntervalType, ArrayType(CalendarIntervalType)))
      assert(!rowHash(schemaOf(Seq(t))).takesBatches)
  }

  test("each NaN counts as the same one, and -0.0 as 0.0 if it is told so, also in structs, arrays and maps") {
    val nested = StructType.fromDDL("a ARRAY<DOUBLE>, m MAP<INT, FLOAT>")
    val types = Seq[DataType](DoubleType, FloatType, nested)
    def values(d: Double, f: Float) = {
      val inner = InternalRow(ArrayData.toArrayData(Array(d)), ArrayBasedMapData(Array[Any](1), Array[Any](f)))
      unsafe(types, Seq(d, f, inner))
    }
    def bits(d: Long, f: Int) = values(longBitsToDouble(d), intBitsToFloat(f))
    val (exact, oneZero) = (rowHash(schemaOf(types)), new RowHash(schemaOf(types), oneZero = true))
    val nans = Seq(bits(0x7ff8000000000000L, 0x7fc00000), bits(0xfff8000000000001L, 0xffc00001))
    val zeros = Seq(values(0.0, 0.0f), values(-0.0, -0.0f))
    assert(nans.distinct.size == 2 && zeros.distinct.size == 2)
    assert(nans.map(exact.of).distinct.size == 1 && zeros.map(exact.of).distinct.size == 2)
    assert(nans.map(oneZero.of).distinct.size == 1 && zeros.map(oneZero.of).distinct.size == 1)
  }

  test("the sum does not depend on order or parts, and changes when values are lost, doubled or swapped") {
    val two = Seq(LongType, StringType)
    val hash = rowHash(schemaOf(two))
    def sum(rows: Seq[(Long, String)]) = RowSum.of(rows.map { case (n, s) =>
      RowSum(1, hash.of(unsafe(two, Seq(n, UTF8String.fromString(s)))))
    })
    for (_ <- 0 until 50) {
      val rows = Seq.fill(2 + random.nextInt(50))((random.nextInt(20).toLong, s"s${random.nextInt(20)}"))
      val whole = sum(rows)
      assert(sum(random.shuffle(rows)) == whole)
      val (a, b) = rows.splitAt(random.nextInt(rows.length))
      assert(sum(b) + sum(a) == whole)
      val i = random.nextInt(rows.length)
      assert(sum(rows.patch(i, Nil, 1)) != whole)
      val j = rows.indexWhere(_ != rows(i))
      if (j >= 0) {
        assert(sum(rows.updated(i, rows(j))).hash != whole.hash)
        val swapped = rows.updated(i, (rows(j)._1, rows(i)._2)).updated(j, (rows(i)._1, rows(j)._2))
        assert((sum(swapped) == whole) == (swapped.sorted == rows.sorted))
        // An exclusive or would not notice the loss of rows that a table has an even number of times.
        assert(sum(rows :+ rows(i) :+ rows(i)).hash != sum(rows :+ rows(j) :+ rows(j)).hash)
      }
    }
  }

  private val numberAndFile = Seq[DataType](LongType, IntegerType)
  private val ofNumber = rowHash(schemaOf(Seq(LongType)))
  private def row(number: Int, file: Int) = unsafe(numberAndFile, Seq[Any](number.toLong, file))
  private def sum(rows: Seq[UnsafeRow]) = RowSum(rows.length.toLong, rows.map(ofNumber.of).sum)

  test("an iterator looks at a file when it has its first row, and reports its sums once, after the last row") {
    val rows = Seq(0, 0, 2, 0, 2).zipWithIndex.map { case (file, i) => row(i, file) }
    var told = Seq.empty[Map[Int, RowSum]]
    var begun = Seq.empty[Int]
    val iterator = new HashingIterator(rows.iterator, ofNumber, 1, begun :+= _, told :+= _)
    rows.foreach { row =>
      assert(iterator.hasNext && told.isEmpty)
      assert(iterator.next() eq row)
    }
    assert(told.isEmpty)
    assert(!iterator.hasNext && !iterator.hasNext)
    assert(told == Seq(Map(0 -> sum(Seq(0, 1, 3).map(rows)), 2 -> sum(Seq(2, 4).map(rows)))))
    assert(begun == Seq(0, 2, 0, 2))
  }

  test("batches of files have the sums of their rows, and empty ones have no file") {
    val rows = Seq(Seq(row(7, 3), row(8, 3)), Nil, Seq(row(9, 3)), Seq(row(10, 1)))
    val batches = rows.map(batchOf(_, schemaOf(numberAndFile), onHeap = true))
    var told = Seq.empty[Map[Int, RowSum]]
    var begun = Seq.empty[Int]
    val handedOn = new HashingBatches(batches.iterator, ofNumber, 1, begun :+= _, told :+= _).toSeq
    assert(handedOn.zip(batches).forall { case (a, b) => a eq b } && handedOn.size == 4)
    assert(told == Seq(Map(3 -> sum(rows.flatten.take(3)), 1 -> sum(rows.last))))
    assert(begun == Seq(3, 1))
  }

  test("an iterator looks at a file again for each part of it that a task opens") {
    // Rows of file 0 in two parts, then one of file 1.
    val parts = Seq(("a", 0L, 0), ("a", 0L, 0), ("a", 100L, 0), ("b", 0L, 1))
    val rows = parts.zipWithIndex.iterator.map { case ((path, start, file), i) =>
      val isNew = i == 0 || parts(i - 1) != parts(i)
      if (isNew) CurrentFile.set(path, start, 100L)
      row(i, file)
    }
    var begun = Seq.empty[Int]
    var told = Seq.empty[Map[Int, RowSum]]
    try new HashingIterator(rows, ofNumber, 1, begun :+= _, told :+= _).foreach(_ => ())
    finally CurrentFile.unset()
    assert(begun == Seq(0, 0, 1))
    assert(told.map(_.map { case (file, sum) => file -> sum.rows }) == Seq(Map(0 -> 3L, 1 -> 1L)))
  }

  test("the result of a task that runs again replaces that of its first run") {
    val read = new ReadRows
    def task(partition: Int, ofFiles: (Int, RowSum)*): Unit = {
      val own = read.copy()
      own.reset()
      assert(own.isZero)
      own.add(partition -> ofFiles.toMap)
      read.merge(own)
    }
    task(0, 0 -> RowSum(2, 5), 1 -> RowSum(1, 7))
    task(1, 1 -> RowSum(3, -9))
    task(0, 0 -> RowSum(2, 5), 1 -> RowSum(1, 7))
    assert(read.ofFiles == Map(0 -> RowSum(2, 5), 1 -> RowSum(4, -2)))
  }
}
