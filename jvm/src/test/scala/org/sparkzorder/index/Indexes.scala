package org.sparkzorder.index

import java.io.{ByteArrayOutputStream, EOFException}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.sparkzorder.codec.Checksum
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.storage.HadoopFileOps
import org.sparkzorder.footer.WritersTable
import org.sparkzorder.stats._

/** Indexes in memory, and random contents for them. */
object Indexes {

  /** Counts what is read of it. */
  class BytesSource(var bytes: Array[Byte]) extends BlockSource {
    def name: String = "memory"
    def length: Long = bytes.length.toLong
    var reads = 0
    def read(offset: Long, length: Int): Array[Byte] = {
      reads += 1
      if (offset + length > bytes.length) throw new EOFException()
      else Arrays.copyOfRange(bytes, offset.toInt, offset.toInt + length)
    }
  }

  def written(contents: IndexContents): Array[Byte] = {
    val out = new ByteArrayOutputStream
    IndexFile.write(out, contents)
    out.toByteArray
  }

  /** Writes an index file into the side folder of a table, as the commit package does. */
  def write(fs: FileSystem, root: Path, contents: IndexContents, number: Long): FileStatus = {
    val target = new Path(root, f"_zorder/_index-$number%010d.zidx")
    val out = fs.create(target, true)
    try out.write(written(contents))
    finally out.close()
    fs.getFileStatus(target)
  }

  def open(bytes: Array[Byte], limit: Long = 64L << 20): IndexSnapshot = IndexFile.open(new BytesSource(bytes), limit)

  /** The index files of a table, as a scan finds them. */
  def listed(fs: FileSystem, root: Path): Seq[(Long, FileStatus)] = TableState.look(root, new HadoopFileOps(fs)) match {
    case s: TableState.SideFolder => s.indexes.map(i => i.number -> i.status(fs))
    case _                        => Nil
  }

  /** An index file cut at our footer: what is before it, the JSON, and the footer of Parquet. */
  final case class Parts(columns: Array[Byte], json: Array[Byte], parquet: Array[Byte]) {

    /** The file with right checksums. */
    def bytes: Array[Byte] = {
      val seal = ByteBuffer.allocate(8).putInt(json.length).putInt(Checksum.crc32(json).toInt).array
      columns ++ json ++ seal ++ IndexFooter.Magic ++ parquet
    }
  }

  def parts(bytes: Array[Byte]): Parts = {
    val parquet = 8 + ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)
    val seal = bytes.length - parquet - 16
    val from = seal - ByteBuffer.wrap(bytes).getInt(seal)
    Parts(bytes.take(from), bytes.slice(from, seal), bytes.drop(seal + 16))
  }

  /** The same index with a changed footer and its right checksum. */
  def withFooter(bytes: Array[Byte], change: String => String): Array[Byte] = {
    val p = parts(bytes)
    p.copy(json = change(new String(p.json, UTF_8)).getBytes(UTF_8)).bytes
  }

  private val mapper = new ObjectMapper

  def placesOf(bytes: Array[Byte]): ObjectNode =
    mapper.readTree(parts(bytes).json).get("places").asInstanceOf[ObjectNode]

  /** The same index with a changed page of one column, and all checksums right. */
  def withColumn(bytes: Array[Byte], name: String, change: Array[Byte] => Array[Byte]): Array[Byte] = {
    val p = parts(bytes)
    val footer = mapper.readTree(p.json)
    val places = footer.get("places")
    val (at, length, id) = (places.get(name).get(0).asInt, places.get(name).get(1).asInt, footer.get("id").asText)
    val block = Block.pack(id, change(Block.unpack(id, bytes.slice(at, at + length), Long.MaxValue)))
    places.get(name).asInstanceOf[ArrayNode].set(1, block.length)
    places.elements.asScala.map(_.asInstanceOf[ArrayNode]).filter(_.get(0).asInt > at)
      .foreach(later => later.set(0, later.get(0).asInt + block.length - length))
    p.copy(columns = p.columns.patch(at, block, length), json = mapper.writeValueAsBytes(footer)).bytes
  }

  /** A file of so many files, and of what is written beside their names. */
  def having(files: Int)(write: IndexWriter => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val to = new IndexWriter(out, files)
    write(to)
    FileTable((0 until files).map(i => FileId(s"f$i", 1L, 1L) -> 1L)).write(to)
    to.end(IndexFooter(files, Nil, Map.empty, WritersTable.Number.toLong))
    out.toByteArray
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
      val path = s"$prefix${values.pick("", "/ü", "/p=1/")}$i"
      val id = FileId(path, values.random.nextInt(9).toLong, values.random.nextLong())
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
