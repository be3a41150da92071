package org.sparkzorder.skipping

import java.lang.management.ManagementFactory
import java.nio.file.Paths

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.dsl.expressions._
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{LongType, StructField, StructType}

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.storage.HadoopFileOps
import org.sparkzorder.index.{IndexContents, IndexMemory, IndexSnapshot, IndexStore, Indexes}
import org.sparkzorder.scan.{Listing, ScanSnapshot}
import org.sparkzorder.stats.{ColumnKey, ColumnStats, FileId, FileStats}

/**
 * Pruning of very many files without making them: an index as OPTIMIZE leaves it, of three columns in cells of a grid, and a listing
 * that names the files. Prints one line of JSON.
 *
 * `PruningBench <files> <folder> <rounds>`
 */
object PruningBench {
  private val columns = Seq("a", "b", "c")
  private val schema = StructType(columns.map(c => StructField(c, LongType)))

  def main(args: Array[String]): Unit = {
    val (files, folder, rounds) = (args(0).toInt, args(1), args(2).toInt)
    val spark = SparkSession.builder().master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try println("RESULT " + json(new Run(spark, files, new Path(Paths.get(folder).toUri), rounds).all()))
    finally spark.stop()
  }

  private def json(values: Seq[(String, Seq[Double])]): String =
    values.map { case (name, v) => s""""$name": ${v.mkString("[", ", ", "]")}""" }.mkString("{", ", ", "}")

  /** What Spark keeps of a table's folder after it was listed. */
  private final class Listed(spark: SparkSession, root: Path, statuses: Array[FileStatus])
      extends PartitioningAwareFileIndex(spark, Map.empty, Some(schema)) {
    override val leafFiles: mutable.LinkedHashMap[Path, FileStatus] =
      mutable.LinkedHashMap.from(statuses.iterator.map(s => s.getPath -> s))
    override val leafDirToChildrenFiles: Map[Path, Array[FileStatus]] = Map(root -> statuses)
    override def partitionSpec(): PartitionSpec = PartitionSpec.emptySpec
    override def rootPaths: Seq[Path] = Seq(root)
    override def refresh(): Unit = ()
  }

  private final class Run(spark: SparkSession, files: Int, folder: Path, rounds: Int) {
    private val fs = folder.getFileSystem(spark.sparkContext.hadoopConfiguration)
    private val root = fs.makeQualified(folder)
    private val side = math.max(1, math.round(math.cbrt(files.toDouble)).toInt)
    private val store = new IndexStore(fs, IndexMemory.of(Some(1L << 30)))

    private def name(i: Int): String = f"part-$i%07d-5f1d8c1e-zorder.snappy.parquet"

    private def cell(i: Int, column: Int): Long = i / math.pow(side.toDouble, column.toDouble).toInt % side * 1000L

    /** Of which nothing can be guessed from the file before. */
    private def noise(i: Int, salt: Int, below: Int): Long =
      (scala.util.hashing.byteswap64(i * 4L + salt + 1) >>> 33) % below

    // Neighbouring cells overlap a little, as those of real values do.
    private def stats(i: Int): FileStats = FileStats(
      100000L,
      columns.zipWithIndex.map { case (c, k) =>
        val low = cell(i, k) + noise(i, k, 97)
        ColumnKey(Seq(c), LongType) -> ColumnStats(low, low + 1000 + noise(-i, k, 13), 0L, 0L)
      }.toMap
    )

    private def write(number: Long, columnsToo: Boolean): FileStatus = {
      val contents = IndexContents((0 until files).map { i =>
        val s = stats(i)
        val id = FileId(name(i), 128000000L + i % 1000, 1760000000000L + i % 977)
        id -> (if (columnsToo) s else FileStats(s.rows, Map.empty))
      })
      Indexes.write(fs, root, contents, number)
    }

    private def listing(): Listed = new Listed(
      spark,
      root,
      Array.tabulate(files) { i =>
        new FileStatus(128000000L + i % 1000, false, 1, 1L << 27, 1760000000000L + i % 977, new Path(root, name(i)))
      }
    )

    /** Milliseconds by the clock and of this thread on a processor, which others that run beside it leave alone. */
    private def millis[A](work: => A): (Seq[Double], A) = {
      val (start, busy) = (System.nanoTime(), threads.getCurrentThreadCpuTime)
      val result = work
      (Seq((System.nanoTime() - start) / 1e6, (threads.getCurrentThreadCpuTime - busy) / 1e6), result)
    }

    private val threads = ManagementFactory.getThreadMXBean

