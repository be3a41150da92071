package org.sparkzorder.repartition

import java.util.{BitSet, SplittableRandom}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.TaskContext

import org.sparkzorder.write.sample.{KeySample, SampledBytes, SampledColumn, SampledLongs}

/**
 * A sample of keys that is drawn before the number of rows is known. Each task keeps a random sample of its rows (a
 * reservoir) and counts its rows. In the end each reservoir stands for the rows that its task has seen.
 *
 * @param task the number of the task
 * @param capacity the most rows of the task's reservoir
 */
final class SampledKeys(task: Int, capacity: Int) extends Serializable {
  import SampledKeys.Reservoir

  @transient private val random = new SplittableRandom(SampledKeys.Seed + task)
  private val rows = new ArrayBuffer[IndexedSeq[Any]]
  private var seen = 0L
  private val merged = new ArrayBuffer[Reservoir]

  /** @param keys the encoded keys of the next row, null for null; only called if the row is sampled */
  def add(keys: () => IndexedSeq[Any]): Unit = {
    seen += 1
    if (rows.length < capacity) rows += keys()
    else {
      val at = random.nextLong(seen)
      if (at < capacity) rows(at.toInt) = keys()
    }
  }

  def merge(other: SampledKeys): SampledKeys = {
    merged ++= other.reservoirs
    this
  }

  private def reservoirs: Seq[Reservoir] =
    if (seen == 0) merged.toVector else merged.toVector :+ Reservoir(task, seen, rows.toIndexedSeq)

  /**
   * A sample of about so many rows, in which each is equally likely. If a task has seen too many rows for its
   * reservoir, the rows of the reservoir are taken several times. Each row has a random tie.
   */
  def sample(wanted: Int, isLong: Seq[Boolean]): KeySample = {
    val all = reservoirs.sortBy(_.task)
    val rate = math.min(1d, wanted.toDouble / math.max(1L, all.map(_.seen).sum))
    val drawn = all.flatMap(_.drawn(rate)).toIndexedSeq
    val ties = new SplittableRandom(SampledKeys.Seed)
    new KeySample(
      new Array[Int](drawn.length),
      Array.fill(drawn.length)(ties.nextLong()),
      isLong.indices.map(c => if (isLong(c)) longs(drawn.map(_(c))) else bytes(drawn.map(_(c)))).toArray
    )
  }

  private def longs(values: IndexedSeq[Any]): SampledColumn = {
    val nulls = new BitSet
    values.indices.foreach(i => if (values(i) == null) nulls.set(i))
    new SampledLongs(values.map(v => if (v == null) 0L else v.asInstanceOf[Long]).toArray, nulls)
  }

  private def bytes(values: IndexedSeq[Any]): SampledColumn =
    new SampledBytes(values.map(_.asInstanceOf[Array[Byte]]).toArray)
}

object SampledKeys {
  private val Seed = 0x48696c626572744bL

  /** The most rows of the reservoirs of all tasks together, unless four times the sample is more. */
  private val RowsOfAll = 400000L

  def ofTask(wanted: Int): SampledKeys = Option(TaskContext.get()) match {
    case Some(task) =>
      // A task may have up to four times its share of the rows before its sample becomes coarser.
      val share = math.max(RowsOfAll, 4L * wanted) / math.max(1, task.numPartitions())
      new SampledKeys(task.partitionId(), math.min(wanted.toLong, math.max(64L, share)).toInt)
    case None => new SampledKeys(0, wanted)
  }

  private final case class Reservoir(task: Int, seen: Long, rows: IndexedSeq[IndexedSeq[Any]]) {

    /** Rows of the reservoir, such that each row that the task has seen is drawn with this probability. */
    def drawn(probability: Double): Seq[IndexedSeq[Any]] = {
      val random = new SplittableRandom(Seed ^ task)
      // Early rows keep their index in the reservoir, so the order of the reservoir is not random.
      val order = rows.indices.toArray
      for (i <- order.indices.reverse) {
        val j = random.nextInt(i + 1)
        val other = order(j)
        order(j) = order(i)
        order(i) = other
      }
      val copies = probability * seen / rows.length
      val start = random.nextDouble()
      def until(i: Int): Long = math.floor(i * copies + start).toLong
      order.indices.flatMap(i => Seq.fill((until(i + 1) - until(i)).toInt)(rows(order(i))))
    }
  }
}
