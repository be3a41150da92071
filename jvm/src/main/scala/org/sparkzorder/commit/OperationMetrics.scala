package org.sparkzorder.commit

import java.util.{Set => JSet}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.Path

import org.sparkzorder.compat._

private[commit] trait HeldLock {

  private[commit] def ageMillis: Long

  private[commit] def publishing: Boolean
}

/** What this JVM is doing to tables right now, for Spark's metrics. Reading a meter asks no file system. */
object OperationMetrics {

  /** The bytes in the trash are remembered for so many tables. */
  private val MaxTables = 10000

  private[commit] val held: JSet[HeldLock] = ConcurrentHashMap.newKeySet[HeldLock]()

  private val trashes = CacheBuilder.newBuilder().maximumSize(MaxTables.toLong).build[Path, AtomicLong]().asMap
  private[commit] def trash(root: Path): AtomicLong = trashes.computeIfAbsent(root, _ => new AtomicLong)

  def locksHeld: Int = held.size

  /** Milliseconds for which the oldest of them has been held; 0 without any. */
  def oldestLockMillis: Long = held.asScala.map(_.ageMillis).maxOption.getOrElse(0L)
  def publishing: Int = held.asScala.count(_.publishing)

  /** Bytes in the trash of all tables that this JVM has worked on, as last seen. */
  def trashBytes: Long = trashes.values.asScala.map(_.get).sum
}
