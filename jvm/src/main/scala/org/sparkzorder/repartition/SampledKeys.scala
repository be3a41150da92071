package org.sparkzorder.repartition

import java.util.{BitSet, SplittableRandom}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.TaskContext

import org.sparkzorder.write.{BytesKeyValues, KeySample, KeyValues, LongKeyValues}

/**
 * A sample of keys, drawn where nobody knows yet how many rows there are: each task keeps a reservoir of its rows and
 * counts them, and in the end each reservoir stands for the rows that its task has seen.
 *
 * @param task number of the task that draws
 * @param capacity rows that the reservoir may hold
 */
final class SampledKeys(task: Int, capacity: Int) extends Serializable {
  import SampledKeys.Reservoir

  @transient private val random = new SplittableRandom(SampledKeys.Seed + task)
  private val rows = new ArrayBuffer[IndexedSeq[Any]]
  private var seen = 0L
  private val merged = new ArrayBuffer[Reservoir]

  /** @param keys of the next row, encoded, null for null; only asked for when the row is taken */
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
    if (seen == 0) merged.toSeq else merged.toSeq :+ Reservoir(task, seen, rows.toIndexedSeq)

  /**
   * A sample of all rows, each as likely as any other. The reservoir of a task with too many rows has its rows more
   * than once instead. Each row has a random tie.
   *
   * @param wanted rows, about
   * @param isLong for each key, whether it is encoded as a long
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

  private def longs(values: IndexedSeq[Any]): KeyValues = {
    val nulls = new BitSet
    values.indices.foreach(i => if (values(i) == null) nulls.set(i))
    new LongKeyValues(values.map(v => if (v == null) 0L else v.asInstanceOf[Long]).toArray, nulls)
  }

  private def bytes(values: IndexedSeq[Any]): KeyValues =
    new BytesKeyValues(values.map(_.asInstanceOf[Array[Byte]]).toArray)
}

object SampledKeys {
  private val Seed = 0x48696c626572744bL

  /** Rows that the reservoirs of all tasks may hold together, unless the sample itself is a quarter of that. */
  private val RowsOfAll = 400000L

  /** The buffer of the task that runs. */
  def ofTask(wanted: Int): SampledKeys = Option(TaskContext.get()) match {
    case Some(task) =>
      // Tasks with up to four times their share are no worse sampled for it.
      val share = math.max(RowsOfAll, 4L * wanted) / math.max(1, task.numPartitions())
      new SampledKeys(task.partitionId(), math.min(wanted.toLong, math.max(64L, share)).toInt)
    case None => new SampledKeys(0, wanted)
  }

  private final case class Reservoir(task: Int, seen: Long, rows: IndexedSeq[IndexedSeq[Any]]) {

    /** Each of the rows seen has this probability to be drawn. */
    def drawn(probability: Double): Seq[IndexedSeq[Any]] = {
      val random = new SplittableRandom(Seed ^ task)
      // Early rows have kept their places, so places are no chance.
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
