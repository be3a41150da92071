package org.sparkzorder.memory

import scala.jdk.CollectionConverters._

import com.google.common.cache.{Cache, CacheBuilder, RemovalListener, RemovalNotification, Weigher}
import org.apache.hadoop.fs.Path
import org.roaringbitmap.RoaringBitmap

import org.sparkzorder.compat._

/**
 * What the filters of this process found out about files. Filters are kept in groups: those of one group have a text in
 * common, which a query that may use them has too. The groups that were used least recently are dropped first.
 *
 * @param maxBytes of all filters together
 * @param maxFiles whose names are kept, of all tables together
 */
private[sparkzorder] final class FilterMemory(maxBytes: Long, maxFiles: Long) {
  import FilterMemory._

  private val groups: Cache[GroupKey, Group] = CacheBuilder.newBuilder().maximumWeight(maxBytes).concurrencyLevel(1)
    .weigher(((_, group) => group.bytes): Weigher[GroupKey, Group]).build()

  private val numbers = CacheBuilder.newBuilder().maximumWeight(maxFiles).concurrencyLevel(1)
    .weigher(((table, files) => files.size + table.length / BytesOfName): Weigher[String, FileNumbers])
    .removalListener(new RemovalListener[String, FileNumbers] {
      override def onRemoval(removed: RemovalNotification[String, FileNumbers]): Unit =
        if (removed.wasEvicted) groups.asMap.keySet.removeIf(_.table == removed.getKey)
    })
    .build[String, FileNumbers]()

  /** The files that are known to hold no row of this filter; None if no remembered filter says anything about it. */
  def filesWithout(filter: FilterKey, now: () => Boolean = () => true): Option[RememberedFiles] = {
    val anchors = filter.conditions.map(_.anchor)
    val found = for {
      anchor <- anchors.toSeq
      group <- Option(groups.getIfPresent(GroupKey(filter.table, filter.settings, anchor))).toSeq
      r <- group.filters if r.isImpliedBy(filter.conditions)
    } yield r
    val byNumbers = found.filterNot(_.isEmpty).groupBy(_.numbers).map { case (n, rs) =>
      n -> RoaringBitmap.or(rs.map(_.files): _*)
    }
    Option.when(byNumbers.nonEmpty)(new RememberedFiles(byNumbers.toSeq, now))
  }

  def knows(table: String): Boolean = numbers.getIfPresent(table) != null

  /** Remembers that no row of these files passes the filter. */
  def remember(filter: FilterKey, files: Iterable[ReadFile]): Unit = if (files.nonEmpty) synchronized {
    val table = numbers.get(filter.table, () => new FileNumbers)
    val bitmap = new RoaringBitmap
    files.foreach(f => bitmap.add(table.number(f)))
    val key = GroupKey(filter.table, filter.settings, anchorOf(filter))
    val others = Option(groups.getIfPresent(key)).fold(Vector.empty[RememberedFilter])(_.filters)
    val (same, rest) = others.partition(r => r.conditions == filter.conditions && (r.numbers eq table))
    val all = RoaringBitmap.or((bitmap +: same.map(_.files)): _*)
    all.runOptimize()
    val now = new RememberedFilter(filter.conditions, table, all, filter.weight)
    groups.put(key, new Group((now +: rest).take(MostOfGroup)))
    // With more files it is heavier than before.
    numbers.put(filter.table, table)
  }

  def forget(which: String => Boolean): Unit = synchronized {
    groups.asMap.keySet.removeIf(key => which(key.table))
    numbers.asMap.keySet.removeIf(table => which(table))
    ()
  }

  /**
   * Forgets some files of some tables.
   *
   * @return filters of which something was known about these files
   */
  def forgetFiles(which: String => Boolean, paths: Iterable[Path]): Int = synchronized {
    val gone = numbers.asMap.asScala.collect { case (table, n) if which(table) => n -> n.forget(paths) }.toMap
    val known = groups.asMap.asScala.collect { case (key, group) if which(key.table) => group.filters }.flatten
    known.count(r => gone.get(r.numbers).exists(RoaringBitmap.intersects(_, r.files)))
  }

  def sizeOf(which: String => Boolean): MemorySize = {
    val found = groups.asMap.asScala.collect { case (key, group) if which(key.table) => group }
    MemorySize(found.map(_.filters.length).sum, found.map(_.bytes.toLong).sum)
  }

  /** The longest text says most, so the fewest filters have it. */
  private def anchorOf(filter: FilterKey): String = filter.conditions.iterator.map(_.anchor).maxBy(a => (a.length, a))
}

private[sparkzorder] object FilterMemory {

  private final case class GroupKey(table: String, settings: String, anchor: String)

  private final class Group(val filters: Vector[RememberedFilter]) {
    val bytes: Int = filters.iterator.map(_.bytes).sum.min(Int.MaxValue.toLong).toInt
  }

  private val MostOfGroup = 1000

  private val MostBytes = 64L << 20
  private val ShareOfHeap = 20

  /** Of a file's name, roughly. */
  private val BytesOfName = 400

  /** @param heap the most bytes that this JVM may have */
  def ofHeap(heap: Long): FilterMemory = {
    val bytes = math.min(MostBytes, heap / ShareOfHeap)
    new FilterMemory(bytes, bytes / BytesOfName)
  }
}

/**
 * A filter that was evaluated, with the files in which no row passed it.
 *
 * @param numbers of the table's files
 * @param files numbers of the files without a row; must not be changed
 * @param weight characters of the filter's texts
 */
private[memory] final class RememberedFilter(
    val conditions: Set[Condition],
    val numbers: FileNumbers,
    val files: RoaringBitmap,
    weight: Long
) {

  def isEmpty: Boolean = files.isEmpty

  /** An estimate. */
  val bytes: Long = 200L + 2L * weight + files.getLongSizeInBytes

  /** Whether each row that passes all of `those` passes this filter. */
  def isImpliedBy(those: Set[Condition]): Boolean =
    conditions.forall(mine => those.contains(mine) || those.exists(_.implies(mine)))
}

/** How many filters are remembered, and an estimate of the bytes that they take. */
final case class MemorySize(filters: Int, bytes: Long)
