package org.sparkzorder.optimize.options

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.optimize.Rewrite
import org.sparkzorder.table.DataFolder

class FileGroupsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def rewrite(folder: Int, sizes: Seq[Long], outputs: Int): Rewrite = {
    val path = new Path(s"file:/t/p=$folder")
    val files = sizes.zipWithIndex.map { case (size, i) =>
      new FileStatus(size, false, 1, 1, 0, new Path(path, s"f$i"))
    }
    Rewrite(DataFolder(path, InternalRow.empty, files), files, outputs, rest = files.take(1))
  }

  private val rewrites: Gen[Seq[Rewrite]] = for {
    sizes <- Gen.listOf(Gen.nonEmptyListOf(Gen.choose(0L, 100L)))
    outputs <- Gen.listOfN(sizes.size, Gen.choose(1, 20))
  } yield sizes.zip(outputs).zipWithIndex.map { case ((s, n), i) => rewrite(i, s, n) }

  private def bytes(r: Rewrite): Long = r.files.map(_.getLen).sum

  test("the parts of a folder have every file once, in order, and only single files exceed the bound") {
    forAll(rewrites, Gen.choose(1L, 400L)) { (all, limit) =>
      val parts = FileGroupSchedule.split(all, limit)
      assert(parts.flatMap(_.files) == all.flatMap(_.files))
      parts.foreach(p => assert(bytes(p) <= limit || p.files.size == 1))
      all.foreach { r =>
        val own = parts.filter(_.folder eq r.folder)
        assert(own.map(_.outputFiles).sum == math.max(r.outputFiles, own.size))
        assert(own.flatMap(_.rest) == r.rest, "what is left of a folder counts once")
      }
    }
    // A folder within the bound is not split.
    val whole = rewrite(0, Seq(40L, 60L), 3)
    assert(FileGroupSchedule.split(Seq(whole), 100) == Seq(whole))
    assert(FileGroupSchedule.split(Seq(whole), 99).map(_.files.size) == Seq(1, 1))
  }

  test("groups have every rewrite once, in order, and only single rewrites exceed the bound") {
    forAll(rewrites, Gen.choose(1L, 1000L), Gen.choose(1, 10)) { (all, limit, wanted) =>
      val groups = FileGroupSchedule.of(all, limit, wanted)
      assert(groups.flatten == all)
      groups.foreach(g => assert(g.map(bytes).sum <= limit || g.size == 1))
    }
  }

  test("folders of equal size make as many groups as are wanted") {
    val all = (0 until 12).map(rewrite(_, Seq(10L, 10L), 1))
    assert(FileGroupSchedule.of(all, Long.MaxValue, 1).map(_.size) == Seq(12))
    assert(FileGroupSchedule.of(all, Long.MaxValue, 4).map(_.size) == Seq(3, 3, 3, 3))
    assert(FileGroupSchedule.of(all, 40, 4).map(_.size) == Seq.fill(4)(Seq(2, 1)).flatten)
    val alike = (0 until 12).map(i => rewrite(i, Seq(1000L + 7 * i % 5), 1))
    assert(FileGroupSchedule.of(alike, Long.MaxValue, 4).map(_.size) == Seq(3, 3, 3, 3))
    assert(FileGroupSchedule.of(alike, Long.MaxValue, 100).map(_.size) == Seq.fill(12)(1))
  }

  test("there are at most as many commits as allowed, with every group once and in order") {
    forAll(Gen.listOf(Gen.choose(0, 9)), Gen.choose(1, 12)) { (groups, most) =>
      val commits = FileGroupSchedule.commits(groups, most)
      assert(commits.flatten == groups)
      assert(commits.size <= most && commits.forall(_.nonEmpty))
    }
    assert(FileGroupSchedule.commits(1 to 6, 3) == Seq(Seq(1, 2), Seq(3, 4), Seq(5, 6)))
  }

  test("without partial progress there is one commit") {
    val all = (0 until 12).map(rewrite(_, Seq(10L, 10L), 1))
    def commits(options: FileGroupOptions) = options.commits(all).map(_.map(_.size))
    assert(commits(FileGroupOptions(5, None, 1)) == Seq(Seq(12)))
    assert(commits(FileGroupOptions(5, Some(60), 1)) == Seq(Seq(3, 3, 3, 3)))
    assert(commits(FileGroupOptions(5, None, 3)) == Seq(Seq(4), Seq(4), Seq(4)))
    assert(commits(FileGroupOptions(5, Some(40), 3)) == Seq.fill(3)(Seq(2, 2)))
  }
}
