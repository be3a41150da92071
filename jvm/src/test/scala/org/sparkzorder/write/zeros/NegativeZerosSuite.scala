package org.sparkzorder.write.zeros

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.schema.MessageTypeParser
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.write.preserve.KeptParquet

class NegativeZerosSuite extends AnyFunSuite {

  test("-0.0, and 0.0 of either sign, are noted for exactly the leaves that have it, at any depth") {
    val random = new Random(7)
    (1 to 300).foreach { _ =>
      val schema = struct(random, 3)
      val leaves = FloatLeaf.of(schema).length
      val (found, unsafe) = (new NegativeZeros(schema), new NegativeZeros(schema))
      val projection = UnsafeProjection.create(
        schema.zipWithIndex.map { case (f, i) => BoundReference(i, f.dataType, nullable = true) }
      )
      val expected, any = new Array[Boolean](leaves)
      (1 to 3).foreach { _ =>
        val row = new Values(random, expected, any).row(schema)
        found.add(row)
        unsafe.add(projection(row))
      }
      assert(found.found == ZerosFound(expected.toIndexedSeq, any.toIndexedSeq), schema.catalogString)
      assert(unsafe.found == found.found, schema.catalogString)
    }
  }

  private def struct(random: Random, depth: Int): StructType =
    StructType((0 to random.nextInt(4)).map(i => StructField(s"f$i", dataType(random, depth))))

  private def dataType(random: Random, depth: Int): DataType = random.nextInt(if (depth == 0) 3 else 6) match {
    case 0 => FloatType
    case 1 => DoubleType
    case 2 => Seq(IntegerType, StringType, LongType)(random.nextInt(3))
    case 3 => struct(random, depth - 1)
    case 4 => ArrayType(dataType(random, depth - 1))
    case _ => MapType(dataType(random, depth - 1), dataType(random, depth - 1))
  }

  /** Makes random values, and sets what a row with them should set. Counts leaves like a reader of the schema. */
  private final class Values(random: Random, expected: Array[Boolean], any: Array[Boolean]) {

    def row(schema: StructType, from: Int = 0): InternalRow = {
      var leaf = from
      InternalRow.fromSeq(schema.map { f =>
        val at = leaf
        leaf += FloatLeaf.of(f.dataType).length
        nullable(value(f.dataType, at))
      })
    }

    private def nullable(v: => Any): Any = if (random.nextInt(5) == 0) null else v

    private def value(dataType: DataType, leaf: Int): Any = dataType match {
      case FloatType        => number(leaf).toFloat
      case DoubleType       => number(leaf)
      case IntegerType      => 0
      case LongType         => Long.MinValue
      case StringType       => org.apache.spark.unsafe.types.UTF8String.fromString("-0.0")
      case s: StructType    => row(s, leaf)
      case ArrayType(t, _)  => array(t, leaf, nulls = true)
      case MapType(k, v, _) =>
        val keys = array(k, leaf, nulls = false)
        val values = Seq.fill(keys.numElements())(nullable(value(v, leaf + FloatLeaf.of(k).length)))
        new ArrayBasedMapData(keys, new GenericArrayData(values.toArray[Any]))
      case other => fail(other.catalogString)
    }

    private def array(t: DataType, leaf: Int, nulls: Boolean): ArrayData = new GenericArrayData(
      Array.fill[Any](random.nextInt(3))(if (nulls) nullable(value(t, leaf)) else value(t, leaf))
    )

    private def number(leaf: Int): Double = {
      val v = Seq(-0.0, 0.0, 1.5, Double.NaN, Double.NegativeInfinity)(math.min(random.nextInt(25), 4))
      if (v == 0) any(leaf) = true
      if (v == 0 && 1 / v < 0) expected(leaf) = true
      v
    }
  }

  private val schema = StructType.fromDDL(
    "d DOUBLE, i INT, s STRUCT<x: FLOAT, y: STRING>, a ARRAY<DOUBLE>, b ARRAY<STRUCT<z: FLOAT>>, r ARRAY<FLOAT>, " +
      "m MAP<STRING, DOUBLE>, `p.q` DOUBLE"
  )
  private val file = MessageTypeParser.parseMessageType(
    """message m {
      |  optional double D;
      |  optional int32 i;
      |  optional group s { optional float x; optional binary y (STRING); }
      |  optional group a (LIST) { repeated group bag { optional double array_element; } }
      |  optional group b (LIST) { repeated group array { optional float z; } }
      |  repeated float r;
      |  optional group m (MAP) { repeated group map { required binary key (STRING); optional double value; } }
      |  optional double p.q;
      |}""".stripMargin
  )
  private val settings = ZeroSettings.parquet(schema, file, None)

