package org.sparkzorder.index

import java.io.{ByteArrayOutputStream, EOFException}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.sparkzorder.codec.Checksum
import org.sparkzorder.stats._

/** Indexes in memory, and random contents for them. */
object Indexes {

  class BytesSource(var bytes: Array[Byte]) extends BlockSource {
    def name: String = "memory"
    def length: Long = bytes.length.toLong
    def read(offset: Long, length: Int): Array[Byte] =
      if (offset + length > bytes.length) throw new EOFException()
      else Arrays.copyOfRange(bytes, offset.toInt, offset.toInt + length)
  }

  def written(contents: IndexContents): Array[Byte] = {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, contents)
    out.toByteArray
  }

  /** Writes an index file into the side folder of a table, as the commit package does. */
  def write(fs: FileSystem, root: Path, contents: IndexContents, number: Long): FileStatus = {
    val target = new Path(root, s"_zorder/${IndexName.of(number)}")
    val out = fs.create(target, true)
    try out.write(written(contents))
    finally out.close()
    fs.getFileStatus(target)
  }

  def open(bytes: Array[Byte], limit: Long = 64L << 20): IndexSnapshot = IndexFile.open(new BytesSource(bytes), limit)

  /** The same index with a changed footer and its right checksum. */
  def withFooter(bytes: Array[Byte], change: String => String): Array[Byte] = {
    val from = bytes.length - 16
    val length = ByteBuffer.wrap(bytes).getInt(from)
    val footer = change(new String(bytes, from - length, length, UTF_8)).getBytes(UTF_8)
    bytes.take(from - length) ++ footer ++
      ByteBuffer.allocate(8).putInt(footer.length).putInt(Checksum.crc32(footer).toInt).array ++ bytes.drop(from + 8)
  }

  /** Files with statistics of a collector. Some columns are missing, others are unknown. */
  def random(values: RandomValues, files: Int, prefix: String = "f"): Seq[(FileId, FileStats)] = {
    val schema = values.schema()
    Seq.tabulate(files) { i =>
      val collector = new StatsCollector(schema, IndexableColumns.all(schema))
      Seq.fill(values.random.nextInt(5))(values.row(schema)).foreach(collector.add)
      val stats = collector.result()
      val columns = stats.columns.flatMap { case (key, c) =>
        values.random.nextInt(6) match {
          case 0 => None
          case 1 => Some(key -> c.copy(min = null, max = null, nullCount = -1L))
          case _ => Some(key -> c)
        }
      }
      val id =
        FileId(s"$prefix${values.pick("", "/ü", "/p=1/")}$i", values.random.nextInt(9).toLong, values.random.nextLong())
      (id, stats.copy(columns = columns))
    }
  }

  /** Statistics in a form that can be compared by `==`. */
  def comparable(stats: FileStats): Any = {
    def bound(b: Any): Any = b match {
      case a: Array[Byte] => a.toSeq
      case other          => other
    }
    (stats.rows, stats.columns.map { case (k, c) => k -> (bound(c.min), bound(c.max), c.nullCount, c.nanCount) })
  }

  def all(snapshot: IndexSnapshot): Map[FileId, Any] =
    (0 until snapshot.files).map(i => snapshot.fileId(i) -> comparable(snapshot.fileStats(i))).toMap

  def all(files: Seq[(FileId, FileStats)]): Map[FileId, Any] = files.map { case (id, s) => id -> comparable(s) }.toMap
}