    private def usedMemory(): Long = {
      val runtime = Runtime.getRuntime
      System.gc()
      System.gc()
      runtime.totalMemory - runtime.freeMemory
    }

    /** As after a restart of the machine: nothing of the index file in the operating system's memory. */
    private def forget(status: FileStatus): Unit = {
      val file = Paths.get(status.getPath.toUri).toString
      new ProcessBuilder("dd", s"of=$file", "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
        .redirectErrorStream(true).start().waitFor()
      ()
    }

    private def relation(listing: Listed): LogicalRelation = {
      val (session, format) = (spark.asInstanceOf[ClassicSession], new ParquetFileFormat)
      LogicalRelation(HadoopFsRelation(listing, new StructType(), schema, None, format, Map.empty)(session))
    }

    private def relationOf(l: LogicalRelation): HadoopFsRelation = l.relation.asInstanceOf[HadoopFsRelation]

    private def locationOf(l: LogicalRelation): FileIndex = relationOf(l).location

    /** A point, a range and a list: a cell and those that touch it. */
    private def conjunction(l: LogicalRelation): Seq[Expression] = {
      val (a, b, c) = (l.output(0), l.output(1), l.output(2))
      val middle = side / 2 * 1000L + 500
      Seq(a === Literal(middle), b >= Literal(middle), b < Literal(middle + 400), c.in(Literal(middle), Literal(7L)))
    }

    private def prune(l: LogicalRelation, snapshot: Option[IndexSnapshot]): SkippingFileIndex = {
      val table = TableFolder(root, new HadoopFileOps(fs))
      val views = Seq(new ScanSnapshot(table, snapshot, 1L, None, None, () => false, () => Nil))
      val listing = new Listing(locationOf(l))
      Pruning(l, relationOf(l), views, listing, conjunction(l), enabled = true, hasLater = false).get
    }

    def all(): Seq[(String, Seq[Double])] = {
      fs.mkdirs(new Path(root, "_zorder"))
      val bare = write(1L, columnsToo = false)
      val whole = write(2L, columnsToo = true)
      val listed = relation(listing())
      val cold = (1 to 3).map { n =>
        // Another time stamp is another index to the cache.
        fs.setTimes(whole.getPath, 1760000000000L + n * 1000, -1)
        val status = fs.getFileStatus(whole.getPath)
        forget(status)
        val fresh = if (n == 1) listed else relation(listing())
        val list = millis(locationOf(fresh).listFiles(Nil, Nil))._1
        millis(prune(fresh, store.newest(Seq(2L -> status))))._1 ++ list
      }
      val before = usedMemory()
      fs.setTimes(whole.getPath, 1760000009000L, -1)
      val snapshot = store.newest(Seq(2L -> fs.getFileStatus(whole.getPath)))
      val withFiles = usedMemory()
      val filesAccounted = snapshot.get.memoryBytes
      columns.foreach(c => snapshot.get.column(Seq(c), LongType))
      val withColumns = usedMemory()
      val first = millis(prune(listed, snapshot))._1
      val runs = (1 to rounds * 2).map { _ =>
        val list = millis(locationOf(listed).listFiles(Nil, Nil))._1
        val (pruned, index) = millis(prune(listed, snapshot))
        val (scan, kept) = millis(index.listFiles(Nil, Nil))
        list ++ pruned ++ scan :+ kept.iterator.map(_.files.size).sum.toDouble
      }.drop(rounds)
      def of(rows: Seq[Seq[Double]], names: String*) =
        names.zipWithIndex.map { case (name, column) => name -> rows.map(_(column)) }
      val perColumn = files.toDouble * columns.size
      val names = Seq("listing", "warm", "scan").flatMap(n => Seq(s"${n}_ms", s"${n}_processor_ms"))
      of(cold, "cold_ms", "cold_processor_ms", "cold_listing_ms") ++ of(runs, names: _*) ++ Seq(
        "files" -> Seq(files.toDouble),
        "first_ms" -> first.take(1),
        "kept" -> runs.map(_(6)).distinct,
        "disk_bytes" -> Seq((whole.getLen - bare.getLen) / perColumn),
        "disk_bytes_files" -> Seq(bare.getLen.toDouble / files),
        "memory_bytes" -> Seq((snapshot.get.memoryBytes - filesAccounted) / perColumn),
        "memory_bytes_measured" -> Seq((withColumns - withFiles) / perColumn),
        "memory_bytes_files" -> Seq(filesAccounted.toDouble / files),
        "memory_bytes_files_measured" -> Seq((withFiles - before).toDouble / files)
      )
    }
  }
}
