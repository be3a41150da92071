package org.sparkzorder.commit

import java.io.IOException

import org.scalatest.funsuite.AnyFunSuite

/** An output is published only if it is as it was written. */
class StagingSuite extends AnyFunSuite {

  test("an output that a rename has changed is not published") {
    val table = new SmallTable(Seq("p=1", "p=2"))
    var spoiled = false
    table.fs.changed = () => {
      val staged = table.fs.below("/t/p=1/_zorder/staging").find(table.fs.file(_).isDefined)
      staged.filterNot(_ => spoiled).foreach { path =>
        spoiled = true
        val file = table.fs.file(path).get
        table.fs.nodes(path) = file.copy(length = file.length - 1, rows = file.rows.drop(1))
      }
    }
    val end = table.attempt(new MemoryOps(table.fs))
    assert(spoiled && end.exists(_.isInstanceOf[IOException]), end)
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
  }
}
