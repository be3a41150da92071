package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.{FileMeta, MemoryFs, MemoryOps, TableFolder}
import org.sparkzorder.commit.log.TableState

class VerifiedListingsSuite extends AnyFunSuite {
  private val folder = TableFolder(new Path("mem:/t"), new MemoryOps(new MemoryFs))

  /** A table whose records are those of some versions. */
  private def state(versions: Seq[Int]): TableState.SideFolder = {
    val names = versions.map(v => new Path(folder.side, f"_v$v%010d-1ms.json"))
    new TableState.SideFolder(folder, names.map(FileMeta(_, 1L, 1L, isDirectory = false)))
  }

  test("operations that were forgotten since a listing was checked, or before it ever was, are known to be missing") {
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
