package org.sparkzorder.index

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.util.hashing.byteswap32

import org.apache.parquet.schema.LogicalTypeAnnotation.{stringType, timestampType, TimeUnit}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{BINARY, INT64}
import org.apache.parquet.schema.Types

import org.sparkzorder.stats.{ByteStrings, FileId}

/**
 * The names, sizes, times and rows of many files, by their ordinals, without an object for each.
 *
 * @param paths in UTF-8, one after the other
 * @param starts where each path begins, and where the last one ends
 */
final class FileTable private[index] (
    paths: Array[Byte],
    starts: Array[Int],
    lengths: Array[Long],
    times: Array[Long],
    val rows: Array[Long]
) {

  def files: Int = rows.length

  def length(i: Int): Long = lengths(i)

  def id(i: Int): FileId = FileId(path(i), lengths(i), times(i))

  private def path(i: Int): String = new String(paths, starts(i), starts(i + 1) - starts(i), UTF_8)

  // A hash table with linear probing, at most half full, of ordinals plus one by the hash of the path.
  private[index] lazy val slots: Array[Int] = {
    val slots = new Array[Int](slotCount)
    var i = 0
    while (i < files) {
      var slot = byteswap32(hash(i)) & (slots.length - 1)
      var probes = 0
      while (slots(slot) != 0) {
        slot = (slot + 1) & (slots.length - 1)
        probes += 1
        if (probes > FileTable.MaxProbes) throw new IndexFormatException("too many paths of one hash")
      }
      slots(slot) = i + 1
      i += 1
    }
    slots
  }

  /**
   * The ordinal of the file with this path, length and time; -1 when there is none. For a path of
   * ASCII characters no object is allocated.
   *
   * @param from the path is the string from this character on
   * @param guess the ordinal of a file that is tried first
   */
  def ordinalOf(path: String, from: Int, length: Long, modificationTime: Long, guess: Int): Int =
    if (guess >= 0 && guess < files && isFile(guess, path, from, length, modificationTime)) guess
    else {
      val mask = slots.length - 1
      var slot = byteswap32(hash(path, from)) & mask
      while (slots(slot) != 0) {
        val i = slots(slot) - 1
        if (isFile(i, path, from, length, modificationTime)) return i
        slot = (slot + 1) & mask
      }
      -1
    }

  private def isFile(i: Int, path: String, from: Int, length: Long, modificationTime: Long): Boolean =
    lengths(i) == length && times(i) == modificationTime && isPath(i, path, from)

  private def isPath(i: Int, path: String, from: Int): Boolean = {
    val (start, n) = (starts(i), starts(i + 1) - starts(i))
    var k = 0
    while (k < n) {
      val b = paths(start + k)
      if (b < 0) return this.path(i) == path.substring(from)
      if (from + k >= path.length || path.charAt(from + k) != b) return false
      k += 1
    }
    from + n == path.length
  }

  private def hash(path: String, from: Int): Int = {
    var h = 0
    var k = from
    while (k < path.length) {
      h = 31 * h + path.charAt(k)
      k += 1
    }
    h
  }

  /** The same as `String.hashCode` of the path. */
  private def hash(i: Int): Int = {
    var h = 0
    var k = starts(i)
    while (k < starts(i + 1)) {
      if (paths(k) < 0) return path(i).hashCode
      h = 31 * h + paths(k)
      k += 1
    }
    h
  }

  /** Bytes in memory, with the hash table. */
  def memoryBytes: Long = paths.length + 4L * starts.length + 24L * files + 4L * slotCount

  private def slotCount: Int = Integer.highestOneBit(math.max(files, 1)) << 2

  private[index] def write(to: IndexWriter): Unit = {
    val all = PlainPage.where(files)(_ => true)
    def bytesOf(i: Int) = Arrays.copyOfRange(paths, starts(i), starts(i + 1))
    to.column(Types.optional(BINARY).as(stringType).named("path"), PlainPage.bytes(files, all, bytesOf))
    to.numbers("bytes", all, lengths(_))
    val millis = timestampType(true, TimeUnit.MILLIS)
    to.column(Types.optional(INT64).as(millis).named("modified"), PlainPage.longs(files, all, times(_)))
    to.numbers("rows", all, rows(_))
  }
}

private[index] object FileTable {
  val Columns: Seq[String] = Seq("path", "bytes", "modified", "rows")

  // A hundred million ordinary paths need about a hundred probes. Paths that were chosen for their
  // hash would need so many that reading the index would take ages.
  private val MaxProbes = 2000

  def apply(ids: Seq[(FileId, Long)]): FileTable = {
    val n = ids.length
    require(n <= IndexFooter.MaxFiles, s"$n files are too many for an index")
    val encoded = ids.iterator.map { case (id, _) => encode(id.path) }.toArray
    val total = encoded.foldLeft(0L)(_ + _.length)
    require(total <= Block.MaxSize - 28L * n, "the paths of the files are too long for an index")
    val (paths, starts) = ByteStrings.joined(encoded)
    ids.foreach { case (id, rows) => require(rows >= 0 && id.length >= 0, s"$id has $rows rows") }
    def longs(of: ((FileId, Long)) => Long) = ids.iterator.map(of).toArray
    new FileTable(paths, starts, longs(_._1.length), longs(_._1.modificationTime), longs(_._2))
  }

  private def encode(path: String): Array[Byte] = {
    val bytes = path.getBytes(UTF_8)
    require(new String(bytes, UTF_8) == path, s"path `$path` is not Unicode")
    bytes
  }

  def read(from: IndexReader): FileTable = {
    val pages = from.pages(Columns).map { page =>
      if (page.has.cardinality != from.footer.files) throw new IndexFormatException("files without a name or a size")
      page
    }
    val (paths, starts) = pages.next().bytes()
    val (lengths, times, rows) = (pages.next().longs(0L), pages.next().longs(0L), pages.next().longs(0L))
    var i = 0
    while (i < rows.length) {
      if ((rows(i) | lengths(i)) < 0L) throw new IndexFormatException("a file of negative size")
      i += 1
    }
    val table = new FileTable(paths, starts, lengths, times, rows)
    // A file with too many paths of one hash is refused when it is read.
    table.slots
    table
  }
}
