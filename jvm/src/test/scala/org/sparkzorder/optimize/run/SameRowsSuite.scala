package org.sparkzorder.optimize.run

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.stats.FileStats
import org.sparkzorder.write.check.RowSum
import org.sparkzorder.write.job.{RewriteResult, StagedFile}

class SameRowsSuite extends AnyFunSuite {

  /** @param outputs unit, rows and hash of each output */
  private def check(read: Seq[RowSum], outputs: Seq[(Int, Long, Long)], stored: Seq[Long], found: Seq[Long]): Unit = {
    val staged = outputs.zipWithIndex.map { case ((unit, rows, hash), i) =>
      StagedFile(new Path(s"/t/f$i"), 1, 1, rows, unit, i, FileStats(rows, Map.empty), None, hash)
    }
    val result = RewriteResult(staged, read.map(_ => IndexedSeq.empty).toIndexedSeq, 0, 0, 0, Nil, read.toIndexedSeq)
    RowVerification.check("`t`", stored.indices.map(i => s"/t/p=$i").zip(stored), result, found)
  }

  private def condition(body: => Unit): String = {
    val error = intercept[ZOrderRuntimeException](body)
    s"${error.getCondition} ${error.getMessageParameters.get("folder")}"
  }

  private val read = Seq(RowSum(5, 7), RowSum(3, -1), RowSum.none)
  private val outputs = Seq((0, 2L, Long.MaxValue), (0, 3L, Long.MinValue + 8), (1, 3L, -1L))
  private val stored = Seq(5L, 3L, 0L)
  private val found = Seq(2L, 3L, 3L)

  test("the same rows pass") {
    check(read, outputs, stored, found)
    check(Nil, Nil, Nil, Nil)
  }

  test("each of the four counts of each folder is checked") {
    val count = "ZORDER_VERIFICATION_FAILED.ROW_COUNT"
    assert(condition(check(read, outputs, Seq(5L, 2L, 1L), found)) == s"$count /t/p=1")
    assert(condition(check(read.updated(0, RowSum(4, 7)), outputs, stored, found)) == s"$count /t/p=0")
    assert(condition(check(read, outputs.updated(0, (1, 2L, 0L)), stored, found)) == s"$count /t/p=0")
    assert(condition(check(read, outputs, stored, Seq(2L, 3L, 2L))) == s"$count /t/p=1")
    // If one file of a folder has a row too many and another one too few, the counts agree.
    check(read, outputs, stored, Seq(3L, 2L, 3L))
  }

  test("the hash of each folder is checked, even if the hash of the whole table is right") {
    val swapped = Seq((0, 2L, 0L), (0, 3L, 6L), (1, 3L, 0L))
    assert(RowSum.of(swapped.map(o => RowSum(o._2, o._3))) == RowSum.of(read))
    assert(condition(check(read, swapped, stored, found)) == "ZORDER_VERIFICATION_FAILED.ROW_HASH /t/p=0")
  }

  test("rows without a hash are not taken for the same") {
    intercept[IllegalArgumentException](check(Nil, outputs, stored, found))
  }
}
