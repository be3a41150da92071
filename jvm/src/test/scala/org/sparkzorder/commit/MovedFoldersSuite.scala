package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

/**
 * Somebody moves, renames, copies or removes folders of a table, at any call of an operation or
 * after its death. In the end each row is there once, also in the copy.
 */
class MovedFoldersSuite extends AnyFunSuite with Explores {
  private val dirs = Seq("p=1", "p=2")
  private val statements = Seq(Statement.optimize, Statement.restore)

  private def move(fs: MemoryFs, from: String, to: String): Unit =
    (from +: fs.below(from)).filter(fs.nodes.contains).foreach { path =>
      val node = fs.nodes.remove(path).get
      fs.nodes(to + path.stripPrefix(from)) = node
    }

  private def copy(fs: MemoryFs, from: String, to: String, keepsTimes: Boolean): Unit =
    (from +: fs.below(from)).foreach { path =>
      fs.tick()
      fs.nodes(to + path.stripPrefix(from)) = fs.nodes(path) match {
        case f: File if !keepsTimes => f.copy(time = fs.clock)
        case node                   => node
      }
    }

  private def removeEmpty(fs: MemoryFs): Unit = {
    val empty = fs.below("/t").filter(p => fs.nodes.get(p).contains(Dir) && fs.below(p).isEmpty)
    if (empty.nonEmpty) {
      empty.foreach(fs.nodes.remove)
      removeEmpty(fs)
    }
  }

  private def rowsIn(table: SmallTable, dir: String): Seq[Int] =
    table.fs.rows(table.fs.visible.filter(_.startsWith(s"/t/$dir/")))

  private def settle(table: SmallTable): Unit = {
    val end = table.recover(new MemoryOps(table.fs))
    assert(end.isEmpty)
    table.nextStatement()
  }

  for (statement <- statements) {
    lazy val first = statement.prepared(dirs)
    lazy val calls = {
      val table = new SmallTable(dirs)
      table.fs.copyOf(first)
      val ops = new MemoryOps(table.fs)
      statement.run(table, ops)
      ops.calls
    }

    /** Tables whose statement died, one for each call. */
    def dead(state: SmallTable => Unit): Unit =
      for (k <- 1 to calls; fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        table.attempt("op-1")(statement.run(table, new MemoryOps(table.fs, k, fault)))
        withClue(s"$fault at $k: ")(explore(state(table)))
      }

    test(s"${statement.name}: a folder is moved after death at any call") {
      dead { table =>
        move(table.fs, "/t/p=1", "/t/p=9")
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
        assert(rowsIn(table, "p=9") == table.allRows.filter(_ < 30))
      }
    }

    for (keepsTimes <- Seq(true, false))
      test(s"${statement.name}: a folder is copied after death at any call, times kept: $keepsTimes") {
        dead { table =>
          copy(table.fs, "/t/p=1", "/t/p=3", keepsTimes)
          settle(table)
          assert(rowsIn(table, "p=3") == rowsIn(table, "p=1"))
          assert(table.fs.visibleRows == (table.allRows ++ table.allRows.filter(_ < 30)).sorted)
        }
      }

    test(s"${statement.name}: a folder is replaced by a copy of itself without times after death at any call") {
      dead { table =>
        copy(table.fs, "/t/p=1", "/x", keepsTimes = false)
        (("/t/p=1") +: table.fs.below("/t/p=1")).foreach(table.fs.nodes.remove)
        move(table.fs, "/x", "/t/p=1")
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
      }
    }

    test(s"${statement.name}: empty folders are removed after death at any call") {
      dead { table =>
        removeEmpty(table.fs)
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
        if (statement.keepsTrash) {
          table.restore(new MemoryOps(table.fs), 0, "op-9")
          assert(table.fs.visibleRows == table.allRows)
        }
      }
    }

    test(s"${statement.name}: a folder is away while others recover after death at any call") {
      dead { table =>
        move(table.fs, "/t/p=1", "/aside")
        val end = table.recover(new MemoryOps(table.fs))
        assert(end.forall(_.isInstanceOf[RecoveryUnclearException]))
        move(table.fs, "/aside", "/t/p=1")
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
      }
    }

    test(s"${statement.name}: a folder that is gone for good after death at any call") {
      dead { table =>
        val rows = table.allRows.filter(_ >= 30)
        (("/t/p=1") +: table.fs.below("/t/p=1")).foreach(table.fs.nodes.remove)
        if (table.recover(new MemoryOps(table.fs)).nonEmpty)
          assert(table.recover(new MemoryOps(table.fs), Choice.KeepVisible).isEmpty)
        settle(table)
        assert(table.fs.visibleRows == rows)
        table.optimize(new MemoryOps(table.fs), "op-7", Seq("p=2"))
        assert(table.fs.visibleRows == rows)
      }
    }

    test(s"${statement.name}: a folder is moved at any call of a living owner") {
      for (k <- 1 to calls) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        val ops = new MemoryOps(table.fs, other = { case c if c == k => move(table.fs, "/t/p=1", "/t/p=9") })
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"before call $k, ended with $end: ")(explore {
          settle(table)
          assert(table.fs.visibleRows == table.allRows)
        })
      }
    }
  }
}
