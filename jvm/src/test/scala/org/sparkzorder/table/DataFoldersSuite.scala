package org.sparkzorder.table

import java.net.URI
import java.nio.file.{Files, Path => LocalPath}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

class DataFoldersSuite extends AnyFunSuite {
  private val local = FileSystem.getLocal(new Configuration())
  private def folder(path: String): DataFolder = DataFolder(new Path(path), InternalRow.empty, Nil)
  private def root(): LocalPath = Files.createTempDirectory("folders").toRealPath()

  private def shared(fs: FileSystem, paths: String*): Option[(String, String, Option[String])] =
    DataFolders.shared(_ => fs, paths.map(folder)).map(s =>
      (s.one.path.getName, s.other.path.getName, s.real.map(r => LocalPath.of(r).getFileName.toString))
    )

  test("folders side by side are separate, links lead to their folder, and a folder in another has its real path") {
    val dir = root()
    Seq("p=1", "p=11", "p=1x/q=1").foreach(n => Files.createDirectories(dir.resolve(n)))
    assert(shared(local, s"file:$dir/p=1", s"file:$dir/p=11", s"file:$dir/p=1x/q=1").isEmpty)
    Files.createDirectories(dir.resolve("a/p=1"))
    Files.createSymbolicLink(dir.resolve("b"), LocalPath.of("a"))
    Files.createSymbolicLink(dir.resolve("c"), LocalPath.of("b"))
    assert(shared(local, s"file:$dir/a/p=1", s"file:$dir/c/p=1").contains(("p=1", "p=1", Some("p=1"))))
    Files.createDirectories(dir.resolve("p=1/deep/deeper"))
    Files.createSymbolicLink(dir.resolve("p=2"), LocalPath.of("p=1/deep/deeper"))
    assert(shared(local, s"file:$dir/p=2", s"file:$dir/p=1").contains(("p=1", "p=2", None)))
  }

  test("mount points of a view that lead to one folder are found through the view") {
    val dir = root()
    Seq("data/x", "data/y").foreach(n => Files.createDirectories(dir.resolve(n)))
    val conf = new Configuration()
    Seq("p1" -> "data/x", "p2" -> "data/y", "p3" -> "data/x", "p4" -> "data").foreach { case (mount, target) =>
      conf.set(s"fs.viewfs.mounttable.v.link./$mount", s"file://$dir/$target")
    }
    val view = FileSystem.newInstance(URI.create("viewfs://v/"), conf)
    assert(shared(view, "viewfs://v/p1", "viewfs://v/p2").isEmpty)
    assert(shared(view, "viewfs://v/p1", "viewfs://v/p2", "viewfs://v/p3").contains(("p1", "p3", Some("x"))))
    assert(shared(view, "viewfs://v/p1", "viewfs://v/p4").contains(("p4", "p1", None)))
  }

  test("ten thousand folders are compared in a moment") {
    val dir = root()
    val names = (1 to 10000).map(i => Files.createDirectory(dir.resolve(s"p=$i"))).map(p => s"file:$p")
    val start = System.nanoTime()
    assert(shared(local, names: _*).isEmpty)
    assert(System.nanoTime() - start < 5000000000L)
  }

  test("files of buckets have the names that Spark gives them, not any with digits after an underscore") {
    val uuid = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
    val buckets = Seq("00000-", "123456-", "r-00000-").map(part => s"part-$part$uuid") :+ s"00003_0_part-00000-$uuid"
    val ends = Seq("_00003.c000.snappy.parquet", "_123456.c001.zstd.orc", "_00003.gz.parquet", "_00003.c000", "_00003")
    for (bucket <- buckets; end <- ends) assert(BucketFiles.isOne(bucket + end), bucket + end)
    val others = Seq("-c000.snappy.parquet", "-a7.zstd.parquet", "_1.parquet").map(s"part-00000-$uuid" + _) ++
      Seq("000003_0", "log_2026.parquet", "part_00001.parquet")
    others.foreach(name => assert(!BucketFiles.isOne(name), name))
  }
}
