package org.sparkzorder.memory

import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.roaringbitmap.RoaringBitmap

/** Files that are known to hold no row of a query, by their numbers, as long as the plan's settings are in force. */
final class RememberedFiles private[memory] (parts: Seq[(FileNumbers, RoaringBitmap)], now: () => Boolean) {

  /** Whether the settings are still those of the plan, so that the readers find the same rows. */
  def holdsNow: Boolean = now()

  /** Whether no row of a listed file passes the query's filter; by its partition, see [[RememberedFiles.valuesOf]]. */
  def has(file: FileStatusWithMetadata, values: String): Boolean = {
    val listed = ReadFile(file.getPath, file.getLen, file.getModificationTime, values)
    parts.exists { case (numbers, without) =>
      val number = numbers.of(listed)
      number >= 0 && without.contains(number)
    }
  }
}

object RememberedFiles {

  /** A text of a partition's values. Equal texts are equal values of the same columns. */
  def valuesOf(values: InternalRow, schema: StructType): String =
    values.toSeq(schema).zip(schema.fields).map { case (value, f) =>
      val text = value match {
        case null           => "-"
        case s: UTF8String  => ExpressionText.bytes(s.getBytes)
        case b: Array[Byte] => ExpressionText.bytes(b)
        case other          => s"=$other"
      }
      s"${ExpressionText.quoted(f.name)} ${ExpressionText.of(f.dataType)} $text"
    }.mkString(";")

}

/** A file as a scan listed it, with [[RememberedFiles.valuesOf]] its partition. Equal ones have the same rows. */
final case class ReadFile(path: Path, length: Long, time: Long, values: String)

/**
 * Numbers for the files of one table, so that a filter's files are a small bitmap. A number is never given twice: a
 * file that changed gets a new one.
 */
private[memory] final class FileNumbers {
  private val known = new ConcurrentHashMap[Path, FileNumbers.Known]
  private var next = 0

  /** The number of a file; -1 if it has none, or if it is not as it was. */
  def of(file: ReadFile): Int = known.get(file.path) match {
    case null => -1
    case k    => if (k.isOf(file)) k.number else -1
  }

  /** The number of a file, a new one if it has none. */
  def number(file: ReadFile): Int = synchronized {
    val found = of(file)
    if (found >= 0) found
    else {
      known.put(file.path, new FileNumbers.Known(next, file.length, file.time, file.values))
      next += 1
      next - 1
    }
  }

  /** Forgets files, and returns their numbers. */
  def forget(paths: Iterable[Path]): RoaringBitmap = synchronized {
    RoaringBitmap.bitmapOf(paths.iterator.flatMap(p => Option(known.remove(p))).map(_.number).toArray: _*)
  }

  def size: Int = synchronized(next)
}

private[memory] object FileNumbers {

  private final class Known(val number: Int, length: Long, time: Long, values: String) {
    def isOf(file: ReadFile): Boolean = file.length == length && file.time == time && file.values == values
  }
}
