package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest

/**
 * Somebody puts an older copy of the table's side folder back: the one of any moment of an operation that has long ended.
 * Newer files of the side folder stay beside it, or are gone.
 */
@TestRest
class OldSideFolderSuite extends AnyFunSuite with Explorer {
  private val side = "/t/_zorder"

  private val later: Seq[(String, SmallTable => Unit)] = Seq(
    "nothing" -> (_ => ()),
    "OPTIMIZE" -> (_.optimize(id = "op-2")),
    "RESTORE" -> (_.restore(to = 0, id = "op-2")),
    "OPTIMIZE and VACUUM" -> { t =>
      t.optimize(id = "op-2")
      t.vacuum(id = "op-3")
    }
  )

  for {
    scene <- Seq(Statement.optimize, Statement.restore).flatMap(_.onBoth)
    (name, follow) <- later
    isMerged <- Seq(true, false)
  } test(s"${scene.name}, then $name, newer files stay: $isMerged") {
    var old = Map.empty[String, Node]
    meeting(scene)(table => old = table.fs.below(side).map(p => p -> table.fs.nodes(p)).toMap) { (table, end) =>
      assert(end.isEmpty)
      follow(table)
      val rows = table.fs.visibleRows
      if (!isMerged) table.fs.below(side).foreach(table.fs.nodes.remove)
      table.fs.nodes ++= old
      assert(table.recover().forall(e => SmallTable.tornFolder(e).isDefined && !isMerged))
      // Without the newer history nothing tells that the operation has ended.
      if (!isMerged) assert(rows.toSet.subsetOf(table.rowsAnywhere))
      else {
        assert(table.fs.visibleRows == rows)
        table.optimize(id = "op-9")
        assert(table.fs.visibleRows == rows)
      }
    }
  }
}
