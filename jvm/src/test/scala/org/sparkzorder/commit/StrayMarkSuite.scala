package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

/**
 * A folder is copied with all that is hidden in it while its owner lives and exchanges files. Nothing settles the copy,
 * so it keeps the rows of that moment and a marker.
 */
class StrayMarkSuite extends AnyFunSuite with Explorer {

  private def marks(table: SmallTable): Seq[String] =
    table.fs.children("/t/p=3/_zorder").filter(_.contains("/_exchange-"))

  /** Tables with a copy of p=1, after the operation has ended. */
  private def copied(statement: Statement, keepsTimes: Boolean)(check: SmallTable => Any): Unit =
    meeting(new Scene(statement, Scene.Two))(_.fs.copy("/t/p=1", "/t/p=3", keepsTimes)) { (table, end) =>
      assert(end.isEmpty)
      check(table)
    }

  private def sides(table: SmallTable): (Seq[String], Seq[String]) =
    table.files.filter(_.startsWith("p=3/")).partition(_.contains("part-"))

  private val operations =
    Seq(Statement.optimize -> true, Statement.optimize -> false, Statement.restore -> true)

  for ((statement, keepsTimes) <- operations)
    test(s"a copy during ${statement.name} is taken if it has one side and none of the other, times: $keepsTimes") {
      var (taken, refused) = (0, 0)
      copied(statement, keepsTimes) { table =>
        val (before, hasMark) = (table.fs.visibleRows, marks(table).nonEmpty)
        val (old, come) = sides(table)
        val isClear = old.size == 3 && come.isEmpty || old.isEmpty && come.size == 2
        val end = table.attempt("op-2")(table.optimize(id = "op-2", only = Seq("p=2", "p=3")))
        if (statement == Statement.optimize) assert(end.isEmpty == isClear)
        end match {
          case None =>
            if (hasMark) taken += 1
            assert(marks(table).isEmpty)
          case Some(e: StrayMarkException) =>
            refused += 1
            assert(hasMark && e.marks.map(_.toUri.getPath) == marks(table))
            // Other folders are free.
            table.optimize(id = "op-3", only = Seq("p=2"))
          case Some(e) => throw e
        }
        assert(table.fs.visibleRows == before)
      }
      val least = if (statement == Statement.optimize) 3 else 1
      assert(taken >= least && refused >= least)
    }

  test("a marker is known as long as the history knows its files") {
    var checked = 0
    copied(Statement.optimize, keepsTimes = true) { table =>
      if (marks(table).nonEmpty && sides(table)._2.isEmpty) {
        checked += 1
        table.fs.children("/t/_zorder").filter(_.endsWith(".json")).foreach(table.fs.nodes.remove)
        val end = table.attempt("op-2")(table.optimize(id = "op-2", only = Seq("p=3")))
        assert(end.exists(_.isInstanceOf[StrayMarkException]), end)
        // A person has looked at the files.
        marks(table).foreach(table.fs.nodes.remove)
        table.optimize(id = "op-3", only = Seq("p=3"))
      }
    }
    assert(checked > 0)
  }

  test("a folder is settled to its end beside a copy of it, while another folder is renamed") {
    var checked = 0
    failing(new Scene(Statement.optimize, Scene.Two), Seq(Fault.DieBefore)) { (table, _) =>
      if (table.isPublishing) {
        table.fs.copy("/t/p=1", "/t/p=3", keepsTimes = true)
        table.fs.move("/t/p=2", "/t/p=5")
        if (table.recover().isEmpty) {
          checked += 1
          assert(table.fs.below("/t").filter(_.contains("/_exchange-")).isEmpty)
          val before = table.fs.visibleRows
          table.optimize(id = "op-2", only = Seq("p=1", "p=3", "p=5"))
          assert(table.fs.visibleRows == before)
        }
      }
    }
    assert(checked > 2)
  }
}
