package org.sparkzorder.write.encode

import java.io.ByteArrayOutputStream

import scala.util.Random

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.{ColumnDescriptor, ParquetProperties}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.factory.{
  DefaultV1ValuesWriterFactory,
  DefaultV2ValuesWriterFactory,
  ValuesWriterFactory
}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.{Type, Types}
import org.scalatest.funsuite.AnyFunSuite

/** Writers that keep values for a while, beside those that do not: all bytes are the same. */
class BatchedValuesSuite extends AnyFunSuite {

  private def factory(version: WriterVersion, dictionary: Int): ValuesWriterFactory = {
    val properties = ParquetProperties.builder().withWriterVersion(version).withDictionaryEncoding(dictionary > 0)
      .withDictionaryPageSize(math.max(dictionary, 16)).build()
    val made =
      if (version == WriterVersion.PARQUET_1_0) new DefaultV1ValuesWriterFactory else new DefaultV2ValuesWriterFactory
    made.initialize(properties)
    made
  }

  private def column(of: PrimitiveTypeName): ColumnDescriptor = {
    val primitive = Types.primitive(of, Type.Repetition.OPTIONAL)
    val typed = if (of == FIXED_LEN_BYTE_ARRAY) primitive.length(7) else primitive
    new ColumnDescriptor(Array("a"), typed.named("a"), 0, 1)
  }

  /** The array that holds bytes is used again for the next value, as Spark does for decimals. */
  private val reused = new Array[Byte](200000)

  private def write(random: Random, of: PrimitiveTypeName, distinct: Int, writers: Seq[ValuesWriter]): Unit = {
    val v = random.nextInt(distinct)
    of match {
      case BOOLEAN => writers.foreach(_.writeBoolean(v % 2 == 0))
      case INT32   => writers.foreach(_.writeInteger(v * 7919))
      case INT64   => writers.foreach(_.writeLong(v * 7919L << 20))
      case FLOAT   => writers.foreach(_.writeFloat(if (v == 3) Float.NaN else if (v == 4) -0f else v / 3f))
      case DOUBLE  => writers.foreach(_.writeDouble(if (v == 3) Double.NaN else if (v == 4) -0d else v / 3d))
      case _       =>
        val long = of == BINARY && random.nextInt(500) == 0
        val length = if (of == INT96) 12 else if (of == FIXED_LEN_BYTE_ARRAY) 7 else if (long) 5000 + v else v % 40
        writers.foreach { w =>
          val offset = random.nextInt(5)
          (0 until length).foreach(i => reused(offset + i) = (v * 31 + i / 3 * v).toByte)
          w.writeBytes(Binary.fromReusedByteArray(reused, offset, length))
          java.util.Arrays.fill(reused, 0, offset + length, 99.toByte)
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

  private def end(w: ValuesWriter): Seq[Any] = {
    val dictionary = Option(w.toDictPageAndClose())
      .map(d => (bytesOf(d.getBytes), d.getDictionarySize, d.getEncoding))
    w.resetDictionary()
    Seq(dictionary, w.memUsageString(""))
  }

  test("pages and dictionaries are those of the other writer, byte by byte") {
    val random = new Random(42)
    for {
      version <- WriterVersion.values.toSeq
      of <- PrimitiveTypeName.values.toSeq
      dictionary <- Seq(0, 500, 1 << 20)
      distinct <- Seq(1, 10, 3000)
    } {
      val plain = factory(version, dictionary).newValuesWriter(column(of))
      val batched = new BatchedFactory(factory(version, dictionary)).newValuesWriter(column(of))
      val hasDictionary = dictionary > 0 && of != BOOLEAN &&
        !(of == FIXED_LEN_BYTE_ARRAY && version == WriterVersion.PARQUET_1_0)
      assert(batched.isInstanceOf[BatchedValues] == hasDictionary)
      (1 to 2).foreach { _ =>
        (1 to 1 + random.nextInt(3)).foreach { _ =>
          (1 to random.nextInt(4000)).foreach { _ =>
            write(random, of, distinct, Seq(plain, batched))
            if (random.nextInt(700) == 0) assert(plain.getBufferedSize == batched.getBufferedSize)
          }
          assert(page(plain) == page(batched), (version, of, dictionary, distinct))
        }
        assert(end(plain) == end(batched), (version, of, dictionary, distinct))
      }
      plain.close()
      batched.close()
    }
  }
}
