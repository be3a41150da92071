package org.sparkzorder.write

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.HashPartitioner
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{Dataset => ClassicDataset}
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarBatch, ColumnarMap}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * Measures what a shuffle of columns would save OPTIMIZE. A table's rows are sent to slots by a
 * hash of one column, sorted by it, and every value is looked at: once with Spark's rows, and once
 * with columns that never become rows. It is a trial with flat columns without nulls and blocks in
 * memory. Prints one line of JSON, seconds by name.
 *
 * `ShuffleBench <folder of Parquet files> <BIGINT column> <slots> <rounds>`
 */
object ShuffleBench {

  def main(args: Array[String]): Unit = {
    val (folder, key, slots, rounds) = (args(0), args(1), args(2).toInt, args(3).toInt)
    val spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false")
      .config("spark.sql.adaptive.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try {
      val table = spark.read.parquet(folder)
      val at = table.schema.fieldIndex(key)
      val ways = Seq("rows" -> (() => byRows(table, key, slots)), "columns" -> (() => byColumns(table, at, slots)))
      val all = (0 to rounds).flatMap { round =>
        ways.map { case (name, way) =>
          val began = System.nanoTime()
          val seen = way()
          (round, name, (System.nanoTime() - began) / 1e9, seen)
        }
      }
      require(all.map(_._4).distinct.size == 1, s"both see the same values: ${all.map(_._4)}")
      println("RESULT " + ways.map { case (name, _) =>
        s""""$name": ${all.collect { case (round, `name`, took, _) if round > 0 => took }.mkString("[", ", ", "]")}"""
      }.mkString("{", ", ", "}"))
    } finally spark.stop()
  }

  private def slotOf(key: Long, slots: Int): Int =
    Math.floorMod(java.lang.Long.hashCode(key * 0x9e3779b97f4a7c15L), slots)

  /** Adds up all values of a row. */
  private final class Looker(schema: StructType) extends Serializable {
    private val types = schema.map(_.dataType).toArray

    def look(row: InternalRow): Long = {
      var sum = 0L
      var c = 0
      while (c < types.length) {
        types(c) match {
          case LongType               => sum += row.getLong(c)
          case IntegerType | DateType => sum += row.getInt(c)
          case d: DecimalType         => sum += row.getDecimal(c, d.precision, d.scale).toUnscaledLong
          case _                      => sum += row.getUTF8String(c).numBytes
        }
        c += 1
      }
      sum
    }
  }

  private def byRows(table: DataFrame, key: String, slots: Int): Long = {
    val placed = table.repartition(slots, col(key)).sortWithinPartitions(col(key))
    val looker = new Looker(table.schema)
    planOf(placed).execute().mapPartitions(rows => Iterator(rows.map(looker.look).sum)).collect().sum
  }

  private def planOf(table: DataFrame): SparkPlan =
    table.asInstanceOf[ClassicDataset[_]].queryExecution.executedPlan

  private def byColumns(table: DataFrame, at: Int, slots: Int): Long = {
    val schema = table.schema
    val scan = planOf(table).collectFirst { case s: FileSourceScanExec => s }.get
    val blocks: RDD[(Int, Array[Byte])] =
      scan.executeColumnar().mapPartitions(batches => new Scatter(schema, at, slots).of(batches))
    val shuffled = new ShuffledRDD[Int, Array[Byte], Array[Byte]](blocks, new HashPartitioner(slots))
      .setSerializer(new KryoSerializer(blocks.sparkContext.getConf))
    val looker = new Looker(schema)
    shuffled.mapPartitions { found =>
      val columns = gathered(found.map(_._2).toIndexedSeq, schema)
      val rows = if (columns.isEmpty) 0 else columns(at).asInstanceOf[Longs].values.length
      val batch = new ColumnarBatch(columns.toArray, rows)
      // One number holds a key and the position of its row.
      val order = Array.tabulate(rows)(i => columns(at).getLong(i) << 24 | i)
      java.util.Arrays.sort(order)
      Iterator(order.iterator.map(o => looker.look(batch.getRow((o & 0xffffff).toInt))).sum)
    }.collect().sum
  }

  /** Collects the values of each slot and column, and sends them as blocks when there are many. */
  private final class Scatter(schema: StructType, at: Int, slots: Int) {
    private val types = schema.map(_.dataType).toArray
    private val mostBytes = 64 << 20
    private var numbers = fresh()
    private var texts = fresh()
    private var bytes = 0L

    private def fresh() = Array.fill(slots, types.length)(new Buffer)

    def of(batches: Iterator[ColumnarBatch]): Iterator[(Int, Array[Byte])] =
      batches.flatMap { batch =>
        take(batch)
        if (bytes > mostBytes || !batches.hasNext) flush() else Nil
      }

