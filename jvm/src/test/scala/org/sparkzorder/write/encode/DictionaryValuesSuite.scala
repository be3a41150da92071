package org.sparkzorder.write.encode

import java.io.ByteArrayOutputStream
import java.util.Arrays

import scala.util.Random

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.{ColumnDescriptor, ParquetProperties}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.factory._
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.{Type, Types}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.write.ByteWords

/** Our dictionaries beside those of parquet-java: all bytes are the same; and the words by which they compare bytes. */
class DictionaryValuesSuite extends AnyFunSuite {

  private def propertiesOf(version: WriterVersion, dictionary: Int): ParquetProperties =
    ParquetProperties.builder().withWriterVersion(version).withDictionaryEncoding(dictionary > 0)
      .withDictionaryPageSize(math.max(dictionary, 16)).build()

  private def factory(properties: ParquetProperties): ValuesWriterFactory = {
    val isFirst = properties.getWriterVersion == WriterVersion.PARQUET_1_0
    val made = if (isFirst) new DefaultV1ValuesWriterFactory else new DefaultV2ValuesWriterFactory
    made.initialize(properties)
    made
  }

  private def ourWriter(
      of: PrimitiveTypeName,
      properties: ParquetProperties = propertiesOf(WriterVersion.PARQUET_1_0, 1 << 20),
      floats: FloatDictionaries = FloatDictionaries(no, withZero = every)
  ): ValuesWriter = new OwnDictionaries(factory(properties), properties, floats).newValuesWriter(column(of))

  private def column(of: PrimitiveTypeName): ColumnDescriptor = {
    val primitive = Types.primitive(of, Type.Repetition.OPTIONAL)
    val typed = if (of == FIXED_LEN_BYTE_ARRAY) primitive.length(7) else primitive
    new ColumnDescriptor(Array("a"), typed.named("a"), 0, 1)
  }

  private val (every, no) = (Set(Seq("a")), Set.empty[Seq[String]])

  /** The array that holds bytes is used again for the next value, as Spark does for decimals. */
  private val reused = new Array[Byte](200000)

  private def write(random: Random, of: PrimitiveTypeName, distinct: Int, writers: Seq[ValuesWriter]): Unit = {
    val v = random.nextInt(distinct)
    of match {
      case BOOLEAN => writers.foreach(_.writeBoolean(v % 2 == 0))
      case INT32   => writers.foreach(_.writeInteger(v * 7919))
      case INT64   => writers.foreach(_.writeLong(v * 7919L << 20))
      case FLOAT   => writers.foreach(_.writeFloat(if (v == 3) Float.NaN else v / 3f))
      case DOUBLE  => writers.foreach(_.writeDouble(if (v == 3) Double.NaN else v / 3d))
      case _       =>
        val long = of == BINARY && random.nextInt(500) == 0
        val length = if (of == INT96) 12 else if (of == FIXED_LEN_BYTE_ARRAY) 7 else if (long) 5000 + v else v % 40
        writers.foreach { w =>
          val offset = random.nextInt(5)
          (0 until length).foreach(i => reused(offset + i) = (v * 31 + i / 3 * v).toByte)
          w.writeBytes(Binary.fromReusedByteArray(reused, offset, length))
          Arrays.fill(reused, 0, offset + length, 99.toByte)
        }
    }
  }

  private def bytesOf(b: BytesInput): Vector[Byte] = {
    val out = new ByteArrayOutputStream
    b.writeAllTo(out)
    out.toByteArray.toVector
  }

  private def page(w: ValuesWriter): Seq[Any] = {
    // Other than by these calls in this order nobody ends a page.
    val size = w.getBufferedSize
    val bytes = bytesOf(w.getBytes)
    val encoding = w.getEncoding
    w.reset()
    Seq(size, bytes, encoding)
  }

  private def dictionary(w: ValuesWriter): Option[Any] =
    Option(w.toDictPageAndClose()).map(d => (bytesOf(d.getBytes), d.getDictionarySize, d.getEncoding))

  test("pages and dictionaries are those of the other writer, byte by byte") {
    val random = new Random(42)
    for {
      version <- WriterVersion.values.toSeq
      of <- PrimitiveTypeName.values.toSeq
      most <- Seq(0, 500, 1 << 20)
      distinct <- Seq(1, 10, 3000)
      _ <- 1 to 3
    } {
      val properties = propertiesOf(version, most)
      val (theirs, ours) = (factory(properties).newValuesWriter(column(of)), ourWriter(of, properties))
      val hasDictionary = most > 0 && of != BOOLEAN &&
        !(of == FIXED_LEN_BYTE_ARRAY && version == WriterVersion.PARQUET_1_0)
      assert(ours.isInstanceOf[DictionaryValues] == hasDictionary)
      (1 to 1 + random.nextInt(3)).foreach { _ =>
        val values = if (random.nextInt(6) == 0) 0 else random.nextInt(4000)
        (0 until values).foreach { _ =>
          write(random, of, distinct, Seq(theirs, ours))
          if (random.nextInt(700) == 0) assert(theirs.getBufferedSize == ours.getBufferedSize)
        }
        assert(page(theirs) == page(ours), (version, of, most, distinct))
      }
      assert(dictionary(theirs) == dictionary(ours), (version, of, most, distinct))
      Seq(theirs, ours).foreach(_.close())
    }
  }

