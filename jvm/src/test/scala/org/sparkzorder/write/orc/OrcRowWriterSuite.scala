package org.sparkzorder.write.orc

import java.io.{File, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, TimeZone}

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapreduce.{TaskAttemptID, TaskType}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.orc.{OrcProto, TypeDescription}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, LocalSpark}
import org.sparkzorder.stats.RandomValues
import org.sparkzorder.write.preserve.PreservedOrcSchema
import org.sparkzorder.write.task.OrcZone

/** Spark's readers read what was written, for each type, nested in each way, with nulls at each level. */
class OrcRowWriterSuite extends AnyFunSuite with LocalSpark {

  private val scalars: Seq[DataType] = RandomValues.fixedTypes.filterNot(t => t == null || t == TimeType(6)) ++
    Seq(DecimalType(9, 2), DecimalType(18, 18), DecimalType(38, 10))

  private val shapes: Seq[DataType => DataType] = Seq(
    identity,
    t => ArrayType(ArrayType(ArrayType(t))),
    t => MapType(StringType, MapType(IntegerType, t)),
    t => ArrayType(new StructType().add("f", ArrayType(t)).add("m", MapType(LongType, t))),
    t => new StructType().add("f", t).add("m", MapType(IntegerType, new StructType().add("f", t)))
  )

  private val microsOfYear = 31556952L * 1000000L

  /** @param ancient whether values before 1900 may come */
  private final class Values(seed: Long, ancient: Boolean) extends RandomValues(seed) {

    override def value(t: DataType): Any = t match {
      case MapType(k, v, _) =>
        val keys = several(k)
        // Keys in no order, and sometimes one of them twice.
        if (keys.length > 1 && random.nextBoolean()) keys(keys.length - 1) = keys(0)
        ArrayBasedMapData(keys, keys.map(_ => nullable(v)))
      case a: ArrayType => new GenericArrayData(Array.fill[Any](random.nextInt(4))(nullable(a.elementType)))
      case StringType   =>
        UTF8String.fromString(pick("", "ä", "x " * random.nextInt(40), s"k${random.nextInt(9)}", "\u0000"))
      case DateType => pick(0, -1, if (ancient) random.nextInt(1000000) - 700000 else random.nextInt(40000) - 20000)
      case TimestampNTZType => random.nextLong() >> 8
      case TimestampType    => instant
      case other            =>
        super.value(other) match {
          // ORC has only one NaN.
          case f: Float if f.isNaN  => Float.NaN
          case d: Double if d.isNaN => Double.NaN
          case v                    => v
        }
    }

    private def nullable(t: DataType): Any = if (random.nextInt(5) == 0) null else value(t)

    private def instant: Long = {
      val micros = pick(
        random.nextInt().toLong * 1000000L,
        (random.nextInt() * 1000L).toLong * 1000L,
        random.nextLong() % (60L * microsOfYear),
        -1500000L - random.nextInt(10000000),
        -1000000L - random.nextInt(1000),
        if (ancient) random.nextLong() % (1900L * microsOfYear) - 1900L * microsOfYear / 100L else 0L
      )
      // No ORC file can hold a fraction of this second.
      if (micros > -1000000L && micros < 0L) 0L else micros
    }
  }

  private def schemaOf(shape: DataType => DataType, types: Seq[DataType]): StructType =
    StructType(types.zipWithIndex.map { case (t, i) => StructField(s"c$i", shape(t)) })

  private def write(file: File, rows: Seq[InternalRow], schema: StructType, settings: OrcFileSettings): Unit = {
    val context = new TaskAttemptContextImpl(new Configuration, new TaskAttemptID("t", 0, TaskType.MAP, 0, 0))
    val writer = new OrcRowWriter(file.toString, schema, context, settings)
    val unsafe = UnsafeProjection.create(schema)
    try rows.foreach(row => writer.write(unsafe(row)))
    finally writer.close()
  }

  private def settingsOf(schema: StructType, proleptic: Boolean): OrcFileSettings =
    OrcFileSettings(PreservedOrcSchema.of(schema, Nil).schema, Some(proleptic), Map.empty, batchSize = 7)

