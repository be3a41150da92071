package org.sparkzorder.scan

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.{RecordJson, TableState}

class FreshListingSuite extends AnyFunSuite {
  import FreshListingSuite._

  test("a partition that the newest records do not name is listed anew by the first query of it only") {
    val table = new Table
    for (_ <- 1 to 20) table.optimize("p=1")
    table.vacuum(below = 5)
    assert(table.relisted("p=0") == 1)
    assert(table.relisted("p=0") == 0)
    // By its folders: other queries have other partitions.
    assert(table.relisted("p=0", "p=1") == 1)
    assert(table.relisted("p=1") == 0)
    table.optimize("p=1")
    assert(table.relisted("p=0") == 0)
  }

  test("a partition is listed anew once it has changed, by an operation or by others") {
    val table = new Table
    for (_ <- 1 to 20) table.optimize("p=1")
    table.relisted("p=0")
    table.append("p=0")
    assert(table.relisted("p=0") == 0) // Spark has its old listing.
    table.forget()
    assert((table.relisted("p=0"), table.relisted("p=0")) == ((1, 0)))
    table.optimize("p=0")
    assert((table.relisted("p=0"), table.relisted("p=0")) == ((1, 0)))
    // Its newest record names files that are gone.
    table.overwrite("p=0")
    table.forget()
    assert((table.relisted("p=0"), table.relisted("p=0")) == ((1, 0)))
  }

  test("a listing from before operations that have no record is made anew, though it was whole once") {
    val table = new Table
    table.optimize("p=0")
    assert(table.relisted("p=0") == 0)
    for (_ <- 1 to 17) table.optimize("p=0")
    assert(table.relisted("p=0") == 1)
    table.vacuum(below = 3)
    val before = table.cached("p=0")
    for (_ <- 1 to 20) table.optimize("p=1")
    table.vacuum(below = 22)
    table.optimize("p=1")
    assert(table.cached("p=0") == before && table.relisted("p=0") == 1)
  }

  test("of a listing that lacks files by the query's options nothing is remembered") {
    val table = new Table
    for (_ <- 1 to 20) table.optimize("p=1")
    assert(Seq.fill(2)(table.relisted(isFiltered = true)("p=0")) == Seq(1, 1))
  }

  test("operations on other partitions do not make a query list again and again") {
    val table = new Table
    for (_ <- 1 to 20) table.optimize("p=1")
    table.whileListing = () => table.optimize("p=1")
    assert(table.relisted("p=0") == 1)
  }

  test("a query gives up if its partition is changed each time it is listed") {
    val table = new Table
    table.optimize("p=0")
    table.whileListing = () => table.optimize("p=0")
    table.cached("p=0")
    table.optimize("p=0")
    val e = intercept[HalfPublishedException](table.relisted("p=0"))
    assert(e.getMessage.contains("it changed again and again while it was listed"))
    assert(table.refreshes == ExchangeAwareListing.MostLooks + 1)
  }

  test("operations that were forgotten since a listing was checked, or before it ever was, are known to be missing") {
    val folder = TableFolder(new Path("mem:/t"), new MemoryOps(new MemoryFs))
    def state(versions: Seq[Int]): TableState.SideFolder = {
      val names = versions.map(v => new Path(folder.side, f"_v$v%010d-1ms.json"))
      new TableState.SideFolder(folder, names.map(FileMeta(_, 1L, 1L, isDirectory = false)))
    }
    val seen = VerifiedOperations.of(state(1 to 20))
    def unseen(now: TableState.SideFolder) = seen.unseen(now).map(_.version)
    val next = state(5 to 22)
    assert(!seen.mayLack(next) && unseen(next) == Seq(22L, 21L))
    // The 22nd and 23rd are forgotten, but not the 20th.
    val lacking = state(20 +: (24 to 40))
    assert(seen.mayLack(lacking) && unseen(lacking) == (40L to 24L by -1L))
    // The record itself is gone.
    assert(seen.mayLack(state(25 to 40)))
    assert(!seen.mayLack(state(20 to 40)) && !seen.mayLack(state(1 to 40)))
    assert(VerifiedOperations.none.mayLack(state(5 to 20)) && !VerifiedOperations.none.mayLack(state(1 to 20)))
  }
}

private object FreshListingSuite {

  /** A table of the catalog with two partitions, and Spark's cache of their files. */
  private final class Table {
    private val fs = new MemoryFs
    private val root = s"/t/${System.identityHashCode(this)}"
    private val folder = TableFolder(new Path(s"mem:$root"), new MemoryOps(fs))
    private val cache = mutable.HashMap.empty[String, Seq[FileStatusWithMetadata]]
    private var version = 0L
    private var names = 0
    var whileListing: () => Unit = () => ()
    var refreshes = 0

    Seq("p=0", "p=1").foreach(append)

    def append(partition: String): Unit = {
      names += 1
      fs.put(s"$root/$partition/$names.parquet", Set(names), 1L)
    }

    def overwrite(partition: String): Unit = {
      files(partition).foreach(fs.nodes.remove)
      append(partition)
    }

    /** Puts a new file in place of all files of a partition. */
    def optimize(partition: String): Unit = {
      val old = files(partition)
      overwrite(partition)
      version += 1
      def relative(file: String) = file.stripPrefix(s"$root/")
      val inputs = old.map(f => InputFile(relative(f), 1L, 1L, 1L))
      val outputs = files(partition).map(f => OutputFile(relative(f), 1L, 1L, inputs.size.toLong))
      val record = Record(version, s"op-$version", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, inputs, outputs)
      val path = folder.published(record, 1L).toUri.getPath
      fs.mkdirs(s"$root/_zorder")
      fs.tick()
      val bytes = RecordJson.write(record)
      fs.nodes(path) = File(bytes.length.toLong, fs.clock, Set.empty, bytes)
    }

    /** Forgets older versions. */
    def vacuum(below: Int): Unit = {
      val older = fs.children(s"$root/_zorder").filter(f => f < f"$root/_zorder/_v$below%010d" && f.endsWith(".json"))
      older.foreach(fs.nodes.remove)
    }

    def forget(): Unit = cache.clear()

    def cached(partition: String): Seq[FileStatusWithMetadata] = cache.getOrElseUpdate(
      partition,
      files(partition).map(f => FileStatusWithMetadata(new FileStatus(1L, false, 1, 1L, 1L, new Path(s"mem:$f"))))
    )

    /** How often a query of these partitions has Spark list them again. */
    def relisted(partitions: String*): Int = relisted(isFiltered = false)(partitions: _*)

    def relisted(isFiltered: Boolean)(partitions: String*): Int = {
      refreshes = 0
      val listing = new Listing(new Index(partitions))
      new FreshListing(listing, Seq(folder), LockSettings(), isOne = false, isFiltered).settled()
      refreshes
    }

    private def files(partition: String): Seq[String] = fs.children(s"$root/$partition")

    /** As Spark makes one for each query. */
    private final class Index(partitions: Seq[String]) extends FileIndex {
      override def listFiles(filters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
        partitions.map(p => PartitionDirectory(InternalRow.empty, cached(p)))
      override def refresh(): Unit = {
        refreshes += 1
        cache.clear()
        partitions.foreach(cached)
        whileListing()
      }
      override def rootPaths: Seq[Path] = partitions.map(new Path(folder.root, _))
      override def inputFiles: Array[String] = Array.empty
      override def sizeInBytes: Long = 1L
      override def partitionSchema: StructType = new StructType
    }
  }
}
