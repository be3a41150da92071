package org.sparkzorder.commit

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.jdk.CollectionConverters._

import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.Path

import org.sparkzorder.compat._

/** What this JVM is doing to tables right now, for Spark's metrics. Reading a meter asks no file system. */
object OperationMetrics {

  /** When the locks that are held were taken. */
  private[commit] val held = new ConcurrentHashMap[AnyRef, Long]

  private val trashes = CacheBuilder.newBuilder().maximumSize(10000L).build[Path, AtomicLong]().asMap
  private[commit] def trash(root: Path): AtomicLong = trashes.computeIfAbsent(root, _ => new AtomicLong)

  private val exchanges = new AtomicInteger
  private[commit] def whilePublishing[A](exchange: => A): A = {
    exchanges.incrementAndGet()
    try exchange
    finally exchanges.decrementAndGet()
  }

  /** @param record of an operation whose inputs are in the trash now */
  private[commit] def published(record: Record): Unit = record.root.foreach { root =>
    val returned = record.outputs.filter(_.source.isDefined).map(_.length).sum
    trash(new Path(root)).addAndGet(record.inputs.map(_.length).sum - returned)
  }

  def locksHeld: Int = held.size

  /** Of the oldest; 0 without any. */
  def oldestLockMillis: Long = held.values.asScala.map(System.currentTimeMillis() - _).maxOption.getOrElse(0L)
  def publishing: Int = exchanges.get

  /** Bytes in the trash of all tables that this JVM has worked on, as last seen. */
  def trashBytes: Long = trashes.values.asScala.map(_.get).sum
}