  private def read(file: File, schema: StructType): Seq[InternalRow] =
    spark.read.schema(schema).orc(file.toString).queryExecution.executedPlan.executeCollect().map(_.copy()).toSeq

  /** The rows as text in which all values differ that Spark distinguishes. */
  private def texts(rows: Seq[InternalRow], schema: StructType): Seq[String] = {
    val unsafe = UnsafeProjection.create(schema)
    rows.map(row => unsafe(row).toString)
  }

  private def assertRead(file: File, schema: StructType, rows: Seq[InternalRow], vectorized: Boolean): Unit = {
    val keys = Seq("spark.sql.orc.enableVectorizedReader", "spark.sql.orc.enableNestedColumnVectorizedReader")
    val found = withSettings(keys.map(_ -> vectorized.toString): _*)(read(file, schema))
    assert(texts(found, schema) == texts(rows, schema), s"$file, vectorized $vectorized")
  }

  private def inZone(id: String)(body: => Unit): Unit = {
    val before = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone(id))
    try body
    finally TimeZone.setDefault(before)
  }

  for (proleptic <- Seq(false, true))
    test(s"all types nested in all ways are read as they were written, proleptic = $proleptic") {
      val values = new Values(7, ancient = false)
      for ((shape, s) <- shapes.zipWithIndex) {
        val schema = schemaOf(shape, scalars)
        val rows = Seq.fill(60)(values.row(schema))
        val file = new File(dir, s"types-$s-$proleptic.orc")
        write(file, rows, schema, settingsOf(schema, proleptic))
        assertRead(file, schema, rows, vectorized = true)
        // The row reader makes a sorted map of each map.
        if (!schema.catalogString.contains("map<")) assertRead(file, schema, rows, vectorized = false)
      }
    }

  test("dates and timestamps of all times, in several time zones", InRest) {
    val schema = schemaOf(identity, Seq(DateType, TimestampType, ArrayType(DateType), ArrayType(TimestampType)))
    for (zone <- Seq("UTC", "America/Los_Angeles", "Asia/Kolkata"); proleptic <- Seq(false, true))
      inZone(zone) {
        val values = new Values(11, ancient = true)
        def file(name: String) = new File(dir, s"$name-${zone.replace('/', '-')}-$proleptic.orc")
        write(file("first"), Seq.fill(300)(values.row(schema)), schema, settingsOf(schema, proleptic))
        // Some ancient days exist in one calendar only, so a first reading may shift values. What is
        // read once must be read again after a rewrite.
        val once = read(file("first"), schema)
        write(file("again"), once, schema, settingsOf(schema, proleptic))
        Seq(true, false).foreach(assertRead(file("again"), schema, once, _))
      }
  }

  test("a value that ORC would change is an error") {
    def refused(value: Any, t: DataType, orc: String): String = {
      val schema = new StructType().add("c", t)
      val settings = settingsOf(schema, proleptic = false).copy(schema = TypeDescription.fromString(s"struct<c:$orc>"))
      val file = new File(dir, s"refused-$orc.orc")
      intercept[IllegalStateException](write(file, Seq(InternalRow(value)), schema, settings)).getMessage
    }
    assert(refused(-1L, TimestampType, "timestamp").contains("last second before 1970"))
    assert(refused(UTF8String.fromString("abcd"), StringType, "varchar(3)").contains("4 characters"))
    assert(refused(UTF8String.fromString("ab "), StringType, "char(3)").contains("space at its end"))
  }

  test("types and attributes that all files have are kept, and others are reported") {
    val table =
      new StructType().add("a", LongType).add("S", new StructType().add("t", TimestampType)).add("c", StringType)
    def file(text: String, ids: (Int, String)*): TypeDescription = {
      val schema = TypeDescription.fromString(text)
      ids.foreach { case (column, id) => schema.findSubtype(column).setAttribute("id", id) }
      schema
    }
    val instant = "timestamp with local time zone"
    val same = Seq(
      file(s"struct<A:bigint,s:struct<T:$instant>,c:char(3)>", 1 -> "1", 3 -> "2"),
      file(s"struct<A:bigint,s:struct<T:$instant>>", 1 -> "1", 3 -> "3")
    )
    val kept = PreservedOrcSchema.of(table, same)
    assert(kept.schema.toString == s"struct<A:bigint,s:struct<T:$instant>,c:string>")
    assert(kept.schema.findSubtype(1).getAttributeValue("id") == "1")
    assert(kept.lost == Seq("type attribute `id` of `S`.`t`", "stored type of `c`"))
    assert(kept.respelled)
    val other = PreservedOrcSchema.of(table, Seq(file(s"struct<a:int,S:struct<t:timestamp>,c:varchar(3)>")))
    assert(other.schema.toString == "struct<a:bigint,S:struct<t:timestamp>,c:varchar(3)>")
    assert(other.lost == Seq("stored type of `a`"))
  }

  test("an executor must have the clocks of the driver, under whatever name") {
    inZone("Europe/Berlin") {
      OrcZone.refuseOther("Europe/Berlin")
      OrcZone.refuseOther("Arctic/Longyearbyen")
      val e = intercept[IOException](OrcZone.refuseOther("UTC"))
      assert(e.getMessage.contains("Europe/Berlin") && e.getMessage.contains("UTC"))
    }
    inZone("GMT")(OrcZone.refuseOther("UTC"))
    // As java.util.TimeZone names zones of three letters.
    inZone("America/New_York")(OrcZone.refuseOther("America/New_York"))
    inZone("UTC")(OrcZone.refuseOther("UCT"))
  }

  test("clocks are in columns of timestamps, however deep") {
    def isUsedBy(ddl: String) = OrcZone.isUsedBy(StructType.fromDDL(ddl))
    assert(Seq("a TIMESTAMP", "a TIMESTAMP_NTZ", "a ARRAY<STRUCT<b: MAP<STRING, TIMESTAMP>>>").forall(isUsedBy))
    assert(!isUsedBy("a DATE, b ARRAY<STRUCT<c: STRING>>, d MAP<STRING, BIGINT>"))
  }

  // ORC's writer finds bounds by bytes, and its reader compares UTF-16.
  private val characters = Seq("a", "é", "\ud7ff", "\ue000", "\uffee", "\uffff", "\ud83d\ude00", "\ud800\udc00", "z")
  private val byBytes: Ordering[String] = (a, b) => Arrays.compareUnsigned(a.getBytes(UTF_8), b.getBytes(UTF_8))

  private def text(random: Random): String =
    Seq.fill(random.nextInt(4))(characters(random.nextInt(characters.length))).mkString

  test("no string between the bounds by bytes is outside of them by UTF-16") {
    val random = new Random(5)
    (1 to 20000).foreach { _ =>
      val some = Seq.fill(1 + random.nextInt(5))(text(random))
      val (low, high) = (OrcTextBounds.low(some.min(byBytes)), OrcTextBounds.high(some.max(byBytes)))
      some.foreach { s =>
        assert(low.compareTo(s) <= 0 && byBytes.lteq(low, s), some)
        assert(high.forall(byBytes.gteq(_, s)), some)
        assert(s.compareTo(high.getOrElse(OrcTextBounds.HighestUtf16)) <= 0, some)
      }
    }
  }

  test("bounds stay exact where both orders agree") {
    val plain = OrcProto.StringStatistics.newBuilder.setMinimum("a\ud7ff").setMaximum("z\uffee")
    OrcTextBounds.widen(plain)
    assert(plain.getMinimum == "a\ud7ff" && plain.getMaximum == "z\uffee")
    val wide = OrcProto.StringStatistics.newBuilder.setMinimum("a\uffee").setMaximum("z\uffee\ud83d\ude00")
    OrcTextBounds.widen(wide)
    assert(wide.getMinimum == "a" && wide.getMaximum == "{" && !wide.hasUpperBound)
    val widest = OrcProto.StringStatistics.newBuilder.setMinimum("a").setMaximum("\ud83d\ude00")
    OrcTextBounds.widen(widest)
    assert(!widest.hasMaximum && widest.getUpperBound == OrcTextBounds.HighestUtf16)
  }
}
