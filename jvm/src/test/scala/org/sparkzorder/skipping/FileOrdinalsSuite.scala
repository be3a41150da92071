package org.sparkzorder.skipping

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.index.{IndexContents, IndexSnapshot, Indexes}
import org.sparkzorder.stats.{FileId, FileStats}
import org.sparkzorder.table.RelativePath

class FileOrdinalsSuite extends AnyFunSuite {
  private val root = new Path("file:/t")
  private val names = new RelativePath(root)

  private def snapshot(files: Int): IndexSnapshot =
    Indexes.open(Indexes.written(IndexContents((0 until files).map(i =>
      FileId(s"f$i", i.toLong, 1L) -> FileStats(1L, Map.empty)
    ))))

  private def status(i: Int, length: Int, folder: Path = root): FileStatus =
    new FileStatus(length.toLong, false, 1, 1L, 1L, new Path(folder, s"f$i"))

  private def listed(known: FileOrdinals, files: Seq[FileStatus]): FilesWithOrdinals =
    known.of(Seq(files.map(FileStatusWithMetadata(_)))).head

  private case class NoFiles() extends FileIndex {
    override def rootPaths: Seq[Path] = Nil
    override def listFiles(partitions: Seq[Expression], data: Seq[Expression]): Seq[PartitionDirectory] = Nil
    override def inputFiles: Array[String] = Array.empty
    override def refresh(): Unit = ()
    override def sizeInBytes: Long = 0L
    override def partitionSchema: StructType = new StructType()
  }

  test("the same ordinals whatever was learnt and in whatever order files are asked for") {
    val known = new FileOrdinals(names, snapshot(10))
    // Two that the index does not know: one of another length, one of another folder.
    val files = (0 until 10).map(i => status(i, i)) :+ status(3, 99) :+ status(4, 4, new Path("file:/u"))
    val expected = (0 until 10) :+ -1 :+ -1
    def ordinals(files: Seq[FileStatus]): Seq[Int] = listed(known, files).ordinals.toSeq
    for (learnt <- Seq(files, files.take(4), files.reverse, (0 until 10).map(i => status(i, i + 1)), Nil)) {
      ordinals(learnt)
      assert(ordinals(files.drop(3)) == expected.drop(3))
      assert(ordinals(files.grouped(2).map(_.head).toSeq) == expected.grouped(2).map(_.head).toSeq)
      assert(ordinals(files) == expected)
      assert(ordinals(files.reverse) == expected.reverse)
      // Another object for a file that is listed anew.
      assert(ordinals(status(5, 5) +: files) == 5 +: expected)
      assert(ordinals(files ++ files) == expected ++ expected)
    }
  }

  test("files that were listed before are not looked for again, nor are some of them, folder by folder") {
    val known = new FileOrdinals(names, snapshot(10))
    val folders = Seq(root, new Path(root, "p=1")).map(f => (0 until 10).map(i => status(i, i, f)))
    val first = folders.map(listed(known, _))
    folders.zip(first).foreach { case (files, l) =>
      assert(listed(known, files) eq l)
      assert(listed(known, files.drop(2)).ordinals.toSeq == l.ordinals.toSeq.drop(2))
      assert(listed(known, files) eq l)
      assert(l.bytes == 45)
    }
    assert(first.map(_.ordinals.toSeq) == Seq(0 until 10, Seq.fill(10)(-1)))
    val anew = (0 until 10).map(i => status(i, i))
    assert(listed(known, anew).ordinals.toSeq == (0 until 10))
    assert(!(listed(known, anew) eq first.head))
  }

  test("a guess is only believed where it is right, and names are compared as characters") {
    val paths = Seq("f0", "f1", "é", "日本/f1", "a/f1")
    val s = Indexes.open(Indexes.written(IndexContents(paths.map(p => FileId(p, 5L, 7L) -> FileStats(1L, Map.empty)))))
    for (guess <- -1 to paths.length; (path, i) <- paths.zipWithIndex) {
      assert(s.ordinalOf("/t/" + path, 3, 5L, 7L, guess) == i)
      assert(s.ordinalOf("/t/" + path, 3, 6L, 7L, guess) == -1)
      assert(s.ordinalOf("/t/" + path, 3, 5L, 8L, guess) == -1)
      assert(s.ordinalOf("/t/" + path + "x", 3, 5L, 7L, guess) == -1)
      assert(s.ordinalOf("/t/x" + path, 3, 5L, 7L, guess) == -1)
    }
    assert(s.ordinalOf("/t/a/f1", 5, 5L, 7L, -1) == 1)
    assert(s.ordinalOf("/t/", 3, 5L, 7L, 0) == -1)
  }

  test("what is learnt is of one listing, one table and one index") {
    val (one, other, listing) = (snapshot(2), snapshot(2), NoFiles())
    val known = FileOrdinals.of(listing, root, one)
    assert(FileOrdinals.of(listing, root, one) eq known)
    assert(!(FileOrdinals.of(NoFiles(), root, one) eq known))
    assert(!(FileOrdinals.of(listing, new Path("file:/u"), one) eq known))
    assert(!(FileOrdinals.of(listing, root, other) eq known))
    assert(FileOrdinals.of(listing, root, other).snapshot eq other)
  }
}
