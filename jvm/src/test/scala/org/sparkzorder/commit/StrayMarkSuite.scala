package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

/**
 * A folder is copied with all that is hidden in it while its owner lives and exchanges files. Nothing settles the copy,
 * so it keeps the rows of that moment and a marker.
 */
class StrayMarkSuite extends AnyFunSuite {
  private val dirs = Seq("p=1", "p=2")

  private def copy(fs: MemoryFs, keepsTimes: Boolean): Unit =
    ("/t/p=1" +: fs.below("/t/p=1")).foreach { path =>
      fs.tick()
      fs.nodes("/t/p=3" + path.stripPrefix("/t/p=1")) = fs.nodes(path) match {
        case f: File if !keepsTimes => f.copy(time = fs.clock)
        case node                   => node
      }
    }

  private def marks(table: SmallTable): Seq[String] =
    table.fs.children("/t/p=3/_zorder").filter(_.contains("/_exchange-"))

  /** Tables with a copy of p=1, after the operation has ended. */
  private def copied(statement: Statement, keepsTimes: Boolean)(check: SmallTable => Unit): Unit =
    for (k <- 1 to statement.calls(dirs)) {
      val table = new SmallTable(dirs, statement.filesEach)
      table.fs.copyOf(statement.prepared(dirs))
      val ops = new MemoryOps(table.fs, other = { case `k` => copy(table.fs, keepsTimes) })
      assert(table.attempt("op-1")(statement.run(table, ops)).isEmpty)
      withClue(s"copied before call $k ${ops.trace(k - 1)}: ")(check(table))
    }

  private def sides(table: SmallTable): (Seq[String], Seq[String]) =
    table.files.filter(_.startsWith("p=3/")).partition(_.contains("part-"))

  for (keepsTimes <- Seq(true, false))
    test(s"OPTIMIZE takes a copy that has all files of one side and none of the other, times kept: $keepsTimes") {
      var (taken, refused) = (0, 0)
      copied(Statement.optimize, keepsTimes) { table =>
        val (before, hasMark) = (table.fs.visibleRows, marks(table).nonEmpty)
        val (old, come) = sides(table)
        val isClear = old.size == 3 && come.isEmpty || old.isEmpty && come.size == 2
        table.attempt("op-2")(table.optimize(new MemoryOps(table.fs), "op-2", Seq("p=2", "p=3"))) match {
          case None =>
            if (hasMark) taken += 1
            assert(isClear && marks(table).isEmpty)
          case Some(e: StrayMarkException) =>
            refused += 1
            assert(!isClear && hasMark)
            assert(e.marks.map(_.toUri.getPath) == marks(table))
            // Other folders are free.
            table.optimize(new MemoryOps(table.fs), "op-3", Seq("p=2"))
          case Some(e) => throw e
        }
        assert(table.fs.visibleRows == before)
      }
      assert(taken > 2 && refused > 2)
    }

  test("a marker is known as long as the history knows its files") {
    var checked = 0
    copied(Statement.optimize, keepsTimes = true) { table =>
      if (marks(table).nonEmpty && sides(table)._2.isEmpty) {
        checked += 1
        table.fs.children("/t/_zorder").filter(_.endsWith(".json")).foreach(table.fs.nodes.remove)
        val end = table.attempt("op-2")(table.optimize(new MemoryOps(table.fs), "op-2", Seq("p=3")))
        assert(end.exists(_.isInstanceOf[StrayMarkException]), end)
        // A person has looked at the files.
        marks(table).foreach(table.fs.nodes.remove)
        table.optimize(new MemoryOps(table.fs), "op-3", Seq("p=3"))
      }
    }
    assert(checked > 0)
  }

  test("a folder is settled to its end beside a copy of it, while another folder is renamed") {
    def rename(fs: MemoryFs, from: String, to: String): Unit = (from +: fs.below(from)).foreach { path =>
      fs.nodes.remove(path).foreach(fs.nodes(to + path.stripPrefix(from)) = _)
    }
    var checked = 0
    for (k <- 1 to Statement.optimize.calls(dirs)) {
      val table = new SmallTable(dirs, Statement.optimize.filesEach)
      table.fs.copyOf(Statement.optimize.prepared(dirs))
      table.attempt("op-1")(Statement.optimize.run(table, new MemoryOps(table.fs, at = k)))
      if (table.isPublishing) {
        copy(table.fs, keepsTimes = true)
        rename(table.fs, "/t/p=2", "/t/p=5")
        if (table.recover(new MemoryOps(table.fs)).isEmpty) withClue(s"died before call $k: ") {
          checked += 1
          assert(table.fs.below("/t").filter(_.contains("/_exchange-")).isEmpty)
          val before = table.fs.visibleRows
          assert(table.attempt("op-2")(table.optimize(
            new MemoryOps(table.fs),
            "op-2",
            Seq("p=1", "p=3", "p=5")
          )).isEmpty)
          assert(table.fs.visibleRows == before)
        }
      }
    }
    assert(checked > 2)
  }

  test("RESTORE does the same") {
    var (taken, refused) = (0, 0)
    copied(Statement.restore, keepsTimes = true) { table =>
      val (before, hasMark) = (table.fs.visibleRows, marks(table).nonEmpty)
      table.attempt("op-2")(table.optimize(new MemoryOps(table.fs), "op-2", Seq("p=3"))) match {
        case None    => if (hasMark) taken += 1
        case Some(e) =>
          refused += 1
          assert(e.isInstanceOf[StrayMarkException] && hasMark)
      }
      assert(table.fs.visibleRows == before)
    }
    assert(taken > 0 && refused > 0)
  }
}