  test("the settings of Parquet's writer name each leaf as the file spells it, in every shape of lists") {
    val names = Seq("D", "s.x", "a.bag.array_element", "b.array.z", "r", "m.map.value")
    assert(settings.leaves == (names.map(Some(_)) :+ None))
    assert(settings.others == Seq(
      "D",
      "i",
      "s.x",
      "s.y",
      "a.bag.array_element",
      "b.array.z",
      "r",
      "m.map.key",
      "m.map.value"
    ))
  }

  private def put(of: ZeroSettings, found: Set[Int], before: (String, String)*): Map[String, String] =
    put(of, found, found, before: _*)

  private def put(of: ZeroSettings, found: Set[Int], any: Set[Int], before: (String, String)*): Map[String, String] = {
    val conf = new Configuration(false)
    before.foreach { case (key, value) => conf.set(key, value) }
    of.put(conf, ZerosFound(IndexedSeq.tabulate(7)(found), IndexedSeq.tabulate(7)(any)))
    Option(conf.iterator).map(i =>
      Iterator.continually(i).takeWhile(_.hasNext).map(_.next()).map(e => e.getKey -> e.getValue).toMap
    ).get
  }

  test("columns without -0.0 keep what they have") {
    val before = Seq("parquet.enable.dictionary" -> "true", "parquet.bloom.filter.expected.ndv#s.x" -> "9")
    assert(put(settings, Set.empty, before: _*) == before.toMap)
    assert(put(settings, Set(0), before: _*) == before.toMap ++ Map(
      "parquet.enable.dictionary#D" -> "false",
      "parquet.bloom.filter.enabled#D" -> "false"
    ))
  }

  test("a column with 0.0 keeps what all old files have") {
    val kept = KeptParquet(file, None, Map.empty, dictionaries = Set(Seq("D")), bloomFilters = Set(Seq("s", "x")))
    val known = ZeroSettings.parquet(schema, file, Some(kept))
    assert(put(known, Set.empty[Int], Set(0)) == Map("parquet.bloom.filter.enabled#D" -> "false"))
    assert(put(known, Set.empty[Int], Set(1)) == Map("parquet.enable.dictionary#s.x" -> "false"))
    val off = Seq("parquet.enable.dictionary#D", "parquet.bloom.filter.enabled#D").map(_ -> "false").toMap
    assert(put(settings, Set.empty[Int], Set(0)) == off && put(known, Set(0)) == off)
  }

  test("settings for a column with -0.0 are overridden, and none of them asks for a Bloom filter") {
    val before =
      Seq("enable.dictionary" -> "true", "bloom.filter.enabled" -> "true", "bloom.filter.expected.ndv" -> "9")
        .map { case (key, value) => s"parquet.$key#s.x" -> value }
    assert(put(settings, Set(1), before: _*) == Map(
      "parquet.enable.dictionary#s.x" -> "false",
      "parquet.bloom.filter.enabled#s.x" -> "false"
    ))
  }

  test("a column with a dot in its name takes the default, and all others keep their settings") {
    val after =
      put(settings, Set(2, 6), "parquet.bloom.filter.enabled#D" -> "true", "parquet.enable.dictionary#i" -> "false")
    assert(after("parquet.enable.dictionary") == "false" && after("parquet.bloom.filter.enabled") == "false")
    settings.others.foreach { name =>
      val dictionary = name != "i" && name != "a.bag.array_element"
      assert(after(s"parquet.enable.dictionary#$name") == dictionary.toString, name)
      assert(after(s"parquet.bloom.filter.enabled#$name") == (name == "D").toString, name)
    }
  }

  test("an ORC column with a zero gets no Bloom filter, and an encrypted file with -0.0 no row index") {
    val orc = OrcZeros.of(schema)
    val filters = "orc.bloom.filter.columns" -> orc.names.flatten.mkString(" , ")
    assert(put(orc, Set.empty, filters).toSet == Set(filters) && put(
      orc,
      Set(2, 3, 4, 5),
      filters
    ).toSet == Set(filters))
    Seq(0, 1, 6).foreach { leaf =>
      val left = orc.names(leaf).toSeq.flatMap(name => orc.names.flatten.filterNot(_ == name))
      assert(put(orc, Set(leaf), filters).get("orc.bloom.filter.columns").toSeq.flatMap(_.split(',')) == left)
      assert(put(
        orc,
        Set.empty,
        Set(leaf),
        filters
      ).get("orc.bloom.filter.columns").toSeq.flatMap(_.split(',')) == left)
      val encrypted = put(orc, Set(leaf), "orc.encrypt" -> "key:a")
      assert(encrypted == Map("orc.encrypt" -> "key:a", "orc.row.index.stride" -> "0"))
    }
  }
}