    private def take(batch: ColumnarBatch): Unit = {
      val n = batch.numRows()
      val key = batch.column(at)
      val slot = Array.tabulate(n)(i => slotOf(key.getLong(i), slots))
      var c = 0
      while (c < types.length) {
        val column = batch.column(c)
        types(c) match {
          case LongType               => each(n, slot, c)((b, i) => { b.put(column.getLong(i)); 8 })
          case IntegerType | DateType => each(n, slot, c)((b, i) => { b.put(column.getInt(i).toLong); 8 })
          case d: DecimalType         =>
            each(n, slot, c)((b, i) => { b.put(column.getDecimal(i, d.precision, d.scale).toUnscaledLong); 8 })
          case _ =>
            var i = 0
            while (i < n) {
              val text = column.getUTF8String(i)
              numbers(slot(i))(c).put(text.numBytes.toLong)
              texts(slot(i))(c).put(text)
              bytes += 8 + text.numBytes
              i += 1
            }
        }
        c += 1
      }
    }

    private def each(n: Int, slot: Array[Int], c: Int)(put: (Buffer, Int) => Int): Unit = {
      var i = 0
      while (i < n) {
        bytes += put(numbers(slot(i))(c), i)
        i += 1
      }
    }

    private def flush(): Seq[(Int, Array[Byte])] = {
      val blocks = (0 until slots).map { slot =>
        val out = new ByteArrayOutputStream()
        val data = new DataOutputStream(out)
        types.indices.foreach { c =>
          numbers(slot)(c).writeTo(data)
          texts(slot)(c).writeTo(data)
        }
        slot -> out.toByteArray
      }
      numbers = fresh()
      texts = fresh()
      bytes = 0
      blocks
    }
  }

  private final class Buffer {
    private var held = new Array[Byte](64)
    private var size = 0

    private def room(more: Int): Unit =
      if (size + more > held.length) held = java.util.Arrays.copyOf(held, math.max(size + more, 2 * held.length))

    def put(value: Long): Unit = {
      room(8)
      Platform.putLong(held, Platform.BYTE_ARRAY_OFFSET + size, value)
      size += 8
    }

    def put(text: UTF8String): Unit = {
      room(text.numBytes)
      text.writeToMemory(held, Platform.BYTE_ARRAY_OFFSET + size)
      size += text.numBytes
    }

    def writeTo(out: DataOutputStream): Unit = {
      out.writeInt(size)
      out.write(held, 0, size)
    }
  }

  private def gathered(blocks: IndexedSeq[Array[Byte]], schema: StructType): IndexedSeq[ColumnVector] = {
    val inputs = blocks.map(b => new DataInputStream(new ByteArrayInputStream(b)))
    def next(): Array[Byte] = {
      val parts = inputs.map { in => in.readNBytes(in.readInt()) }
      val whole = new Array[Byte](parts.map(_.length).sum)
      parts.foldLeft(0) { (from, part) =>
        System.arraycopy(part, 0, whole, from, part.length)
        from + part.length
      }
      whole
    }
    def longs(from: Array[Byte]): Array[Long] = {
      val values = new Array[Long](from.length / 8)
      Platform.copyMemory(
        from,
        Platform.BYTE_ARRAY_OFFSET,
        values,
        Platform.LONG_ARRAY_OFFSET,
        from.length
      )
      values
    }
    if (blocks.isEmpty) IndexedSeq.empty
    else schema.map(f => f.dataType).map { dataType => new Longs(dataType, longs(next()), next()) }.toIndexedSeq
  }

  /** Numbers, or the lengths of texts that are stored one after the other. */
  private final class Longs(of: DataType, val values: Array[Long], texts: Array[Byte]) extends ColumnVector(of) {
    private lazy val offsets = values.scanLeft(0)((at, length) => at + length.toInt)
    override def close(): Unit = ()
    override def hasNull: Boolean = false
    override def numNulls: Int = 0
    override def isNullAt(row: Int): Boolean = false
    override def getLong(row: Int): Long = values(row)
    override def getInt(row: Int): Int = values(row).toInt
    override def getUTF8String(row: Int): UTF8String = UTF8String.fromBytes(texts, offsets(row), values(row).toInt)
    override def getDecimal(row: Int, precision: Int, scale: Int): Decimal = Decimal(values(row), precision, scale)
    override def getBoolean(row: Int): Boolean = none
    override def getByte(row: Int): Byte = none
    override def getShort(row: Int): Short = none
    override def getFloat(row: Int): Float = none
    override def getDouble(row: Int): Double = none
    override def getArray(row: Int): ColumnarArray = none
    override def getMap(row: Int): ColumnarMap = none
    override def getBinary(row: Int): Array[Byte] = none
    override def getChild(ordinal: Int): ColumnVector = none
    private def none = throw new UnsupportedOperationException(of.catalogString)
  }
}
