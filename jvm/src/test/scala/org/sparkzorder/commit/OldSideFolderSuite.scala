package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest

/**
 * Somebody puts an older copy of the table's side folder back: the one of any moment of an operation that has long ended.
 * Newer files of the side folder stay beside it, or are gone.
 */
@TestRest
class OldSideFolderSuite extends AnyFunSuite with Explores {
  private val side = "/t/_zorder"

  private def later: Seq[(String, SmallTable => Unit)] = Seq(
    "nothing" -> (_ => ()),
    "OPTIMIZE" -> (t => t.optimize(new MemoryOps(t.fs), "op-2")),
    "RESTORE" -> (t => t.restore(new MemoryOps(t.fs), 0, "op-2")),
    "OPTIMIZE and VACUUM" -> { t =>
      t.optimize(new MemoryOps(t.fs), "op-2")
      t.vacuum(new MemoryOps(t.fs), "op-3")
    }
  )

  for {
    statement <- Seq(Statement.optimize, Statement.restore)
    dirs <- Seq(Seq(""), Seq("p=1", "p=2"))
    (name, follow) <- later
    isMerged <- Seq(true, false)
  } {
    val where = dirs.mkString("'", "', '", "'")
    test(s"${statement.name} in $where, then $name, newer files stay: $isMerged") {
      for (k <- 1 to statement.calls(dirs)) {
        val table = new SmallTable(dirs, statement.filesEach)
        table.fs.copyOf(statement.prepared(dirs))
        var old = Map.empty[String, Node]
        val keep: PartialFunction[Int, Unit] = { case `k` =>
          old = table.fs.below(side).map(p => p -> table.fs.nodes(p)).toMap
        }
        statement.run(table, new MemoryOps(table.fs, other = keep))
        follow(table)
        val rows = table.fs.visibleRows
        if (!isMerged) table.fs.below(side).foreach(table.fs.nodes.remove)
        old.foreach { case (path, node) => table.fs.nodes(path) = node }
        withClue(s"of before call $k: ")(explore {
          val end = table.recover(new MemoryOps(table.fs))
          assert(end.forall(e => SmallTable.tornFolder(e).isDefined && !isMerged))
          // Without the newer history nothing tells that the operation has ended.
          if (!isMerged) assert(rows.toSet.subsetOf(table.rowsAnywhere))
          else {
            assert(table.fs.visibleRows == rows)
            table.optimize(new MemoryOps(table.fs), "op-9")
            assert(table.fs.visibleRows == rows)
          }
        })
      }
    }
  }
}