  test("a dictionary of floating-point numbers is given up at the first -0.0, until the row group ends") {
    for (version <- WriterVersion.values; of <- Seq(FLOAT, DOUBLE)) {
      // By default parquet-java makes no dictionary.
      val properties = ParquetProperties.builder().withWriterVersion(version).withDictionaryEncoding(false).build()
      // The encodings of values that come page by page, and the size of their dictionary.
      def found(floats: FloatDictionaries, pages: Seq[Double]*): (Seq[String], Int) = {
        val ours = ourWriter(of, properties, floats)
        val encodings = pages.map { values =>
          values.foreach(v => if (of == FLOAT) ours.writeFloat(v.toFloat) else ours.writeDouble(v))
          page(ours).last.toString.stripPrefix("RLE_").stripPrefix("PLAIN_")
        }
        (encodings, Option(ours.toDictPageAndClose()).fold(0)(_.getDictionarySize))
      }
      val (ordinary, both) = (Seq.fill(100)(Seq(1.5, 0d)).flatten, FloatDictionaries(every, every))
      assert(found(both, ordinary, ordinary) == ((Seq("DICTIONARY", "DICTIONARY"), 2)))
      assert(found(both, ordinary :+ -0d, ordinary) == ((Seq("PLAIN", "PLAIN"), 0)))
      assert(found(both, ordinary, -0d +: ordinary, ordinary) == ((Seq("DICTIONARY", "PLAIN", "PLAIN"), 2)))
      assert(found(FloatDictionaries(no, every), ordinary) == ((Seq("PLAIN"), 0)))
      // A dictionary that the old files lack is given up at a zero of any sign.
      assert(found(FloatDictionaries(every, no), Seq.fill(100)(1.5)) == ((Seq("DICTIONARY"), 1)))
      assert(found(FloatDictionaries(every, no), Seq.fill(100)(1.5) :+ 0d) == ((Seq("PLAIN"), 0)))
    }
  }

  test("after -0.0 the next row group has a dictionary again") {
    val ours = ourWriter(DOUBLE)
    val encodings = Seq(-0d, 2d).map { v =>
      (1 to 100).foreach(_ => ours.writeDouble(v))
      val encoding = page(ours).last
      dictionary(ours)
      ours.resetDictionary()
      encoding
    }
    assert(encodings.map(_.toString) == Seq("PLAIN", "PLAIN_DICTIONARY"))
  }

  test("NaNs with other bits are other values") {
    val ours = ourWriter(DOUBLE)
    val other = java.lang.Double.longBitsToDouble(0x7ff8000000000001L)
    (1 to 100).foreach(_ => Seq(Double.NaN, other).foreach(ours.writeDouble))
    page(ours)
    assert(ours.toDictPageAndClose().getDictionarySize == 2)
  }

  /** The bytes at some place within a longer array, with others around them. */
  private def placed(random: Random, bytes: Array[Byte]): (Array[Byte], Int) = {
    val from = random.nextInt(20)
    val array = new Array[Byte](from + bytes.length + random.nextInt(20))
    random.nextBytes(array)
    System.arraycopy(bytes, 0, array, from, bytes.length)
    (array, from)
  }

  test("bytes are equal exactly if each byte is, and then so are their hashes") {
    val random = new Random(7)
    for (n <- 1 to 200000) {
      val one = new Array[Byte](random.nextInt(40))
      random.nextBytes(one)
      val other = one.clone
      if (n % 2 == 0 && one.nonEmpty) {
        val at = random.nextInt(one.length)
        other(at) = (other(at) ^ (1 << random.nextInt(8))).toByte
      }
      val ((a, fromA), (b, fromB)) = (placed(random, one), placed(random, other))
      val same = Arrays.equals(one, other)
      assert(ByteWords.equal(a, fromA, b, fromB, one.length) == same, (one.toSeq, other.toSeq))
      val areHashesEqual = ByteWords.hash(a, fromA, one.length) == ByteWords.hash(b, fromB, other.length)
      assert(areHashesEqual == same, (one.toSeq, other.toSeq))
    }
  }

  test("hashes of similar values are spread") {
    def slots(values: Seq[String]): Int = values.map { v =>
      val bytes = v.getBytes("UTF-8")
      ByteWords.hash(bytes, 0, bytes.length) & (4 * values.length - 1)
    }.distinct.length
    val numbers = 0 until 16384
    val kinds =
      Seq[Int => String](_.toString, n => f"Customer#$n%09d", n => "a" * (n % 128) + n / 128, n => f"$n%08d" * 3)
    // Of n values in 4 n slots, 4 n (1 - exp(-1/4)) have the slot to themselves or are the first in it: 88 %.
    kinds.foreach(kind => assert(slots(numbers.map(kind)) > 0.86 * numbers.length, kind(5)))
  }
}
